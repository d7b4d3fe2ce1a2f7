"""The best tree, by dynamic programming."""

from typing import NamedTuple

import numpy

from .binary_splits import Scores, Targets, split_levels


class Chart(NamedTuple):
    """The best scores of all spans of several sentences, as parts of a split. The two
    parts of a split lie side by side.

    lefts (NDArray): `lefts[:, i, longer]` is the score, as a left part, of the span
        from word i that is so many words longer than one. Shape (batch, length,
        length).
    rights (NDArray): `rights[:, i, length - 1 - longer]` is the score, as a right part,
        of the span up to word i. Shape (batch, length, length).
    splits (NDArray): `splits[:, i, longer]` is how many words after word i the left
        part of the best split ends. Shape (batch, length, length).
    """

    lefts: Scores
    rights: Scores
    splits: Targets


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
    length = max(lengths)
    chart = fill_chart(general[:, :length, :length], singleton[:, :length])
    return split_levels(
        lengths, lambda rows, first, last: chart.splits[rows, first, last - first]
    )


def fill_chart(general: Scores, singleton: Scores) -> Chart:
    """Find the best scores of all spans, shorter ones first.

    general (NDArray): Score of word i pointing at word k. Shape (batch, length,
        length).
    singleton (NDArray): Score of word i being a part by itself. Shape (batch, length).
    RETURNS (Chart): The scores and splits.
    """
    batch, length = singleton.shape
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
    return Chart(lefts, rights, splits)
