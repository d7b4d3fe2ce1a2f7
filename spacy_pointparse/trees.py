"""What a tree is: read bracketed treebanks, clean them, write them, and turn a tree
into words, tags and constituents and back.

Trees are `nltk.Tree`. Every walk here is iterative, so that depth is no limit; nltk's
own methods (`==`, `pformat`, `copy(deep=True)`, ...) recurse.
"""

import glob
import gzip
import lzma
import re
import warnings
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from nltk.tree import Tree

Constituent = tuple[int, int, str]  # (start, end, label): words start..end-1
Line = tuple[int, str]  # its number, its text

ROOT = "TOP"
ROOT_LABELS = frozenset(["", ROOT, "ROOT", "S1", "VROOT"])
SEPARATORS = "-=|"
EMPTY_TAG = "-NONE-"
# Where empties are bare leaves, a zero is one under these labels and a word elsewhere.
ZERO_LABELS = frozenset(["C", "P", "WADJP", "WADVP", "WNP", "WPP"])
SUFFIXES = frozenset([".mrg", ".ptb", ".psd", ".parse", ".penn", ".gld", ".brackets"])
# What a run writes before it is done, or leaves if it is stopped.
_UNFINISHED = frozenset([".partial", ".unfinished"])
# Lines of one tree at most: an unclosed bracket must not swallow a whole file. After
# many such trees it is the lower number.
MIN_LINES, MAX_LINES = 200, 5000
# Characters of a line and of a tree at most: reading takes up to 450 bytes for each.
MAX_SIZE = 1_000_000
MAX_MESSAGE = 200  # characters: some messages quote the file

# A null is no white space, but what a file of UTF-16 has between its letters.
_SPACES = {chr(i): f"\\u{i:04x}" for i in range(0x3001) if chr(i).isspace() or not i}
_ROUND = {"(": "-LRB-", ")": "-RRB-"}
_BRACKETS = {**_ROUND, "[": "-LSB-", "]": "-RSB-", "{": "-LCB-", "}": "-RCB-"}
_PRINTED = str.maketrans({**_ROUND, **_SPACES})
_ESCAPED = str.maketrans({**_BRACKETS, **_SPACES})
_PLAIN = {code: char for char, code in {**_BRACKETS, **_SPACES}.items()}
_PLAIN.update({"\\/": "/", "\\*": "*", "\\u005c": "\\", "\\u003d": "="})
_CODES = re.compile("|".join(re.escape(code) for code in _PLAIN))
_CODE_LIKE = re.compile(r"\\(?=u[0-9a-f]{4})")  # in a word that is to be escaped
_QUOTES = {"``": '"', "''": '"', "`": "'"}

_TOKEN = re.compile(r"[()]|[^() \t\r\n\f\v]+")  # a no-break space is part of a word
_OPENER = re.compile(r"^\s*\(\s*([^\s()]*)")
_WORD = re.compile(r"[^\s()]\s+[^\s()]|\)")  # a line with a word in it
_JUNK = re.compile("[\0\udc80-\udcff]")  # bytes that are no UTF-8, as they are read
_INDEXED_LEAF = re.compile(r"(0|[1-9][0-9]{0,8})=.")
_END: Line = (0, "")
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
        for chunk in _split_chunks(lines):
            try:
                yield from _parse_chunk(chunk, source)
            except TreebankError as fault:
                yield fault
    except TreebankError as fault:  # in the lines themselves
        yield fault


def _split_chunks(lines: Iterable[str]) -> Iterator[list[Line]]:
    """Split a file into runs of lines that hold whole trees, or one faulty tree."""
    texts = map(_strip, lines)
    stream = chain(((i, text) for i, text in enumerate(texts, start=1) if text), [_END])
    again: deque[Line] = deque()
    chunk = _Chunk(set(ROOT_LABELS), MAX_LINES)
    while True:
        line = again.popleft() if again else next(stream)
        if line is not _END and not chunk.ends_before(line[1]):
            chunk.add(line)
        elif chunk.lines:
            leftover = chunk.cut_leftover()
            again.extendleft([line, *reversed(leftover)])
            yield chunk.lines
            chunk = chunk.make_next(bool(leftover))
        else:
            return


