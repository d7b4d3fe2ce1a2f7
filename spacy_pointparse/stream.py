"""Texts to parsed Docs, one for one: none is lost, whatever fails."""

from collections.abc import Iterable, Iterator

from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import minibatch


def parse_texts(nlp: Language, texts: Iterable[str]) -> Iterator[Doc | Exception]:
    """Parse a stream of texts in batches of `nlp.batch_size`. While a batch is parsed,
    the error handlers of the pipeline are replaced.

    nlp (Language): The pipeline.
    texts (Iterable[str]): The texts.
    YIELDS (Union[Doc, Exception]): For each text, in order, its Doc, or what made a
        component fail on it.
    """
    for batch in minibatch(texts, nlp.batch_size):
        yield from _parse_batch(nlp, batch)


def _parse_batch(nlp: Language, texts: list[str]) -> list[Doc | Exception]:
    found: list[Doc | Exception] = [
        ValueError("A component of the pipeline dropped this text without an error.")
    ] * len(texts)
    docs = []
    for i, text in enumerate(texts):
        try:
            docs.append((nlp.make_doc(text), i))
        except Exception as error:
            found[i] = error

    def keep(_name: str, _pipe: object, failed: list[Doc], error: Exception) -> None:
        for doc in failed:
            found[doc._context] = error

    default = nlp.default_error_handler
    own = [
        (pipe, pipe.get_error_handler())
        for _, pipe in nlp.pipeline
        if hasattr(pipe, "get_error_handler")
    ]
    nlp.set_error_handler(keep)
    try:
        for doc, i in nlp.pipe(docs, as_tuples=True):
            found[i] = doc
    finally:
        nlp.set_error_handler(default)
        for pipe, handler in own:
            pipe.set_error_handler(handler)
    return found
