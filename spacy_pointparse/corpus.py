"""Trees as Docs, and the corpus reader for training and evaluation."""

import warnings
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby, islice
from pathlib import Path
from typing import Literal

from nltk import Tree
from nltk.tokenize.treebank import TreebankWordDetokenizer
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.vocab import Vocab

from .constituents import KEY, PARTIAL, set_constituents
from .sentences import get_sentences
from .trees import (
    ROOT,
    SUFFIXES,
    find_files,
    flatten_tree,
    read_trees,
    unescape_word,
)

SUFFIX = ".spacy"


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
                predicted = _copy_gold(reference, attributes)
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
        for _, docs in groupby(unpack_docs(file, vocab), lambda doc: KEY in doc.spans):
            while joined := list(islice(docs, sentences_per_doc)):
                yield joined[0] if len(joined) == 1 else _join(joined)


def unpack_docs(path: Path, vocab: Vocab, **options: bool) -> Iterator[Doc]:
    """Read the Docs of a .spacy file.

    path (Path): The file.
    vocab (Vocab): The vocabulary of the Docs.
    options (bool): Options of spaCy's `DocBin`.
    YIELDS (Doc): The Docs.
    RAISES (ValueError): If the file is damaged, or of another kind.
    """
    try:
        yield from DocBin(**options).from_disk(path).get_docs(vocab)
    except OSError:
        raise
    except Exception as error:  # whatever spaCy comes upon in it
        raise ValueError(
            f"{path} is damaged, or no .spacy file: convert or copy it again ({error})."
        ) from error


def _join(docs: list[Doc]) -> Doc:
    """Join Docs. If one is partial, so is the whole."""
    joined = Doc.from_docs(docs)
    if any(doc.spans[KEY].attrs.get(PARTIAL) for doc in docs if KEY in doc.spans):
        joined.spans[KEY].attrs[PARTIAL] = True
    return joined


def make_doc(trees: Iterable[Tree], vocab: Vocab, partial: bool = False) -> Doc:
    """Make a Doc of the trees of its sentences. Words are un-escaped, and set apart as
    in running text.

    trees (Iterable[Tree]): Clean trees, as from `read_trees`.
    vocab (Vocab): The vocabulary of the Doc.
    partial (bool): Whether there may be constituents that the trees do not show.
    RETURNS (Doc): The Doc, with tags, sentence starts and constituents.
    """
    words: list[str] = []
    spaces: list[bool] = []
    tags: list[str] = []
    starts: list[bool] = []
    brackets = []
    for tree in trees:
        leaves, sent_tags, constituents = flatten_tree(tree)
        sent_words = [unescape_word(leaf) for leaf in leaves]
        start = len(words)
        brackets += [
            (s + start, e + start, label)
            for s, e, label in constituents
            # The root of a partial tree only holds it together.
            if not (partial and label == ROOT and e - s == len(leaves))
        ]
        words += sent_words
        spaces += _get_spaces(sent_words)
        tags += sent_tags
        starts += [True, *[False] * (len(leaves) - 1)]
    doc = Doc(vocab, words=words, spaces=spaces, tags=tags, sent_starts=starts)
    set_constituents(doc, brackets)
    if partial:
        doc.spans[KEY].attrs[PARTIAL] = True
    return doc


def _get_spaces(words: list[str]) -> list[bool]:
    """Say after which words of a sentence there is a space in running text."""
    text = TreebankWordDetokenizer().detokenize(words)
    spaces = []
    position = 0
    for word in words:
        if not text.startswith(word, position):
            return [True] * len(words)
        position += len(word)
        spaces.append(text.startswith(" ", position))
        position += spaces[-1]
    return [*spaces[:-1], True]


def _copy_gold(reference: Doc, attributes: list[str]) -> Doc:
    """Copy the tokens of a Doc and the given attributes, and nothing else."""
    words = [token.text for token in reference]
    spaces = [bool(token.whitespace_) for token in reference]
    doc = Doc(reference.vocab, words=words, spaces=spaces)
    if attributes and len(doc):
        doc.from_array(attributes, reference.to_array(attributes))
    return doc


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
