"""The paper's greedy Algorithm 2."""

import numpy
from numpy.lib.stride_tricks import sliding_window_view

from .binary_splits import (
    Scores,
    Targets,
    list_by_target,
    point_at_ends,
    score_splits,
    split_levels,
)

# From so many sentences on it takes less time to split the spans of all of them level
# by level than each span by itself.
MIN_BATCH_FOR_LEVELS = 16


def decode(general: Scores, singleton: Scores) -> Targets:
    """Find the greedy top-down tree of a sentence (the paper's Algorithm 2 with the
    split score of its last definition: a part of one word is scored by the singleton
    pointing, every other part by the general pointing).

    general (NDArray): Score of word i pointing at word k. Shape (length, length).
    singleton (NDArray): Score of word i being a part by itself. Shape (length,).
    RETURNS (NDArray): The pointing of each word, a whole binary tree. Shape (length,).
    """
    scores = list_by_target(general, singleton)
    targets = point_at_ends(len(singleton))
    stack = [(0, len(singleton) - 1)]
    while stack:
        start, last = stack.pop()
        if last <= start + 1:
            continue
        split = start + int(score_splits(scores, start, last).argmax())
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
    if len(lengths) < MIN_BATCH_FOR_LEVELS:
        return [
            decode(general[i, :length, :length], singleton[i, :length])
            for i, length in enumerate(lengths)
        ]
    length = singleton.shape[1]
    scores = list_by_target(general, singleton).ravel()
    # So that no window of scores reaches over the end.
    scores = numpy.append(scores, numpy.zeros(length, scores.dtype))

    def find_splits(rows: Targets, first: Targets, last: Targets) -> Targets:
        longer = last - first
        windows = sliding_window_view(scores, int(longer.max()))
        starts = rows * length * length + first
        splits = windows[starts + first * length] + windows[starts + last * length + 1]
        splits[numpy.arange(splits.shape[1]) >= longer[:, None]] = -numpy.inf
        return splits.argmax(axis=1)

    return split_levels(lengths, find_splits)
