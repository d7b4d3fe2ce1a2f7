"""Scores to pointings: the paper's greedy Algorithm 2, a beam, and exact search.

The score of a tree is the sum of the scores of its pointings: a span that is the left
part of a split is pointed out by its last word, a right part by its first word.
"""

from collections.abc import Callable
from heapq import nlargest, nsmallest
from operator import itemgetter
from typing import Any, NamedTuple

import numpy
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

# From so many sentences on it takes less time to split the spans of all of them level
# by level than each span by itself.
MANY = 16

Scores = NDArray[numpy.floating]
Targets = NDArray[numpy.intp]


def decode(general: Scores, singleton: Scores) -> Targets:
    """Find the greedy top-down tree of a sentence (the paper's Algorithm 2 with the
    split score of its last definition: a part of one word is scored by the singleton
    pointing, every other part by the general pointing).

    general (NDArray): Score of word i pointing at word k. Shape (length, length).
    singleton (NDArray): Score of word i being a part by itself. Shape (length,).
    RETURNS (NDArray): The pointing of each word, a whole binary tree. Shape (length,).
    """
    scores = _list_by_target(general, singleton)
    targets = _point_at_ends(len(singleton))
    stack = [(0, len(singleton) - 1)]
    while stack:
        start, last = stack.pop()
        if last <= start + 1:
            continue
        split = start + int(_score_splits(scores, start, last).argmax())
        if split > start:
            targets[split] = start
            stack.append((start, split))
        if split + 1 < last:
            targets[split + 1] = last
            stack.append((split + 1, last))
    return targets


def decode_batch(
    general: Scores, singleton: Scores, lengths: list[int]
) -> list[Targets]:
    """Find the tree of each of several sentences, the same as `decode` finds.

    general (NDArray): Score of word i pointing at word k. Shape (batch, length,
        length).
    singleton (NDArray): Score of word i being a part by itself. Shape (batch, length).
    lengths (List[int]): Number of words of each sentence.
    RETURNS (List[NDArray]): The pointing of each word of each sentence.
    """
    if len(lengths) < MANY:
        return [
            decode(general[i, :length, :length], singleton[i, :length])
            for i, length in enumerate(lengths)
        ]
    length = singleton.shape[1]
    scores = _list_by_target(general, singleton).ravel()
    # So that no window of scores reaches over the end.
    scores = numpy.append(scores, numpy.zeros(length, scores.dtype))

    def find_splits(rows: Targets, first: Targets, last: Targets) -> Targets:
        longer = last - first
        windows = sliding_window_view(scores, int(longer.max()))
        starts = rows * length * length + first
        splits = windows[starts + first * length] + windows[starts + last * length + 1]
        splits[numpy.arange(splits.shape[1]) >= longer[:, None]] = -numpy.inf
        return splits.argmax(axis=1)

    return _split_levels(lengths, find_splits)


def decode_exact(
    general: Scores, singleton: Scores, lengths: list[int]
) -> list[Targets]:
    """Find the tree of each of several sentences with the highest sum of the scores of
    its pointings, in O(n³) steps (CKY over the splits that `decode` chooses greedily).

    general (NDArray): Score of word i pointing at word k. Shape (batch, length,
        length).
    singleton (NDArray): Score of word i being a part by itself. Shape (batch, length).
    lengths (List[int]): Number of words of each sentence.
    RETURNS (List[NDArray]): The pointing of each word of each sentence.
    """
    batch, length = len(lengths), max(lengths)
    general, singleton = general[:, :length, :length], singleton[:, :length]
    # Of the span from word i that is so many words longer than one, as the left part
    # of a split: lefts[:, i, longer]; of the span up to word i, as the right part:
    # rights[:, i, length - 1 - longer]. So the parts of a split lie side by side.
    lefts = numpy.zeros((batch, length, length), general.dtype)
    rights = numpy.zeros_like(lefts)
    lefts[:, :, 0] = rights[:, :, -1] = singleton
    splits = numpy.zeros((batch, length, length), dtype=numpy.intp)
    for longer in range(1, length):
        count = length - longer
        starts, ends = numpy.arange(count), numpy.arange(longer, length)
        scores = lefts[:, :count, :longer] + rights[:, longer:, -longer:]
        best = scores.argmax(axis=2)
        splits[:, starts, longer] = best
        inner = numpy.take_along_axis(scores, best[:, :, None], axis=2)[:, :, 0]
        lefts[:, :count, longer] = inner + general[:, ends, starts]
        rights[:, longer:, -1 - longer] = inner + general[:, starts, ends]
    return _split_levels(
        lengths, lambda rows, first, last: splits[rows, first, last - first]
    )


def decode_beam(
    general: Scores, singleton: Scores, size: int
) -> list[tuple[float, Targets]]:
    """Find several good trees top-down: at each split, keep the best trees so far. With
    a size of 1 this is `decode`.

    general (NDArray): Score of word i pointing at word k. Shape (length, length).
    singleton (NDArray): Score of word i being a part by itself. Shape (length,).
    size (int): Number of trees that are kept.
    RETURNS (List[Tuple[float, NDArray]]): The trees, best first, each its score and
        the pointing of each word; fewer than `size` where there are no more.
    """
    length = len(singleton)
    scores = _list_by_target(general, singleton)
    beam = [_Partial(0.0, ((0, length - 1),), None)]
    for _ in range(length - 1):
        grown = (
            (partial.score + float(split_scores[k]), i, k)
            for i, partial in enumerate(beam)
            for split_scores in [_score_splits(scores, *partial.spans[-1])]
            for k in _find_largest(split_scores, size)
        )
        best = nlargest(size, grown, key=lambda tree: tree[0])
        beam = [_split(beam[i], k, score) for score, i, k in best]
    return [(partial.score, _read_partial(partial, length)) for partial in beam]


