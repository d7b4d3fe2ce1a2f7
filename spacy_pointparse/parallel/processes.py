"""Parse streams of texts. Each text yields a Doc or an error, in order."""

import os
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import parent_process
from multiprocessing.process import BaseProcess
from threading import Thread

from spacy.language import Language
from spacy.tokens import Doc
from spacy.tokens.underscore import Underscore
from spacy.util import minibatch, raise_error


def parse_texts(
    nlp: Language, texts: Iterable[str | Doc], n_process: int = 1
) -> Iterator[Doc | Exception]:
    """Parse a stream of texts in batches of `nlp.batch_size`. A stream of several
    processes that is closed early waits for the batches they are working on.

    nlp (Language): The pipeline.
    texts (Iterable[Union[str, Doc]]): The texts, or Docs whose tokens to keep. With one
        process, the same Docs are yielded, otherwise copies.
    n_process (int): Number of processes; -1 for one per core. A text that fails in
        another process is parsed again in this one.
    YIELDS (Union[Doc, Exception]): For each text, its Doc, or the error that a
        component raised.
    RAISES (ValueError): If the number of processes is invalid.
    RAISES (ChildProcessError): If a process dies.
    RAISES (MemoryError): If parsing runs out of memory.
    RAISES (Exception): If reading the texts fails, after those before are parsed.
    """
    if n_process < 1 and n_process != -1:
        raise ValueError(f"n_process must be at least 1 or equal -1, not {n_process}.")
    failures: list[Exception] = []
    readable = _read_until_failure(texts, failures)
    if n_process == 1:
        for batch in minibatch(readable, nlp.batch_size):
            yield from _parse_batch(nlp, batch)
    else:
        n_process = os.cpu_count() or 1 if n_process == -1 else n_process
        try:
            yield from _parse_in_processes(nlp, readable, n_process)
        except BrokenProcessPool:
            raise ChildProcessError(
                "A worker process died. If it printed no error, it may have run out of "
                "memory: use fewer processes or smaller batches."
            ) from None
    if failures:
        raise failures[0]


def _read_until_failure(
    texts: Iterable[str | Doc], failures: list[Exception]
) -> Iterator[str | Doc]:
    """Stop if reading fails, so that the texts read before are parsed first."""
    try:
        yield from texts
    except MemoryError:
        raise
    except Exception as error:  # raised again by `parse_texts`
        failures.append(error)


def _parse_batch(nlp: Language, texts: list[str | Doc]) -> list[Doc | Exception]:
    """Parse a batch of texts. If it fails, parse each half of it."""
    try:
        with _raise_errors(nlp):
            docs: list[Doc | Exception] = list(nlp.pipe(texts))
        if len(docs) == len(texts):
            return docs
        raise ValueError(
            "A component of the pipeline dropped this text without an error."
        )
    except MemoryError:
        raise
    except Exception as error:  # components may raise anything
        if len(texts) == 1:
            return [error]
    half = len(texts) // 2
    return _parse_batch(nlp, texts[:half]) + _parse_batch(nlp, texts[half:])


def _parse_in_processes(
    nlp: Language, texts: Iterable[str | Doc], n_process: int
) -> Iterator[Doc | Exception]:
    # As of spaCy 3.8.18, `nlp.pipe(n_process=...)` can keep Python from exiting if the
    # stream is closed early or a process dies.
    waiting: deque[tuple[list[str | Doc], Future[list[bytes | None]]]] = deque()
    pool = ProcessPoolExecutor(
        n_process, initializer=_prepare, initargs=(nlp, Underscore.get_state())
    )
    try:
        for batch in minibatch(texts, nlp.batch_size):
            future = pool.submit(_parse_packed, [_pack(text) for text in batch])
            waiting.append((batch, future))
            if len(waiting) == 2 * n_process:
                yield from _take(nlp, *waiting.popleft())
        while waiting:
            yield from _take(nlp, *waiting.popleft())
    finally:
        pool.shutdown(cancel_futures=True)


def _take(
    nlp: Language, batch: list[str | Doc], future: Future[list[bytes | None]]
) -> Iterator[Doc | Exception]:
    for text, packed in zip(batch, future.result()):
        doc = _unpack(nlp, packed)
        if isinstance(doc, Doc):
            yield doc
        else:
            yield from _parse_batch(nlp, [text])


def _pack(item: str | Doc) -> str | bytes | None:
    """Pack a text or Doc to send it to another process; None if it cannot be sent."""
    return str(item) if isinstance(item, str) else _pack_doc(item)


def _pack_doc(parsed: Doc | Exception) -> bytes | None:
    try:
        return parsed.to_bytes() if isinstance(parsed, Doc) else None
    except (OverflowError, TypeError, ValueError):  # user data msgpack cannot write
        return None


def _unpack(nlp: Language, packed: str | bytes | None) -> str | Doc | None:
    """Unpack a text or Doc; None if it cannot be read back."""
    if not isinstance(packed, bytes):
        return packed
    try:
        return Doc(nlp.vocab).from_bytes(packed)
    except (TypeError, ValueError):  # user data msgpack writes but cannot read
        return None


_nlp: Language


def _prepare(nlp: Language, attributes: tuple[dict, dict, dict]) -> None:
    """Prepare a worker process for its batches."""
    global _nlp
    _nlp = nlp
    Underscore.load_state(attributes)
    Thread(target=_end_with, args=[parent_process()], daemon=True).start()


def _end_with(parent: BaseProcess) -> None:
    """Exit this process when the one that started it is killed."""
    parent.join()
    os._exit(1)


def _parse_packed(batch: list[str | bytes | None]) -> list[bytes | None]:
    """Parse a batch in a worker process.

    batch (List[Optional[Union[str, bytes]]]): The packed texts.
    RETURNS (List[Optional[bytes]]): The packed Docs; None for each text that failed or
        could not be sent in either direction.
    """
    with _nlp.memory_zone():  # otherwise the vocabulary grows with every new word
        texts = [_unpack(_nlp, packed) for packed in batch]
        parsed = iter(_parse_batch(_nlp, [text for text in texts if text is not None]))
        return [None if text is None else _pack_doc(next(parsed)) for text in texts]


@contextmanager
def _raise_errors(nlp: Language) -> Iterator[None]:
    # As of spaCy 3.8.18, `nlp.set_error_handler` fails on spaCy's own parser and ner.
    own = nlp.default_error_handler
    nlp.default_error_handler = raise_error
    try:
        yield
    finally:
        nlp.default_error_handler = own
