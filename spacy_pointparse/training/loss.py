"""What a batch of scores costs: the cross entropies of the heads."""

from typing import Any

import numpy
from numpy.typing import NDArray
from thinc.api import Ops

from ..util.arrays import log_softmax
from .targets import UNSEEN_WEIGHT, Ids, Target

# Keeps the logarithm of 0 finite.
MIN_PROBABILITY = 1e-30


def compute_loss(ops: Ops, targets: list[Target], scores: tuple) -> tuple[float, tuple]:
    """Sum the cross entropies of the paper's four heads and of the tag head, each over
    words, so that gradients of small batches add up to those of a large one. In partial
    trees the words that they let a word point at count as one class, and a little
    more where it would point if nothing else were there.

    ops (Ops): Where the scores live.
    targets (List[Target]): What each sentence teaches.
    scores (Tuple): General and singleton pointing, shape (batch, length, length);
        labels of spans, of single words, and tags (or None), shape (words, labels);
        and pointing in the left-factored tree (or None), shape (batch, length, length).
    RETURNS (Tuple[float, Tuple]): The loss, and the gradient of each head's scores.
    """
    length = scores[0].shape[1]
    pointings = numpy.full((len(targets), length), -1)
    selves, lefts = pointings.copy(), pointings.copy()
    for i, target in enumerate(targets):
        count = len(target.words)
        pointings[i, :count] = target.pointings
        selves[i, :count] = numpy.arange(count)
        lefts[i, :count] = target.lefts
    truths = [
        pointings,
        selves,
        numpy.concatenate([target.labels for target in targets]),
        numpy.concatenate([target.unaries for target in targets]),
        numpy.concatenate([target.tags for target in targets]),
        lefts,
    ]
    partial = any(target.allowed is not None for target in targets)
    weights = _join_weights(targets, length) if partial else [None] * len(truths)
    pairs = [
        _cross_entropy(ops, head, truth, weight)
        for head, truth, weight in zip(scores, truths, weights)
    ]
    losses, gradients = zip(*pairs)
    loss = sum(losses)
    for i, target in enumerate(targets):
        if target.allowed is not None:
            count = len(target.words)
            part = (i, slice(count), slice(count))
            lost, gradient = _set_entropy(ops, scores[0][part], target.allowed)
            gradients[0][part] += gradient
            loss += lost
    return loss, gradients


def _set_entropy(ops: Ops, scores: Any, allowed: NDArray) -> tuple[float, Any]:
    """Sum the negative logarithms of how likely each row of scores holds any of its
    allowed classes to be."""
    probabilities = ops.xp.exp(log_softmax(ops, scores))
    right = probabilities * ops.asarray(allowed)
    likely = right.sum(axis=-1, keepdims=True) + MIN_PROBABILITY
    return -float(ops.xp.log(likely).sum()), probabilities - right / likely


def _join_weights(targets: list[Target], length: int) -> list[NDArray | None]:
    """What each truth counts for: 1 in whole trees."""
    pointings = numpy.ones((len(targets), length))
    labels = []
    for i, target in enumerate(targets):
        if target.weights is None:
            labels.append(numpy.ones((2, len(target.words))))
        else:
            pointings[i] = UNSEEN_WEIGHT
            labels.append(target.weights)
    return [pointings.ravel(), None, *numpy.concatenate(labels, axis=1), None, None]


def _cross_entropy(
    ops: Ops, scores: Any, truths: Ids, weights: NDArray | None
) -> tuple[float, Any]:
    """Sum the cross entropies along the last axis, where the truth is known."""
    if scores is None:
        return 0.0, None
    known = ops.asarray(truths.ravel() >= 0)
    rows = ops.xp.flatnonzero(known)
    columns = ops.asarray1i(truths.ravel())[rows]
    log_probs = log_softmax(ops, scores).reshape(-1, scores.shape[-1])
    gradient = ops.xp.exp(log_probs)
    gradient *= known[:, None]
    gradient[rows, columns] -= 1.0
    losses = -log_probs[rows, columns]
    if weights is not None:
        weights = ops.asarray1f(weights)
        gradient *= weights[:, None]
        losses *= weights[rows]
    return float(losses.sum()), gradient.reshape(scores.shape)
