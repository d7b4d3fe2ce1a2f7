"""Texts to parsed Docs, one for one: none is lost, whatever fails."""

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
    """Parse a stream of texts in batches of `nlp.batch_size`. Left early, it ends when
    the batches do that other processes were given.

    nlp (Language): The pipeline.
    texts (Iterable[Union[str, Doc]]): The texts, or Docs, whose tokens are kept: what
        comes out are these, or from other processes copies.
    n_process (int): Number of processes, -1 for one a core. What fails in another is
        parsed again in this one.
    YIELDS (Union[Doc, Exception]): For each text, in order, its Doc, or what made a
        component fail on it.
    RAISES (ValueError): If there is no such number of processes.
    RAISES (ChildProcessError): If a process dies.
    RAISES (Exception): What comes of reading the texts.
    """
    if n_process < 1 and n_process != -1:
        raise ValueError(f"n_process must be at least 1, or -1, and not {n_process}.")
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
                "A process that parsed died. Where it did not say why, memory may be "
                "short: take fewer processes or smaller batches."
            ) from None
    if failures:
        raise failures[0]


def _read_until_failure(
    texts: Iterable[str | Doc], failures: list[Exception]
) -> Iterator[str | Doc]:
    """End where reading fails, so that what was read before is parsed first."""
    try:
        yield from texts
    except Exception as error:
        failures.append(error)


def _parse_batch(nlp: Language, texts: list[str | Doc]) -> list[Doc | Exception]:
    """Parse texts together, and those of a batch that fails in halves of it."""
    try:
        with _raise_errors(nlp):
            docs = list(nlp.pipe(texts))
        if len(docs) == len(texts):
            return docs
        raise ValueError(
            "A component of the pipeline dropped this text without an error."
        )
    except Exception as error:
        if len(texts) == 1:
            return [error]
    half = len(texts) // 2
    return _parse_batch(nlp, texts[:half]) + _parse_batch(nlp, texts[half:])


def _parse_in_processes(
    nlp: Language, texts: Iterable[str | Doc], n_process: int
) -> Iterator[Doc | Exception]:
    # As of spaCy 3.8.18, where its own stream of processes is left early or one of them
    # dies, Python can wait at its end for ever, for texts that nobody takes.
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
        yield from _parse_batch(nlp, [text]) if doc is None else [doc]


def _pack(item: str | Doc | Exception) -> str | bytes | None:
    """Make of a text or Doc what another process can be sent, None of what cannot."""
    if isinstance(item, str):
        return str(item)
    try:
        return item.to_bytes() if isinstance(item, Doc) else None
    except Exception:
        return None


def _unpack(nlp: Language, packed: str | bytes | None) -> str | Doc | None:
    """Make a text or Doc of what `_pack` made of it, if that can be done."""
    if not isinstance(packed, bytes):
        return packed
    try:
        return Doc(nlp.vocab).from_bytes(packed)
    except Exception:  # as of user data with keys that msgpack writes and does not read
        return None


_nlp: Language


def _prepare(nlp: Language, attributes: tuple[dict, dict, dict]) -> None:
    """Take, in another process, what all its batches need."""
    global _nlp
    _nlp = nlp
    Underscore.load_state(attributes)
    Thread(target=_end_with, args=[parent_process()], daemon=True).start()


def _end_with(parent: BaseProcess) -> None:
    """End this process when the one that started it was killed."""
    parent.join()
    os._exit(1)


def _parse_packed(batch: list[str | bytes | None]) -> list[bytes | None]:
    """Parse, in another process, what can be sent there and back."""
    with _nlp.memory_zone():  # else the vocabulary grows with every new word
        texts = [_unpack(_nlp, packed) for packed in batch]
        parsed = iter(_parse_batch(_nlp, [text for text in texts if text is not None]))
        return [text if text is None else _pack(next(parsed)) for text in texts]


@contextmanager
def _raise_errors(nlp: Language) -> Iterator[None]:
    # `nlp.set_error_handler` fails on spaCy's own parser and ner, as of 3.8.18.
    own = nlp.default_error_handler
    nlp.default_error_handler = raise_error
    try:
        yield
    finally:
        nlp.default_error_handler = own
