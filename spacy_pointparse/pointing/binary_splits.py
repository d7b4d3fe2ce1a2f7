"""Splits of spans, which all searches for a tree share.

The score of a tree is the sum of the scores of its pointings: a span that is the left
part of a split is pointed out by its last word, a right part by its first word.
"""

from collections.abc import Callable

import numpy
from numpy.typing import NDArray

Scores = NDArray[numpy.floating]
Targets = NDArray[numpy.intp]


def score_splits(scores: Scores, start: int, last: int) -> Scores:
    """Score the splits of a span after each of its words but the last."""
    return scores[start, start:last] + scores[last, start + 1 : last + 1]


def list_by_target(general: Scores, singleton: Scores) -> Scores:
    """Transpose scores, so that row i holds how well each word points at word i, with
    singleton scores on the diagonal. Shape (..., length, length)."""
    scores = general.swapaxes(-1, -2).copy()
    words = numpy.arange(scores.shape[-1])
    scores[..., words, words] = singleton
    return scores


def point_at_ends(length: int) -> Targets:
    """Start a tree: its first and last words point at each other. Shape (length,)."""
    targets = numpy.zeros(length, dtype=numpy.intp)
    targets[0] = length - 1
    return targets


def split_levels(
    lengths: list[int], find_splits: Callable[[Targets, Targets, Targets], Targets]
) -> list[Targets]:
    """Split several sentences, then their parts, level by level, down to single words.

    lengths (List[int]): Number of words of each sentence.
    find_splits (Callable[[NDArray, NDArray, NDArray], NDArray]): Given the index of the
        sentence, the first word and the last word of each span, returns how many words
        after the first one its left part ends. All of shape (spans,).
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
