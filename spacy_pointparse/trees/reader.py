"""Read bracketed treebanks: files, lines, trees."""

import glob
import gzip
import lzma
import re
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from nltk.tree import Tree

from .chunks import MAX_SIZE, Line, split_chunks
from .cleaning import SEPARATORS, clean_tree
from .structure import flatten_tree

SUFFIXES = frozenset([".mrg", ".ptb", ".psd", ".parse", ".penn", ".gld", ".brackets"])
# What a run writes before it is done, or leaves if it is stopped.
_UNFINISHED = frozenset([".partial", ".unfinished"])
MAX_MESSAGE = 200  # characters: some messages quote the file
_TOKEN = re.compile(r"[()]|[^() \t\r\n\f\v]+")  # a no-break space is part of a word
_JUNK = re.compile("[\0\udc80-\udcff]")  # bytes that are no UTF-8, as they are read
_INDEXED_LEAF = re.compile(r"(0|[1-9][0-9]{0,8})=.")
_COMPRESSED: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open}
_DAMAGE = (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error)


class TreebankError(ValueError):
    """A fault in a treebank; the message names the file and the line."""


def read_trees(
    path: str | Path,
    *,
    on_error: Literal["raise", "skip"] = "raise",
    separators: str = SEPARATORS,
    keep_functions: bool = False,
    bare_empties: bool = False,
) -> Iterator[Tree]:
    """Read the clean trees of a bracketed treebank, each under one TOP root.

    path (str | Path): A file (also `.gz`, `.xz`), a folder, or a glob. Of a
        folder, every file below it with a treebank's suffix, or every file at all
        where none has one.
    on_error (Literal["raise", "skip"]): What to do with a faulty tree. Skipping ends
        in one warning that says how many there were.
    separators (str): See `clean_tree`, as for the two options below.
    keep_functions (bool): Whether to keep function tags.
    bare_empties (bool): Whether empties are leaves without a tag of their own.
    RETURNS (Iterator[Tree]): The trees, in the order of the files' names.
    RAISES (FileNotFoundError): If there is no such file, or none that matches.
    RAISES (TreebankError): At the first fault, if `on_error` is "raise".
    """
    clean = partial(
        clean_tree,
        separators=separators,
        keep_functions=keep_functions,
        bare_empties=bare_empties,
    )
    files = find_files(path)
    items = (_parse_lines(read_lines(file), str(file)) for file in files)
    trees = _sift(chain.from_iterable(items), str(path), on_error)
    cleaned = (clean(tree) for tree in trees)
    return (tree for tree in cleaned if tree is not None)


def parse_trees(
    lines: Iterable[str],
    source: str = "<string>",
    *,
    on_error: Literal["raise", "skip"] = "raise",
) -> Iterator[Tree]:
    """Read trees from lines of text as they stand, uncleaned.

    lines (Iterable[str]): The lines, of which a tree may take one or several.
    source (str): What to call them in messages.
    on_error (Literal["raise", "skip"]): What to do with a faulty tree.
    RETURNS (Iterator[Tree]): The trees. A node without a label has the label "".
    RAISES (TreebankError): At the first fault, if `on_error` is "raise".
    """
    if isinstance(lines, str):
        lines = lines.split("\n")
    return _sift(_parse_lines(lines, source), source, on_error)


def _sift(
    items: Iterable[Tree | TreebankError], source: str, on_error: str
) -> Iterator[Tree]:
    faults = 0
    first = ""
    for item in items:
        if isinstance(item, Tree):
            yield item
        elif on_error != "skip":
            raise item
        else:
            faults += 1
            first = first or str(item)
        del item  # a fault holds, by its traceback, all that was read
    if faults:
        message = f"{source}: skipped {faults} faulty tree(s). The first: {first}"
        warnings.warn(message, stacklevel=2)


def find_files(path: str | Path) -> list[Path]:
    """Find the files of a treebank.

    path (str | Path): A file, a folder or a glob, as for `read_trees`.
    RETURNS (list[Path]): The files, in the order of their names.
    RAISES (FileNotFoundError): If there are none.
    """
    if Path(path).exists():
        places = [Path(path)]
    else:
        places = [Path(match) for match in sorted(glob.glob(str(path), recursive=True))]
    files = [file for place in places for file in _list_files(place)]
    if not files:
        raise FileNotFoundError(
            f"No treebank at {path}: give a file, a folder with files in it, or a "
            "glob that matches some."
        )
    return files


