"""The splits of a treebank: train, dev and test."""

import random
from collections import defaultdict
from collections.abc import Iterator
from itertools import chain, cycle
from pathlib import Path
from typing import Any

from nltk import Tree

from ..trees.reader import SUFFIXES, find_files, read_trees

# Where each of ten consecutive sentences of a file goes.
SPLIT_OF_TEN = (*["train"] * 8, "dev", "test")


def read_split(path: Path, split: str, options: dict[str, Any]) -> Iterator[Tree]:
    """Read one split of a treebank.

    path (Path): The treebank: a folder, a file or a glob.
    split (str): The split, or an empty string for all trees. In a folder it is the file
        SPLIT.mrg, or the documents that SPLIT.txt lists. Of a file or glob, every tenth
        sentence is "test", the one before it "dev", and the others are "train".
    options (Dict[str, Any]): Options of `read_trees`.
    RETURNS (Iterator[Tree]): The trees.
    RAISES (FileNotFoundError): If documents of the split are missing.
    RAISES (ValueError): If there is no such split, or if a listed name is ambiguous.
    """
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
    """Find the file or the listed documents of a split."""
    listed = folder / f"{split}.txt"
    if not listed.is_file():
        return [folder / f"{split}.mrg"]
    text = listed.read_text(encoding="utf-8-sig", errors="surrogateescape")
    names = [line.strip() for line in text.splitlines() if line.strip()]
    found = _group_by_name(find_files(folder))
    missing = [name for name in names if name not in found]
    if missing:
        raise FileNotFoundError(
            f"Missing in {folder}: {len(missing)} of the documents listed in {listed}, "
            f"such as {missing[0]!r}. Fetch the whole treebank, and list names without "
            "suffixes, one a line."
        )
    for name in names:
        if len(found[name]) > 1:
            first, second = found[name][:2]
            raise ValueError(
                f"{listed} lists {name!r}, which may be {first} or {second}: remove or "
                "rename one of them."
            )
    return [found[name][0] for name in names]


def _group_by_name(files: list[Path]) -> dict[str, list[Path]]:
    """Group the files of documents by their names. "ch.1.mrg" is found as "ch.1" and,
    unless there is a document of that name, as "ch"."""
    found: dict[str, list[Path]] = {}
    for get_name in (_get_first_part, _get_name):
        paths = defaultdict(list)
        for path in files:
            paths[get_name(path)].append(path)
        found.update(paths)
    return found


def _get_first_part(path: Path) -> str:
    return path.name.split(".")[0]


def _get_name(path: Path) -> str:
    """Get the name of a document: all before the suffix of a treebank file."""
    name, *rest = path.name.split(".")
    for part in rest:
        if f".{part}" in SUFFIXES:
            break
        name += f".{part}"
    return name


def sample_trees(trees: list[Tree], limit: int) -> list[Tree]:
    """Draw trees at random, always the same ones, and keep their order.

    trees (List[Tree]): The trees.
    limit (int): Number of trees to draw.
    RETURNS (List[Tree]): The trees drawn, or all if there are no more.
    """
    if limit >= len(trees):
        return trees
    chosen = random.Random(0).sample(range(len(trees)), limit)
    return [trees[i] for i in sorted(chosen)]
