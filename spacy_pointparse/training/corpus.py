"""Read Docs with gold trees, and the corpus reader for training and evaluation."""

import warnings
from collections.abc import Callable, Iterator
from itertools import groupby, islice
from pathlib import Path
from typing import Literal

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from ..tokens.constituents import SPANS_KEY
from ..tokens.docbin import SUFFIX, unpack_docs
from ..tokens.docs import copy_tokens, join_docs, make_doc
from ..tokens.sentences import get_sentences
from ..trees.reader import SUFFIXES, find_files, read_trees


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
    """Make a reader of trees for training and evaluation.

    path (Union[str, Path]): A .spacy file or a folder of them, or bracketed trees: a
        file, a folder or a glob.
    sentences_per_doc (int): Trees of each Doc, or Docs of a .spacy file put together.
    gold_tokens (bool): Give the gold tokens to the predicted Doc. Otherwise the
        pipeline's own tokenizer cuts the raw text.
    gold_sentences (bool): Give the gold sentence starts to the predicted Doc. Without
        gold tokens there are none to give.
    gold_tags (bool): Give the gold tags to the predicted Doc, unless others are named.
    tags (Optional[Union[str, Path]]): A file of other tags to give to the predicted
        Doc, such as jackknifed ones: for each tree a line of tags, blanks between.
    limit (int): Number of Docs to read at most, 0 for all.
    on_error (str): "raise" on a broken tree, or "skip" it and warn how many there were.
    RETURNS (Callable[[Language], Iterator[Example]]): The reader.
    RAISES (ValueError): If sentences_per_doc is not positive or limit is negative, if
        tags are asked for without gold tokens, or from a file while broken trees are
        skipped; when read, if the file of tags does not fit the trees, with its line.
    """
    check_counts(sentences_per_doc, limit)
    if (gold_tags or tags) and not gold_tokens:
        raise ValueError("Tags need gold_tokens: they belong to them.")
    if tags and on_error == "skip":
        raise ValueError(
            'A file of tags needs on_error = "raise": to skip shifts them.'
        )
    attributes = ["TAG"] * (gold_tags and not tags) + ["SENT_START"] * gold_sentences

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
    """Check how much is to be read.

    sentences_per_doc (int): Trees of each Doc.
    limit (int): Number to read at most, 0 for all.
    RAISES (ValueError): If they are too small.
    """
    for name, value, least in (
        ("sentences_per_doc", sentences_per_doc, 1),
        ("limit", limit, 0),
    ):
        if value < least:
            raise ValueError(f"{name} must be {least} or more, but is {value}.")


def list_files(path: str | Path) -> list[Path]:
    """List the .spacy files at a path or, where there are none, those of trees.

    path (Union[str, Path]): A file, a folder, or a glob of bracketed trees.
    RETURNS (List[Path]): The files. A warning says if others are passed over.
    RAISES (FileNotFoundError): If there are none.
    """
    docs = [file for file in Path(path).rglob(f"*{SUFFIX}") if file.name[0] != "."]
    if not docs:
        return find_files(path)
    trees = [f for f in find_files(path) if SUFFIXES.intersection(f.suffixes)]
    if trees:
        warnings.warn(
            f"{path} has {SUFFIX} files and others: those are read, and "
            f"{len(trees)} of trees are not, {trees[0]} among them.",
            stacklevel=2,
        )
    return sorted(docs)


def read_docs(
    path: str | Path,
    vocab: Vocab,
    sentences_per_doc: int = 1,
    on_error: Literal["raise", "skip"] = "raise",
) -> Iterator[Doc]:
    """Read Docs with gold trees.

    path (Union[str, Path]): A .spacy file or a folder of them, or bracketed trees: a
        file, a folder or a glob.
    vocab (Vocab): The vocabulary of the Docs.
    sentences_per_doc (int): Trees of each Doc, or Docs of a .spacy file put together.
    on_error (str): "raise" on a broken tree, or "skip" it.
    YIELDS (Doc): The Docs.
    RAISES (FileNotFoundError): If there is no such file.
    RAISES (TreebankError): On a broken tree, with its file and line.
    RAISES (ValueError): If a .spacy file is damaged, with its name.
    """
    files = list_files(path)
    if files[0].suffix != SUFFIX:
        trees = read_trees(path, on_error=on_error)
        while batch := list(islice(trees, sentences_per_doc)):
            yield make_doc(batch, vocab)
        return
    for file in files:
        # Joined, those without a parse would seem to have an empty one.
        for _, docs in groupby(
            unpack_docs(file, vocab), lambda doc: SPANS_KEY in doc.spans
        ):
            while joined := list(islice(docs, sentences_per_doc)):
                yield joined[0] if len(joined) == 1 else join_docs(joined)


def _read_tags(path: str | Path) -> Iterator[tuple[str, list[str]]]:
    """Read a file of tags: its name and line, for messages, and the tags there."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 text: convert it ({error}).") from error
    for number, line in enumerate(text.splitlines(), start=1):
        yield f"{path}:{number}", line.split()


def _set_tags(
    predicted: Doc, reference: Doc, lines: Iterator[tuple[str, list[str]]]
) -> None:
    for sentence in get_sentences(reference):
        place, tags = next(lines, ("the end of the file of tags", []))
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
            raise ValueError(f"{place}: tags of more sentences than there are trees.")
