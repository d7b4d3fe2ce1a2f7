"""Several good trees, by a beam."""

from heapq import nlargest
from operator import itemgetter
from typing import Any, NamedTuple

import numpy

from .binary_splits import Scores, Targets, list_by_target, point_at_ends, score_splits


def decode_beam(
    general: Scores, singleton: Scores, size: int
) -> list[tuple[float, Targets]]:
    """Find several good trees top-down: at each split, keep the best trees so far. With
    a size of 1 this is `decode`.

    general (NDArray): Score of word i pointing at word k. Shape (length, length).
    singleton (NDArray): Score of word i being a part by itself. Shape (length,).
    size (int): Number of trees to keep.
    RETURNS (List[Tuple[float, NDArray]]): The trees, best first: the score, and the
        pointing of each word. Fewer than `size` if there are no more.
    """
    length = len(singleton)
    scores = list_by_target(general, singleton)
    beam = [_Partial(0.0, ((0, length - 1),), None)]
    for _ in range(length - 1):
        grown = []
        for i, partial in enumerate(beam):
            split_scores = score_splits(scores, *partial.spans[-1])
            for k in _find_largest(split_scores, size):
                grown.append((partial.score + float(split_scores[k]), i, k))
        best = nlargest(size, grown, key=itemgetter(0))
        beam = [_split(beam[i], k, score) for score, i, k in best]
    return [(partial.score, _read_partial(partial, length)) for partial in beam]


class _Partial(NamedTuple):
    """An unfinished tree: its score, its spans of several words that are still to be
    split, and its history, a pair of the history before and the pointings of the last
    split."""

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
    targets = point_at_ends(length)
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