class _Chunk:
    """Lines that hold whole trees, as far as brackets and indentation tell.

    openers (set[str]): The labels that trees of this file have begun with so far.
    max_lines (int): Lines after which a tree counts as unclosed.
    after_one_line (bool): Whether the chunk before took one line.
    """

    def __init__(
        self, openers: set[str], max_lines: int, after_one_line: bool = False
    ) -> None:
        self.openers = openers
        self.max_lines = max_lines
        self.after_one_line = after_one_line
        self.lines: list[Line] = []
        self.indent = 0
        self.depth = 0
        self.size = 0

    def add(self, line: Line) -> None:
        if not self.lines:
            self.indent = _get_indent(line[1])
            self.openers.update(_OPENER.findall(line[1]))
        self.lines.append(line)
        self.depth += line[1].count("(") - line[1].count(")")
        self.size += len(line[1])

    def ends_before(self, text: str) -> bool:
        """Whether a line begins the next tree. Brackets alone cannot tell, as some may
        be missing or surplus: the indent tells, and how the trees so far began."""
        if not self.lines:
            return False
        if len(self.lines) >= self.max_lines or self.size > MAX_SIZE:
            return True
        label = _get_opener(text)
        known = label in self.openers
        deeper = _get_indent(text) > self.indent
        if self.depth <= 0:
            return known or not deeper or label is None
        is_sure = label in ROOT_LABELS or not self.is_flush_left()
        return known and not deeper and is_sure

    def is_flush_left(self) -> bool:
        """Whether an open tree seems to be spread over lines of equal indent."""
        if _WORD.search(self.lines[0][1]):
            return False
        return len(self.lines) == 1 or _get_indent(self.lines[1][1]) <= self.indent

    def cut_leftover(self) -> list[Line]:
        """Take the lines off an unclosed tree that may hold the next ones."""
        first = len(self.lines)
        if self.depth > 0:
            first = next((i for i in range(1, first) if self.may_begin(i)), first)
        self.lines, leftover = self.lines[:first], self.lines[first:]
        return leftover

    def make_next(self, has_leftover: bool) -> "_Chunk":
        """Make the chunk after this one. Lines left over are read again, so that trees
        may be shorter after each unclosed one: else a file of these takes hours."""
        lines = len(self.lines)
        most = self.max_lines // 2 if has_leftover else self.max_lines + lines
        most = min(max(most, MIN_LINES), MAX_LINES)
        return _Chunk(self.openers, most, lines == 1)

    def may_begin(self, i: int) -> bool:
        """Whether, that being so, a line may begin the next tree."""
        label = _get_opener(self.lines[i][1])
        deeper = _get_indent(self.lines[i][1]) > self.indent
        if label is None or deeper:
            return False
        is_flush_left = self.is_flush_left() and not self.after_one_line
        return label in self.openers or not is_flush_left


def _strip(line: str) -> str:
    if len(line) > MAX_SIZE:  # read in part, and refused as it is too long
        return line
    return line.lstrip("\ufeff").rstrip()


def _get_opener(text: str) -> str | None:
    """The label that a line begins with, if it begins with a bracket."""
    match = _OPENER.match(text)
    return match[1] if match else None


def _get_indent(text: str) -> int:
    return len(text) - len(text.lstrip())


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


def clean_tree(
    tree: Tree,
    *,
    separators: str = SEPARATORS,
    keep_functions: bool = False,
    bare_empties: bool = False,
) -> Tree | None:
    """Make a clean copy of a tree: one TOP root, no empties, no words of white space,
    no emptied nodes, phrase labels without function tags and indices, and no node
    without a label. Words and tags stay as they are.

    tree (Tree): The tree as it was read.
    separators (str): The characters that part functions and indices from a label.
        A label that begins with one, such as `-LRB-`, is never cut.
    keep_functions (bool): Whether to cut indices only.
    bare_empties (bool): Whether empties are not tagged `-NONE-` but stand right under
        a label, as in `(NP-SBJ *con*)` and `(C 0)`. Elsewhere `*` and `0` are words.
    RETURNS (Tree | None): The clean tree, or None if no word is left.
    """
    cleaned: dict[int, list[Tree]] = {}  # what is left of a node, under its id
    for node in reversed(_list_nodes(tree)):
        label = _cut_label(node.label(), separators, keep_functions)
        if _is_preterminal(node):
            head = _cut_label(node.label(), separators, False)
            is_empty = _is_empty(head, node[0], bare_empties)
            cleaned[id(node)] = [] if is_empty else [Tree(node.label(), node)]
        else:
            kept = [piece for child in node for piece in cleaned[id(child)]]
            cleaned[id(node)] = [Tree(label, kept)] if kept and label else kept
    rest = cleaned[id(tree)]
    while len(rest) == 1 and _is_root(rest[0]):
        rest = list(rest[0])
    return Tree(ROOT, rest) if rest else None


def _is_root(node: Tree) -> bool:
    return node.label() in ROOT_LABELS and not _is_preterminal(node)


def _list_nodes(tree: Tree) -> list[Tree]:
    """All nodes in pre-order."""
    nodes: list[Tree] = []
    stack = [tree]
    while stack:
        node = stack.pop()
        nodes.append(node)
        stack.extend(child for child in reversed(node) if isinstance(child, Tree))
    return nodes


def _is_preterminal(node: Tree) -> bool:
    return len(node) == 1 and not isinstance(node[0], Tree)


