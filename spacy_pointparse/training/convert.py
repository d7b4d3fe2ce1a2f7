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
from ..tokens.docs import make_doc
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

# Docs after which a run that is stopped goes on.
BATCH = 1000
_NOT_FOUND = (
    "Nothing is labelled {}, which was to be renamed or taken off. Names of labels are "
    "those without functions, unless these are kept."
)


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
    """Convert bracketed trees to a .spacy file, which is written whole or not at all.

    paths (Iterable[Path]): Files, folders or globs of bracketed trees.
    output (Path): The .spacy file.
    split (str): The part to take, all if empty. In a folder it is the file SPLIT.mrg,
        or the documents that SPLIT.txt lists, one name without suffix a line. Of a file
        or a glob, every tenth sentence is "test", the one before it "dev", and the
        others are "train".
    limit (int): Number of sentences, drawn at random with a fixed seed; 0 for all.
    relabel (Optional[Mapping[str, str]]): New name of each label that gets one.
    unwrap (Iterable[str]): Labels that are taken off where they stand over a whole
        sentence.
    sentences_per_doc (int): Sentences of each Doc.
    partial (bool): Whether there may be constituents that the trees do not show.
    resume (bool): Whether to go on with what a stopped run has left, if it has.
    options (Any): Further options of `read_trees`.
    RETURNS (int): The number of sentences.
    RAISES (FileNotFoundError): If a file is missing, one of a split among them.
    RAISES (TreebankError): On a broken tree, with its file and line.
    RAISES (ValueError): If sentences_per_doc is not positive, limit is negative, the
        output is no .spacy file, two files have the name of one document of a split, or
        a stopped run has left something that is not to be gone on with, or is of other
        trees or settings.
    """
    check_counts(sentences_per_doc, limit)
    if output.suffix != SUFFIX:
        raise ValueError(
            f"What is written is a {SUFFIX} file: name it so, not {output}."
        )
    parts = [read_split(path, split, options) for path in paths]
    trees = chain.from_iterable(parts)
    settings = {"sentences_per_doc": sentences_per_doc, "partial": partial}
    progress = load_progress(output, settings, resume)
    if limit:
        trees = iter(sample_trees(list(trees), limit))
    renames, unwrapped, found = dict(relabel or {}), set(unwrap), set()
    harmonised = (harmonize(tree, renames, unwrapped, found) for tree in trees)
    skip_texts(map(tree_to_string, harmonised), progress, output)
    batches = minibatch(_make_docs(harmonised, output, progress), BATCH)
    try:
        write_partial(output, map(pack_docs, batches), progress, 1)
        collect_docs(output)
    except OtherRunError:
        raise
    except Exception as error:
        # A full disk can be made room on, a broken tree is to be corrected first.
        if not isinstance(error, OSError) or not progress.size:
            remove_partial(output)
        raise
    remove_partial(output)
    if missing := sorted({*renames, *unwrapped} - found):
        warnings.warn(_NOT_FOUND.format(", ".join(missing)), stacklevel=2)
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