def _list_files(place: Path) -> list[Path]:
    if not place.is_dir():
        return [place]
    found = sorted(place.rglob("*"))
    files = [
        file
        for file in found
        if file.is_file()
        and file.name[0] != "."
        and not _UNFINISHED.intersection(file.suffixes)
    ]
    return [file for file in files if SUFFIXES.intersection(file.suffixes)] or files


def read_lines(path: str | Path) -> Iterator[str]:
    """Read the lines of a file of bracketed trees, which may be compressed.

    path (str | Path): The file.
    RETURNS (Iterator[str]): The lines. Bytes that are no UTF-8 are kept as Python's
        "surrogateescape" does, and what a line has beyond `MAX_SIZE` is left out.
    RAISES (TreebankError): If the compressed file is damaged.
    """
    path = Path(path)
    open_file = _COMPRESSED.get(path.suffix, open)
    number = 1
    try:
        with open_file(path, "rt", encoding="utf-8", errors="surrogateescape") as file:
            while line := file.readline(MAX_SIZE + 1):
                yield line
                number += 1
                while len(line) > MAX_SIZE and line[-1] != "\n":  # leave the rest out
                    line = file.readline(MAX_SIZE + 1)
    except _DAMAGE as error:
        problem = f"the compressed file is cut off or damaged here ({error})"
        raise _make_fault(str(path), number, number, problem) from error


def _parse_lines(lines: Iterable[str], source: str) -> Iterator[Tree | TreebankError]:
    """Yield trees and, where there is none to be had, the fault as a value."""
    try:
        for chunk in split_chunks(lines):
            try:
                yield from _parse_chunk(chunk, source)
            except TreebankError as fault:
                yield fault
    except TreebankError as fault:  # in the lines themselves
        yield fault


def _parse_chunk(lines: list[Line], source: str) -> list[Tree]:
    trees: list[Tree] = []
    open_nodes: list[Tree] = []
    start = lines[0][0]
    for number, text in lines:
        try:
            _parse_line(text, open_nodes, trees)
        except ValueError as error:
            raise _make_fault(source, start, number, str(error)) from None
    if open_nodes:
        problem = f"the tree ends with {len(open_nodes)} bracket(s) still open"
        raise _make_fault(source, start, lines[-1][0], problem)
    if any(_is_discontinuous(tree) for tree in trees):
        problem = "the tree is discontinuous (its leaves are numbered, as in 0=word)"
        raise _make_fault(source, start, start, problem)
    return trees


def _parse_line(text: str, open_nodes: list[Tree], trees: list[Tree]) -> None:
    if len(text) > MAX_SIZE:
        raise ValueError(f"the line has more than {MAX_SIZE} characters: break it")
    if junk := _JUNK.search(text):
        byte = ord(junk[0]) & 0xFF
        raise ValueError(f"the byte 0x{byte:02x} is not UTF-8 text: convert the file")
    for token in _TOKEN.findall(text):
        if token == "(":
            open_nodes.append(Tree("", []))
        elif not open_nodes:
            raise ValueError(f"'{token}' is outside of all brackets")
        elif token == ")":
            node = open_nodes.pop()
            _check_node(node)
            (open_nodes[-1] if open_nodes else trees).append(node)
        elif open_nodes[-1] or open_nodes[-1].label():
            open_nodes[-1].append(token)
        else:
            open_nodes[-1].set_label(token)


def _check_node(node: Tree) -> None:
    label = node.label()
    words = [child for child in node if not isinstance(child, Tree)]
    if not node:
        raise ValueError(f"({label}) has neither a word nor a node in it")
    if words and len(words) < len(node):
        raise ValueError(f"({label} ...) has a word, '{words[0]}', beside other nodes")
    if len(words) > 1:
        raise ValueError(f"({label} {' '.join(words)}) has more than one word")


def _is_discontinuous(tree: Tree) -> bool:
    """Whether the leaves are a permutation of 0=... to n=..., as in discbracket."""
    matches = [_INDEXED_LEAF.match(word) for word in flatten_tree(tree)[0]]
    indices = sorted(int(match[1]) for match in matches if match)
    return indices == list(range(len(matches)))


def _make_fault(source: str, start: int, line: int, problem: str) -> TreebankError:
    where = "" if line == start else f" (seen at line {line})"
    what = problem if len(problem) <= MAX_MESSAGE else f"{problem[:MAX_MESSAGE]}..."
    return TreebankError(
        f"{source}, line {start}: {what}{where}. Correct the file, or "
        "convert it without such trees: --on-error skip "
        '(a reader takes on_error="skip").'
    )
