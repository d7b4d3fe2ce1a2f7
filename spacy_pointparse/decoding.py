"""Scores to pointings: the paper's greedy Algorithm 2, a beam, and exact search.

The score of a tree is the sum of the scores of its pointings: a span that is the left
part of a split is pointed out by its last word, a right part by its first word.
"""

from collections.abc import Callable
from heapq import nlargest
from typing import Any, NamedTuple

import numpy
from numpy.typing import NDArray

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
    return _split_down(
        len(singleton),
        lambda start, last: int(_score_splits(scores, start, last).argmax()),
    )


def decode_exact(general: Scores, singleton: Scores) -> Targets:
    """Find the tree with the highest sum of the scores of its pointings, in O(n³) steps
    (CKY over the splits that `decode` chooses greedily).

    general (NDArray): Score of word i pointing at word k. Shape (length, length).
    singleton (NDArray): Score of word i being a part by itself. Shape (length,).
    RETURNS (NDArray): The pointing of each word, a whole binary tree. Shape (length,).
    """
    length = len(singleton)
    # Of the span from word i that is so many words longer than one, as the left part
    # of a split: lefts[i, longer]; of the span up to word i, as the right part:
    # rights[i, length - 1 - longer]. So the parts of a split lie side by side.
    lefts = numpy.zeros((length, length))
    rights = numpy.zeros((length, length))
    lefts[:, 0] = rights[:, -1] = singleton
    splits = numpy.zeros((length, length), dtype=numpy.intp)
    for longer in range(1, length):
        count = length - longer
        starts, ends = numpy.arange(count), numpy.arange(longer, length)
        scores = lefts[:count, :longer] + rights[longer:, -longer:]
        best = scores.argmax(axis=1)
        splits[starts, longer] = best
        inner = scores[starts, best]
        lefts[:count, longer] = inner + general[ends, starts]
        rights[longer:, -1 - longer] = inner + general[starts, ends]
    return _split_down(length, lambda start, last: int(splits[start, last - start]))


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
    """Row i holds, side by side in memory, how well each word points at word i."""
    scores = general.T.copy()
    numpy.fill_diagonal(scores, singleton)
    return scores


def _point_at_ends(length: int) -> Targets:
    """What no split points out: the first word and the last point at each other."""
    targets = numpy.zeros(length, dtype=numpy.intp)
    targets[0] = length - 1
    return targets


def _split_down(length: int, find_split: Callable[[int, int], int]) -> Targets:
    """Split the sentence, then its parts, until all are words.

    find_split (Callable[[int, int], int]): Number of words but one in the left part of
        the span between two words.
    """
    targets = _point_at_ends(length)
    stack = [(0, length - 1)]
    while stack:
        start, last = stack.pop()
        if last <= start + 1:
            continue
        split = start + find_split(start, last)
        if split > start:
            targets[split] = start
            stack.append((start, split))
        if split + 1 < last:
            targets[split + 1] = last
            stack.append((split + 1, last))
    return targets
