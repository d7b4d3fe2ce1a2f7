"""Split the lines of a file into chunks of whole trees."""

import re
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain

from .structure import ROOT_LABELS

Line = tuple[int, str]  # line number, text
# Maximum number of lines in a tree, so that an unclosed bracket does not swallow the
# whole file. The maximum shrinks to the lower number as unclosed trees follow one
# another.
MIN_LINES, MAX_LINES = 200, 5000
# Maximum number of characters in a line or tree. Reading one takes up to 450 bytes.
MAX_SIZE = 1_000_000
_OPENER = re.compile(r"^\s*\(\s*([^\s()]*)")
_WORD = re.compile(r"[^\s()]\s+[^\s()]|\)")  # matches lines that contain a word
# Lines between trees that belong to none: <S ID=1> and starred headers.
_MARKUP = re.compile(r"\s*</?\w[^()]*>")
# Such markup around the trees of a line.
_MARKED = re.compile(r"\s*(?:</?\w[^()<>]*>\s*)*(\(.*\))\s*(?:</?\w[^()<>]*>\s*)*")
_HEADER = re.compile(r"\s*\*")
_END: Line = (0, "")


def split_chunks(lines: Iterable[str]) -> Iterator[list[Line]]:
    """Split a file into chunks of lines, each holding whole trees or one faulty tree.
    Lines of markup, such as `<S ID=1>`, and starred headers between trees are left out.

    lines (Iterable[str]): The lines of the file.
    YIELDS (List[Line]): The numbered lines of each chunk, without blank ones.
    """
    texts = map(_strip, lines)
    numbered = ((i, text) for i, text in enumerate(texts, start=1) if text)
    remaining = chain(numbered, [_END])
    again: deque[Line] = deque()
    chunk = _Chunk(set(ROOT_LABELS), MAX_LINES)
    while True:
        line = again.popleft() if again else next(remaining)
        is_outside = chunk.is_outside(line[1])
        if is_outside and not chunk.lines:
            continue
        if line is not _END and not is_outside and not chunk.ends_before(line[1]):
            chunk.add(line)
        elif chunk.lines:
            leftover = chunk.cut_leftover()
            again.extendleft([line, *reversed(leftover)])
            yield chunk.lines
            chunk = chunk.make_next(bool(leftover))
        else:
            return


class _Chunk:
    """Lines that hold whole trees, judging by brackets and indentation.

    openers (Set[str]): The root labels of the trees of this file so far.
    max_lines (int): Number of lines after which a tree counts as unclosed.
    after_one_line (bool): Whether the previous chunk was a single line.
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

    def is_outside(self, text: str) -> bool:
        """Check whether a line is markup or a header."""
        is_header = self.depth <= 0 and _HEADER.match(text)
        return bool(is_header or _MARKUP.fullmatch(text))

    def ends_before(self, text: str) -> bool:
        """Check whether a line begins the next tree. Brackets may be missing or
        surplus, so indentation and the root labels so far decide as well."""
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
        """Check whether an open tree seems to span lines with the same indent."""
        if _WORD.search(self.lines[0][1]):
            return False
        return len(self.lines) == 1 or _get_indent(self.lines[1][1]) <= self.indent

    def cut_leftover(self) -> list[Line]:
        """Cut off the lines of an unclosed tree that may belong to the next trees."""
        first = len(self.lines)
        if self.depth > 0:
            first = next((i for i in range(1, first) if self.may_begin(i)), first)
        self.lines, leftover = self.lines[:first], self.lines[first:]
        return leftover

    def make_next(self, has_leftover: bool) -> "_Chunk":
        """Make the next chunk. Leftover lines are read again, so the maximum shrinks
        after each unclosed tree; otherwise a file of such trees would take hours."""
        lines = len(self.lines)
        most = self.max_lines // 2 if has_leftover else self.max_lines + lines
        most = min(max(most, MIN_LINES), MAX_LINES)
        return _Chunk(self.openers, most, lines == 1)

    def may_begin(self, i: int) -> bool:
        """Check whether a line of an unclosed tree may begin the next tree."""
        label = _get_opener(self.lines[i][1])
        deeper = _get_indent(self.lines[i][1]) > self.indent
        if label is None or deeper:
            return False
        is_flush_left = self.is_flush_left() and not self.after_one_line
        return label in self.openers or not is_flush_left


def _strip(line: str) -> str:
    if len(line) > MAX_SIZE:  # truncated by the reader, and rejected later
        return line
    line = line.lstrip("\ufeff").rstrip()
    if line[:1] != "<" and line[-1:] != ">":
        return line
    is_balanced = line.count("(") == line.count(")")
    match = _MARKED.fullmatch(line) if is_balanced else None
    return match[1] if match else line


def _get_opener(text: str) -> str | None:
    """Get the label after the bracket that opens a line, if one does."""
    match = _OPENER.match(text)
    return match[1] if match else None


def _get_indent(text: str) -> int:
    return len(text) - len(text.lstrip())
