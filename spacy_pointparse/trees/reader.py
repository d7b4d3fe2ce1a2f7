"""Read bracketed treebanks."""

import glob
import gzip
import lzma
import re
import warnings
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from nltk.tree import Tree

from .cleaning import SEPARATORS, clean_tree
from .line_chunks import MAX_SIZE, Line, split_chunks
from .structure import flatten_tree

SUFFIXES = frozenset([".mrg", ".ptb", ".psd", ".parse", ".penn", ".gld", ".brackets"])
# Suffixes of unfinished output, see `util`.
_UNFINISHED = frozenset([".partial", ".unfinished"])
MAX_MESSAGE = 200  # characters, as some messages quote the file
_TOKEN = re.compile(r"[()]|[^() \t\r\n\f\v]+")  # no-break spaces are part of words
_JUNK = re.compile("[\0\udc80-\udcff]")  # nulls, and undecodable bytes as surrogates
_INDEXED_LEAF = re.compile(r"(0|[1-9][0-9]{0,8})=.")
_COMPRESSED: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open}
_DAMAGE = (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error)


class TreebankError(ValueError):
    """Raised for a faulty tree. The message names the file and line."""


def read_trees(
    path: str | Path,
    *,
    on_error: Literal["raise", "skip"] = "raise",
    separators: str = SEPARATORS,
    keep_functions: bool = False,
    bare_empties: bool = False,
    drop: Collection[str] = (),
    lemmas: bool = False,
) -> Iterator[Tree]:
    """Read a bracketed treebank and clean its trees.

    path (Union[str, Path]): A file (may end in `.gz` or `.xz`), a folder or a glob. In
        a folder and its subfolders, only files with the suffix of a treebank are read,
        or all files if none has one.
    on_error (Literal["raise", "skip"]): What to do with a faulty tree. If trees are
        skipped, a single warning says how many.
    separators (str): See `clean_tree`.
    keep_functions (bool): See `clean_tree`.
    bare_empties (bool): See `clean_tree`.
    drop (Collection[str]): See `clean_tree`.
    lemmas (bool): See `clean_tree`.
    RETURNS (Iterator[Tree]): The trees, each with a single TOP root, in order of file
        names.
    RAISES (FileNotFoundError): If there is no such file, or no file matches.
    RAISES (TreebankError): At the first faulty tree, if `on_error` is "raise".
    """
    clean = partial(
        clean_tree,
        separators=separators,
        keep_functions=keep_functions,
        bare_empties=bare_empties,
        drop=frozenset(drop),
        lemmas=lemmas,
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
    """Read trees from lines of text, without cleaning them.

    lines (Iterable[str]): The lines. A tree may span several.
    source (str): The name to use in messages.
    on_error (Literal["raise", "skip"]): What to do with a faulty tree.
    RETURNS (Iterator[Tree]): The trees. A node without a label has the label "".
    RAISES (TreebankError): At the first faulty tree, if `on_error` is "raise".
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
        del item  # the traceback of an error keeps all that was read in memory
    if faults:
        message = f"{source}: skipped {faults} faulty tree(s). First error: {first}"
        warnings.warn(message, stacklevel=2)


def find_files(path: str | Path) -> list[Path]:
    """Find the files of a treebank.

    path (Union[str, Path]): A file, a folder or a glob, as in `read_trees`.
    RETURNS (List[Path]): The files, in order of their names.
    RAISES (FileNotFoundError): If there are none.
    """
    if Path(path).exists():
        places = [Path(path)]
    else:
        places = [Path(match) for match in sorted(glob.glob(str(path), recursive=True))]
    files = [file for place in places for file in _list_files(place)]
    if not files:
        raise FileNotFoundError(
            f"No treebank found at {path}. Provide a file, a folder that contains "
            "files or a glob that matches some."
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

    path (Union[str, Path]): The file.
    YIELDS (str): The lines, cut after `MAX_SIZE` characters. Undecodable bytes become
        surrogates (Python's "surrogateescape").
    RAISES (TreebankError): If a compressed file is truncated or damaged.
    """
    path = Path(path)
    open_file = _COMPRESSED.get(path.suffix, open)
    number = 1
    try:
        with open_file(path, "rt", encoding="utf-8", errors="surrogateescape") as file:
            while line := file.readline(MAX_SIZE + 1):
                yield line
                number += 1
                while len(line) > MAX_SIZE and line[-1] != "\n":  # skip the rest
                    line = file.readline(MAX_SIZE + 1)
    except _DAMAGE as error:
        problem = f"the compressed file is truncated or damaged here ({error})"
        raise _make_fault(str(path), number, number, problem) from error


def _parse_lines(lines: Iterable[str], source: str) -> Iterator[Tree | TreebankError]:
    """Yield each tree, or the error if it is faulty."""
    try:
        for chunk in split_chunks(lines):
            try:
                yield from parse_chunk(chunk, source)
            except TreebankError as fault:
                yield fault
    except TreebankError as fault:  # raised by `read_lines`
        yield fault


def parse_chunk(lines: list[Line], source: str) -> list[Tree]:
    """Read the trees of a chunk of lines.

    lines (List[Line]): The numbered lines.
    source (str): The name to use in messages.
    RETURNS (List[Tree]): The trees.
    RAISES (TreebankError): If a tree is faulty.
    """
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
        problem = "the tree is discontinuous (it has numbered leaves such as 0=word)"
        raise _make_fault(source, start, start, problem)
    return trees


def _parse_line(text: str, open_nodes: list[Tree], trees: list[Tree]) -> None:
    if len(text) > MAX_SIZE:
        raise ValueError(f"the line has more than {MAX_SIZE} characters: split it")
    if junk := _JUNK.search(text):
        byte = ord(junk[0]) & 0xFF
        raise ValueError(f"the byte 0x{byte:02x} is not UTF-8 text: convert the file")
    for token in _TOKEN.findall(text):
        if token == "(":
            open_nodes.append(Tree("", []))
        elif not open_nodes:
            raise ValueError(f"'{token}' is outside all brackets")
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
        raise ValueError(f"({label}) contains neither a word nor a node")
    if words and len(words) < len(node):
        raise ValueError(f"({label} ...) has both a word, '{words[0]}', and a node")
    if len(words) > 1:
        raise ValueError(f"({label} {' '.join(words)}) has more than one word")


def _is_discontinuous(tree: Tree) -> bool:
    """Check whether the leaves are numbered from 0=... to n=..., in any order."""
    matches = [_INDEXED_LEAF.match(word) for word in flatten_tree(tree)[0]]
    indices = sorted(int(match[1]) for match in matches if match)
    return indices == list(range(len(matches)))


def _make_fault(source: str, start: int, line: int, problem: str) -> TreebankError:
    where = "" if line == start else f" (seen at line {line})"
    what = problem if len(problem) <= MAX_MESSAGE else f"{problem[:MAX_MESSAGE]}..."
    return TreebankError(
        f"{source}, line {start}: {what}{where}. Fix the file, or skip faulty trees "
        'with --on-error skip (in Python or a config, on_error="skip").'
    )
