"""The treebank converter: bracketed trees to a .spacy file."""

import warnings
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from nltk import Tree
from spacy.tokens import Doc
from spacy.util import minibatch
from spacy.vocab import Vocab
from tqdm import tqdm

from ..tokens.docbin import SUFFIX, collect_docs, pack_docs
from ..tokens.make_docs import make_doc
from ..trees.cleaning import harmonize
from ..trees.structure import tree_to_string
from ..util.resume import (
    OtherRunError,
    Progress,
    load_progress,
    remove_partial,
    skip_texts,
    write_partial,
)
from .corpus import check_counts
from .splits import read_split, sample_trees

# Number of Docs after which a run can be resumed.
BATCH = 1000


def convert_treebank(
    paths: Iterable[Path],
    output: Path,
    *,
    split: str = "",
    limit: int = 0,
    relabel: Mapping[str, str] | None = None,
    unwrap: Iterable[str] = (),
    sentences_per_doc: int = 1,
    partial: bool = False,
    resume: bool = False,
    **options: Any,
) -> int:
    """Convert bracketed trees to a .spacy file. After an error there is no file.

    paths (Iterable[Path]): Files, folders or globs of bracketed trees.
    output (Path): The .spacy file.
    split (str): The split to convert, or an empty string for all trees. In a folder it
        is the file SPLIT.mrg, or the documents that SPLIT.txt lists, one name without
        suffix a line. Of a file or glob, every tenth sentence is "test", the one before
        it "dev", and the others are "train".
    limit (int): Number of sentences to draw at random, always the same ones; 0 for all.
    relabel (Optional[Mapping[str, str]]): Labels to rename, and their new names.
    unwrap (Iterable[str]): Labels to remove where they span a whole sentence.
    sentences_per_doc (int): Number of sentences in each Doc.
    partial (bool): Whether sentences may have constituents that the trees do not show.
    resume (bool): Resume an interrupted run, if there is one.
    options (Any): Other options of `read_trees`.
    RETURNS (int): The number of sentences.
    RAISES (FileNotFoundError): If a file is missing, or a document of a split.
    RAISES (TreebankError): On a broken tree. Names the file and the line.
    RAISES (ValueError): If a number is too small; if the output is not a .spacy file;
        if a listed name is ambiguous; or if an interrupted run is found that should not
        or cannot be resumed.
    """
    check_counts(sentences_per_doc, limit)
    if output.suffix != SUFFIX:
        raise ValueError(f"The output must be a {SUFFIX} file, not {output}.")
    parts = [read_split(path, split, options) for path in paths]
    trees = chain.from_iterable(parts)
    settings = {"sentences_per_doc": sentences_per_doc, "partial": partial}
    progress = load_progress(output, settings, resume)
    if limit:
        trees = iter(sample_trees(list(trees), limit))
    renames, unwrapped = dict(relabel or {}), set(unwrap)
    found: set[str] = set()
    harmonized = (harmonize(tree, renames, unwrapped, found) for tree in trees)
    skip_texts(map(tree_to_string, harmonized), progress, output)
    _write_docs(_make_docs(harmonized, output, progress), output, progress)
    if missing := sorted({*renames, *unwrapped} - found):
        warnings.warn(
            "These labels, to be renamed or removed, occur nowhere: "
            f"{', '.join(missing)}. Name labels without their functions, unless "
            "functions are kept.",
            stacklevel=2,
        )
    return progress.texts


def _make_docs(
    trees: Iterable[Tree], output: Path, progress: Progress
) -> Iterator[Doc]:
    vocab = Vocab()
    shown = tqdm(trees, output.name, unit=" sentences", initial=progress.texts)
    for batch in minibatch(shown, progress.settings["sentences_per_doc"]):
        for tree in batch:
            progress.count(tree_to_string(tree))
        yield make_doc(batch, vocab, progress.settings["partial"])


def _write_docs(docs: Iterator[Doc], output: Path, progress: Progress) -> None:
    """Write Docs to the output. After a full disk or an interrupt, what is written
    stays, to be resumed; after a fault in the trees it is removed."""
    try:
        write_partial(output, map(pack_docs, minibatch(docs, BATCH)), progress, 1)
        collect_docs(output)
    except OtherRunError:
        raise
    except (OSError, ValueError) as error:
        if isinstance(error, ValueError) or not progress.size:
            remove_partial(output)
        raise
    remove_partial(output)
