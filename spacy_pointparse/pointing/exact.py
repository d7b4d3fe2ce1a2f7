"""The best tree, by dynamic programming."""

import numpy

from .binary_splits import Scores, Targets, split_levels


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
    return split_levels(
        lengths, lambda rows, first, last: splits[rows, first, last - first]
    )
