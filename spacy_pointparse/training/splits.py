"""The parts of a treebank: train, dev and test."""

import random
from collections import defaultdict
from collections.abc import Iterator
from itertools import chain, cycle
from pathlib import Path
from typing import Any

from nltk import Tree

from ..trees.reader import SUFFIXES, find_files, read_trees

# Which split each ten sentences of a file go to, one by one.
SPLIT_OF_TEN = (*["train"] * 8, "dev", "test")
_NOT_THERE = (
    "{} documents that {} lists, a name without suffix a line, are not in {}, {!r} "
    "among them: fetch the treebank first."
)


def read_split(path: Path, split: str, options: dict[str, Any]) -> Iterator[Tree]:
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


def sample_trees(trees: list[Tree], limit: int) -> list[Tree]:
    """Draw trees, kept in their order."""
    if limit >= len(trees):
        return trees
    chosen = random.Random(0).sample(range(len(trees)), limit)
    return [trees[i] for i in sorted(chosen)]