def _is_empty(tag: str, word: str, bare_empties: bool) -> bool:
    is_bare = word.startswith("*") or (word == "0" and tag in ZERO_LABELS)
    is_space = unescape_word(word).isspace()  # on a Doc, that is part of no tree
    return tag == EMPTY_TAG or is_space or (bare_empties and is_bare)


@lru_cache(10_000)
def _cut_label(label: str, separators: str, keep_functions: bool) -> str:
    if not separators or label[:1] in separators:
        return label
    marks = f"[{re.escape(separators)}]"
    if keep_functions:
        return re.sub(rf"{marks}\d+(?={marks}|$)", "", label)
    return re.split(marks, label)[0]


def tree_to_string(tree: Tree) -> str:
    """Print a tree on one line. Round brackets, white space and nulls inside words and
    labels are escaped, as `-LRB-`, `-RRB-` and `\\u0020`.

    tree (Tree): The tree.
    RETURNS (str): The line, without a newline.
    """
    pieces: list[str] = []
    stack: list[Tree | str | None] = [tree]
    while stack:
        item = stack.pop()
        if item is None:
            pieces.append(")")
        elif isinstance(item, Tree):
            pieces.append(f" ({_escape(str(item.label()), _PRINTED)}")
            stack.append(None)
            stack.extend(reversed(item))
        else:
            pieces.append(f" {_escape(str(item), _PRINTED)}")
    return "".join(pieces)[1:]


def escape_word(word: str) -> str:
    """Write a word as a leaf: brackets as `-LRB-` and the like, anywhere in it, and
    white space and nulls as `\\u0020` and the like.

    word (str): The text of a token.
    RETURNS (str): The leaf.
    """
    return _escape(_CODE_LIKE.sub(r"\\u005c", word), _ESCAPED)


def _escape(text: str, codes: dict[int, str]) -> str:
    text = text.translate(codes)
    if text.startswith("0="):  # else it could pass for the first of numbered leaves
        text = f"0\\u003d{text[2:]}"
    # To nltk, a backslash before the closing bracket would make it part of the word.
    return f"{text[:-1]}\\u005c" if text.endswith("\\") else text


def unescape_word(word: str) -> str:
    """Read a leaf as a word: what `escape_word` does is undone, and so are the Penn
    Treebank's `\\/`, `\\*` and quotes.

    word (str): The leaf.
    RETURNS (str): The text of the token.
    """
    if word in _QUOTES:
        return _QUOTES[word]
    return _CODES.sub(_get_plain, word)


def _get_plain(match: re.Match[str]) -> str:
    return _PLAIN[match[0]]


def flatten_tree(tree: Tree) -> tuple[list[str], list[str], list[Constituent]]:
    """Take a tree apart. `build_tree` is the inverse.

    tree (Tree): The tree.
    RETURNS (tuple[list[str], list[str], list[Constituent]]): The words as they stand in
        the tree, their tags, and the constituents in pre-order. A pre-terminal is not a
        constituent, and a TOP root only if it has several children.
    """
    words: list[str] = []
    tags: list[str] = []
    constituents: list[Constituent] = []
    stack: list[Tree | int] = [tree]
    while stack:
        item = stack.pop()
        if isinstance(item, int):  # all words of this constituent have been seen
            start, _, label = constituents[item]
            constituents[item] = (start, len(words), label)
        elif _is_preterminal(item):
            words.append(item[0])
            tags.append(item.label())
        else:
            stack.append(len(constituents))
            constituents.append((len(words), len(words), item.label()))
            stack.extend(reversed(item))
    if tree.label() == ROOT and len(tree) == 1:
        constituents = constituents[1:]
    return words, tags, constituents


def build_tree(
    words: Sequence[str], tags: Sequence[str], constituents: Sequence[Constituent]
) -> Tree:
    """Build a tree under a TOP root. `flatten_tree` is the inverse.

    words (Sequence[str]): The words.
    tags (Sequence[str]): Their tags.
    constituents (Sequence[Constituent]): The constituents, nested and in pre-order. If
        the first is a TOP over all words, it is the root.
    RETURNS (Tree): The tree.
    RAISES (ValueError): If the constituents are not nested or not in pre-order.
    """
    whole = (0, len(words), ROOT)
    waiting = deque(constituents)
    if waiting and waiting[0] == whole:
        waiting.popleft()
    root = Tree(ROOT, [])
    open_nodes = [(root, len(words))]
    for i, (word, tag) in enumerate(zip(words, tags, strict=True)):
        while open_nodes[-1][1] <= i:
            open_nodes.pop()
        while waiting and waiting[0][0] == i and i < waiting[0][1] <= open_nodes[-1][1]:
            _, end, label = waiting.popleft()
            node = Tree(label, [])
            open_nodes[-1][0].append(node)
            open_nodes.append((node, end))
        open_nodes[-1][0].append(Tree(tag, [word]))
    if waiting:
        raise ValueError(f"{waiting[0]} is out of order or not nested")
    return root
