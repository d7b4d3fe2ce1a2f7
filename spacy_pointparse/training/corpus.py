"""The corpus reader: Docs with gold trees, for training and evaluation."""

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Literal

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from ..tokens.make_docs import copy_tokens
from ..tokens.sentences import get_sentences
from ..tokens.treebank import read_docs


def create_corpus(
    path: str | Path,
    sentences_per_doc: int = 1,
    gold_tokens: bool = True,
    gold_sentences: bool = True,
    gold_tags: bool = False,
    tags: str | Path | None = None,
    limit: int = 0,
    on_error: Literal["raise", "skip"] = "raise",
) -> Callable[[Language], Iterator[Example]]:
    """Create a reader of gold trees for training and evaluation.

    path (Union[str, Path]): A .spacy file or a folder of them; or a file, a folder or a
        glob of bracketed trees.
    sentences_per_doc (int): Number of trees in each Doc, or of Docs of a .spacy file to
        join.
    gold_tokens (bool): Give the predicted Doc the gold tokens. Otherwise the pipeline
        tokenizes the raw text.
    gold_sentences (bool): Give the predicted Doc the gold sentence starts, if it has
        the gold tokens.
    gold_tags (bool): Give the predicted Doc the gold tags. Ignored if `tags` is set.
    tags (Optional[Union[str, Path]]): A file of tags to give to the predicted Doc, such
        as jackknifed ones. Each line has the tags of a tree, separated by blanks.
    limit (int): Maximum number of Docs to read, 0 for all.
    on_error (str): "raise" an error on a broken tree, or "skip" broken trees and warn
        about their number.
    RETURNS (Callable[[Language], Iterator[Example]]): The reader.
    RAISES (ValueError): If `sentences_per_doc` or `limit` is too small, or if `tags` or
        `gold_tags` conflict with other settings. When reading, if the file of tags does
        not match the trees.
    """
    check_counts(sentences_per_doc, limit)
    if (gold_tags or tags) and not gold_tokens:
        raise ValueError("Tags need gold_tokens = true: they belong to gold tokens.")
    if tags and on_error == "skip":
        raise ValueError(
            'A file of tags needs on_error = "raise": a skipped tree shifts the tags.'
        )
    attributes = []
    if gold_tags and not tags:
        attributes.append("TAG")
    if gold_sentences:
        attributes.append("SENT_START")

    def read_examples(nlp: Language) -> Iterator[Example]:
        docs = read_docs(path, nlp.vocab, sentences_per_doc, on_error)
        lines = _read_tags(tags) if tags else None
        for reference in islice(docs, limit or None):
            if gold_tokens:
                predicted = copy_tokens(reference, attributes)
            else:
                predicted = nlp.make_doc(reference.text)
            if lines is not None:
                _set_tags(predicted, reference, lines)
            yield Example(predicted, reference)
        if lines is not None and not limit:
            _check_all_read(lines)

    return read_examples


def check_counts(sentences_per_doc: int, limit: int) -> None:
    """Check settings that are counts.

    sentences_per_doc (int): Number of sentences in each Doc, 1 or more.
    limit (int): Maximum number to read, 0 for all.
    RAISES (ValueError): If one of them is too small.
    """
    for name, value, least in (
        ("sentences_per_doc", sentences_per_doc, 1),
        ("limit", limit, 0),
    ):
        if value < least:
            raise ValueError(f"{name} must be {least} or more, but is {value}.")


def _read_tags(path: str | Path) -> Iterator[tuple[str, list[str]]]:
    """Read the tags of each line. Yields the file and line, for messages, and the
    tags."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 text: convert it ({error}).") from error
    for number, line in enumerate(text.splitlines(), start=1):
        yield f"{path}:{number}", line.split()


def _set_tags(
    predicted: Doc, reference: Doc, lines: Iterator[tuple[str, list[str]]]
) -> None:
    """Set tags from the next lines of a file of tags, one for each sentence."""
    for sentence in get_sentences(reference):
        place, tags = next(lines, ("end of the file of tags", []))
        if len(tags) != len(sentence):
            raise ValueError(
                f"{place}: {len(tags)} tags for a sentence of {len(sentence)} words: "
                f"{sentence.text[:80]!r}. The file needs a line of tags for each tree."
            )
        for token, tag in zip(predicted[sentence.start : sentence.end], tags):
            token.tag_ = tag


def _check_all_read(lines: Iterator[tuple[str, list[str]]]) -> None:
    for place, tags in lines:
        if tags:
            raise ValueError(f"{place}: there are more lines of tags than trees.")
