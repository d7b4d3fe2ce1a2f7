"""The treebank converter: bracketed trees to a .spacy file."""

import random
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, cycle
from pathlib import Path
from typing import Any

from nltk import Tree
from spacy.tokens import Doc
from spacy.util import minibatch
from spacy.vocab import Vocab
from tqdm import tqdm

from .corpus import SUFFIX, check_counts, make_doc
from .progress import (
    OtherRunError,
    Progress,
    collect_docs,
    load_progress,
    pack_docs,
    remove_partial,
    skip_texts,
    write_partial,
)
from .trees import ROOT, SUFFIXES, find_files, read_trees, tree_to_string

# Which split each ten sentences of a file go to, one by one.
SPLIT_OF_TEN = (*["train"] * 8, "dev", "test")
# Docs after which a run that is stopped goes on.
BATCH = 1000

_NOT_THERE = (
    "{} documents that {} lists, a name without suffix a line, are not in {}, {!r} "
    "among them: fetch the treebank first."
)
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
    parts = [_read_split(path, split, options) for path in paths]
    trees = chain.from_iterable(parts)
    settings = {"sentences_per_doc": sentences_per_doc, "partial": partial}
    progress = load_progress(output, settings, resume)
    if limit:
        trees = iter(_sample(list(trees), limit))
    renames, unwrapped, found = dict(relabel or {}), set(unwrap), set()
    harmonised = (_harmonise(tree, renames, unwrapped, found) for tree in trees)
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


def _read_split(path: Path, split: str, options: dict[str, Any]) -> Iterator[Tree]:
    """Read one part of a treebank."""
    if not split:
        return read_trees(path, **options)
    if path.is_dir():
        parts = [read_trees(file, **options) for file in _find_split(path, split)]
        return chain.from_iterable(parts)
    if split not in SPLIT_OF_TEN:
        raise ValueError(
            f"The split of a file must be train, dev or test, not {split!r}: {path}"
        )
    trees = zip(cycle(SPLIT_OF_TEN), read_trees(path, **options))
    return (tree for part, tree in trees if part == split)


def _find_split(folder: Path, split: str) -> list[Path]:
    """Find the files of a split: one file, or those of a list of documents."""
    listed = folder / f"{split}.txt"
    if not listed.is_file():
        return [folder / f"{split}.mrg"]
    files = find_files(folder)
    found: dict[str, list[Path]] = {}
    for get_name in (_get_first_part, _get_name):
        places = defaultdict(list)
        for path in files:
            places[get_name(path)].append(path)
        found.update(places)
    text = listed.read_text(encoding="utf-8-sig", errors="surrogateescape")
    names = [line.strip() for line in text.splitlines() if line.strip()]
    missing = [name for name in names if name not in found]
    if missing:
        raise FileNotFoundError(
            _NOT_THERE.format(len(missing), listed, folder, missing[0])
        )
    for name in names:
        if len(found[name]) > 1:
            first, second = found[name][:2]
            raise ValueError(
                f"{listed} lists {name!r}, which may be {first} or {second}: take one "
                "of them away, or rename it."
            )
    return [found[name][0] for name in names]


def _get_first_part(path: Path) -> str:
    return path.name.split(".")[0]


def _get_name(path: Path) -> str:
    """The name of a document: what stands before the suffix of a treebank."""
    name, *rest = path.name.split(".")
    for part in rest:
        if f".{part}" in SUFFIXES:
            break
        name += f".{part}"
    return name


def _sample(trees: list[Tree], limit: int) -> list[Tree]:
    """Draw trees, kept in their order."""
    if limit >= len(trees):
        return trees
    chosen = random.Random(0).sample(range(len(trees)), limit)
    return [trees[i] for i in sorted(chosen)]


def _harmonise(
    tree: Tree, relabel: Mapping[str, str], unwrap: set[str], found: set[str]
) -> Tree:
    """Rename labels and take them off, and note which are found."""
    while len(tree) == 1 and tree[0].label() in unwrap and isinstance(tree[0][0], Tree):
        found.add(tree[0].label())
        tree = Tree(ROOT, list(tree[0]))
    stack = [tree]
    while stack:
        node = stack.pop()
        children = [child for child in node if isinstance(child, Tree)]
        if children:
            found.add(node.label())
            node.set_label(relabel.get(node.label(), node.label()))
        stack += children
    return tree
