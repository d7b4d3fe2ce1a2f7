"""Treebanks as Docs: .spacy files and files of trees."""

import warnings
from collections.abc import Iterator
from itertools import groupby, islice
from pathlib import Path
from typing import Literal

from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..trees.reader import SUFFIXES, find_files, read_trees
from .constituents import SPANS_KEY
from .docbin import SUFFIX, unpack_docs
from .make_docs import join_docs, make_doc


def list_files(path: str | Path) -> list[Path]:
    """List the .spacy files at a path or, if there are none, the files of trees. Warn
    if there are both.

    path (Union[str, Path]): A file, a folder, or a glob of bracketed trees.
    RETURNS (List[Path]): The files.
    RAISES (FileNotFoundError): If there are none.
    """
    docs = [file for file in Path(path).rglob(f"*{SUFFIX}") if file.name[0] != "."]
    if not docs:
        return find_files(path)
    trees = [f for f in find_files(path) if SUFFIXES.intersection(f.suffixes)]
    if trees:
        warnings.warn(
            f"{path} has both {SUFFIX} files and files of trees. The {SUFFIX} files "
            f"are read; {len(trees)} other files are not, such as {trees[0]}.",
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

    path (Union[str, Path]): A .spacy file or a folder of them; or a file, a folder or a
        glob of bracketed trees.
    vocab (Vocab): The vocabulary of the Docs.
    sentences_per_doc (int): Number of trees in each Doc, or of Docs of a .spacy file to
        join.
    on_error (str): "raise" an error on a broken tree, or "skip" broken trees.
    YIELDS (Doc): The Docs.
    RAISES (FileNotFoundError): If there is no such file.
    RAISES (TreebankError): On a broken tree. Names the file and the line.
    RAISES (ValueError): If a .spacy file is damaged. Names the file.
    """
    files = list_files(path)
    if files[0].suffix != SUFFIX:
        trees = read_trees(path, on_error=on_error)
        while batch := list(islice(trees, sentences_per_doc)):
            yield make_doc(batch, vocab)
        return
    for file in files:
        # Docs with and without a parse are not joined: the latter would look as if they
        # had an empty parse.
        for _, docs in groupby(unpack_docs(file, vocab), _has_parse):
            while joined := list(islice(docs, sentences_per_doc)):
                yield joined[0] if len(joined) == 1 else join_docs(joined)


def _has_parse(doc: Doc) -> bool:
    return SPANS_KEY in doc.spans
