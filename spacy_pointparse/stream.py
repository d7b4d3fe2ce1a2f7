"""Texts to parsed Docs, one for one: none is lost, whatever fails."""

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import minibatch, raise_error

from .constituents import get_constituents, get_doc_string, get_span_probability


def parse_texts(
    nlp: Language, texts: Iterable[str | Doc], n_process: int = 1
) -> Iterator[Doc | Exception]:
    """Parse a stream of texts in batches of `nlp.batch_size`. While that goes on, the
    default error handler of the pipeline is replaced.

    nlp (Language): The pipeline.
    texts (Iterable[Union[str, Doc]]): The texts, or Docs, whose tokens are kept.
    n_process (int): Number of processes, -1 for one a core. What fails in another is
        parsed again in this one.
    YIELDS (Union[Doc, Exception]): For each text, in order, its Doc, or what made a
        component fail on it.
    RAISES (ChildProcessError): If a process dies.
    RAISES (Exception): What comes of reading the texts.
    """
    failures: list[Exception] = []
    readable = _read_until_failure(texts, failures)
    if n_process == 1:
        for batch in minibatch(readable, nlp.batch_size):
            yield from _parse_batch(nlp, batch)
    else:
        try:
            yield from _parse_in_processes(nlp, readable, n_process)
        except EOFError:
            raise ChildProcessError(
                "A process that parsed died, as when memory is short: take fewer "
                "processes or smaller batches."
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
        with _handle_errors(nlp, raise_error):
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
    waiting: deque[str | Doc] = deque()

    def make_docs() -> Iterator[tuple[Doc, int]]:
        for i, text in enumerate(texts):
            waiting.append(text)
            try:
                yield _make_sendable(nlp, text), i
            except Exception:
                continue

    done = 0
    docs = nlp.pipe(make_docs(), as_tuples=True, n_process=n_process)
    # Of a batch that fails in a worker spaCy keeps nothing, its error least of all.
    with _handle_errors(nlp, _ignore), _end_together():
        for doc, i in docs:
            missing = [waiting.popleft() for _ in range(i - done)]
            yield from _parse_batch(nlp, missing) if missing else ()
            waiting.popleft()
            done = i + 1
            yield doc
    yield from _parse_batch(nlp, list(waiting)) if waiting else ()


def _make_sendable(nlp: Language, text: str | Doc) -> Doc:
    """Make a Doc of a text; fail on one that another process cannot be sent."""
    if not isinstance(text, Doc):
        return nlp.make_doc(text)
    text.to_bytes()
    return text


@contextmanager
def _handle_errors(nlp: Language, handler: Callable[..., None]) -> Iterator[None]:
    # `nlp.set_error_handler` fails on spaCy's own parser and ner, as of 3.8.18.
    own = nlp.default_error_handler
    nlp.default_error_handler = handler
    try:
        yield
    finally:
        nlp.default_error_handler = own


@contextmanager
def _end_together() -> Iterator[None]:
    """End all processes that are started meanwhile as soon as one of them has died, or
    nobody wants the rest. Those that are forked hold the pipes of each other open, so
    that spaCy would wait for them for ever."""
    others = set(multiprocessing.active_children())
    done = Event()

    def end() -> None:
        for worker in set(multiprocessing.active_children()) - others:
            worker.terminate()

    def watch() -> None:
        workers: set[multiprocessing.process.BaseProcess] = set()
        while not done.wait(0.1):
            workers |= set(multiprocessing.active_children()) - others
            if any(worker.exitcode for worker in workers):
                end()

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    except BaseException:
        end()
        raise
    finally:
        done.set()
        watcher.join()


def _ignore(*_: Any) -> None:
    pass


def describe(parsed: Doc | Exception) -> dict[str, Any]:
    """Describe what came of a text by plain values.

    parsed (Union[Doc, Exception]): The Doc, or what failed.
    RETURNS (Dict[str, Any]): "parse_string", the trees of the text, one a line, and
        "constituents", for each bracket, in pre-order, its character offsets, label and
        probability; or "error", what went wrong.
    """
    if isinstance(parsed, Exception):
        return {"error": f"{type(parsed).__name__}: {parsed}"}
    constituents = [
        {
            "start_char": span.start_char,
            "end_char": span.end_char,
            "label": span.label_,
            "probability": get_span_probability(span),
        }
        for span in get_constituents(parsed)
    ]
    return {"parse_string": get_doc_string(parsed), "constituents": constituents}