def choose_columns(
    tables: list[Scores], size: int, most: float = numpy.inf
) -> list[list[Targets]]:
    """Choose a column in each row of tables, such as a label for each span, in the ways
    that have the highest sums of scores.

    tables (List[NDArray]): The scores, each of shape (rows, columns).
    size (int): Number of ways at most.
    most (float): How much lower than the best a sum may be.
    RETURNS (List[List[NDArray]]): The ways, best first: of each table the column of
        each row. Shape (rows,).
    """
    best = [table.argmax(axis=1) for table in tables]
    if size == 1:
        return [best]
    # What other columns cost, cheapest first. Each joins the ways found before it.
    changes = nsmallest(
        size,
        (
            (loss, place, row, column)
            for place, (table, chosen) in enumerate(zip(tables, best))
            for row, losses in enumerate((table.max(axis=1)[:, None] - table).tolist())
            for column, loss in enumerate(losses)
            if column != chosen[row] and loss <= most
        ),
    )
    ways: list[tuple[float, dict[tuple[int, int], int]]] = [(0.0, {})]
    for loss, place, row, column in changes:
        if len(ways) == size and loss >= ways[-1][0]:
            break
        grown = [
            (total + loss, {**way, (place, row): column})
            for total, way in ways
            if (place, row) not in way and total + loss <= most
        ]
        ways = nsmallest(size, ways + grown, key=itemgetter(0))
    return [_change(best, way) for _, way in ways]


def _change(best: list[Targets], way: dict[tuple[int, int], int]) -> list[Targets]:
    changed = [chosen.copy() for chosen in best]
    for (place, row), column in way.items():
        changed[place][row] = column
    return changed


class _Partial(NamedTuple):
    """A tree in the making: its spans of several words that wait to be split, and how
    it came to be: the tree before, and what its last split pointed out."""

    score: float
    spans: tuple[tuple[int, int], ...]
    history: Any


def _split(partial: _Partial, offset: int, score: float) -> _Partial:
    start, last = partial.spans[-1]
    split = start + offset
    spans = [*partial.spans[:-1]]
    pointings = []
    if split > start:
        spans.append((start, split))
        pointings.append((split, start))
    if split + 1 < last:
        spans.append((split + 1, last))
        pointings.append((split + 1, last))
    return _Partial(score, tuple(spans), (partial.history, pointings))


def _read_partial(partial: _Partial, length: int) -> Targets:
    targets = _point_at_ends(length)
    history = partial.history
    while history is not None:
        history, pointings = history
        for word, target in pointings:
            targets[word] = target
    return targets


def _find_largest(scores: Scores, count: int) -> list[int]:
    if len(scores) <= count:
        return list(range(len(scores)))
    return numpy.argpartition(-scores, count - 1)[:count].tolist()


def _score_splits(scores: Scores, start: int, last: int) -> Scores:
    """Score the splits of a span behind each of its words but the last."""
    return scores[start, start:last] + scores[last, start + 1 : last + 1]


def _list_by_target(general: Scores, singleton: Scores) -> Scores:
    """Row i holds, side by side in memory, how well each word points at word i. Shapes
    (..., length, length) and (..., length)."""
    scores = general.swapaxes(-1, -2).copy()
    words = numpy.arange(scores.shape[-1])
    scores[..., words, words] = singleton
    return scores


def _point_at_ends(length: int) -> Targets:
    """What no split points out: the first word and the last point at each other."""
    targets = numpy.zeros(length, dtype=numpy.intp)
    targets[0] = length - 1
    return targets


def _split_levels(
    lengths: list[int], find_splits: Callable[[Targets, Targets, Targets], Targets]
) -> list[Targets]:
    """Split several sentences, then their parts, level by level until all are words.

    lengths (List[int]): Number of words of each sentence.
    find_splits (Callable[[NDArray, NDArray, NDArray], NDArray]): Of spans, by the
        number of their sentence and their first and last words, the number of words but
        one in the left part of each.
    """
    targets = numpy.zeros((len(lengths), max(lengths)), dtype=numpy.intp)
    rows = numpy.arange(len(lengths))
    first, last = numpy.zeros_like(rows), numpy.asarray(lengths) - 1
    targets[:, 0] = last
    while True:
        several = last > first + 1
        rows, first, last = rows[several], first[several], last[several]
        if not len(rows):
            return [row[:length] for row, length in zip(targets, lengths)]
        split = first + find_splits(rows, first, last)
        left, right = split > first, split + 1 < last
        targets[rows[left], split[left]] = first[left]
        targets[rows[right], split[right] + 1] = last[right]
        rows = numpy.concatenate([rows[left], rows[right]])
        first, last = (
            numpy.concatenate([first[left], split[right] + 1]),
            numpy.concatenate([split[left], last[right]]),
        )
