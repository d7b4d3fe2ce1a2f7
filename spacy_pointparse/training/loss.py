"""The loss: cross entropies of the heads, and their gradients."""

from typing import Any

import numpy
from numpy.typing import NDArray
from thinc.api import Ops

from ..util.arrays import log_softmax
from .targets import UNSEEN_WEIGHT, Ids, Target

# Keeps the logarithm of 0 finite.
MIN_PROBABILITY = 1e-30


def compute_loss(ops: Ops, targets: list[Target], scores: tuple) -> tuple[float, tuple]:
    """Sum the cross entropies of the paper's four heads, the tag head and the
    left-factored pointing head, each over words, so that the gradients of small batches
    add up to those of a large one.

    In a partial tree, all words that a word may point at count as one class, with a
    small extra weight on the one it would point at if nothing else were there.

    ops (Ops): Where the scores live.
    targets (List[Target]): What each sentence teaches.
    scores (Tuple): General and singleton pointing, shape (batch, length, length);
        labels of spans, of single words, and tags (or None), shape (words, labels);
        and pointing in the left-factored tree (or None), shape (batch, length, length).
        An ensemble stacks the scores of its members, each of which learns all targets.
    RETURNS (Tuple[float, Tuple]): The loss, and the gradient of each head's scores.
    """
    targets = targets * (len(scores[0]) // len(targets))
    length = scores[0].shape[1]
    truths = _stack_truths(targets, length, with_left=scores[5] is not None)
    weights: list[NDArray | None] = [None] * len(truths)
    if any(target.allowed is not None for target in targets):
        weights = _stack_weights(targets, length)
    loss = 0.0
    gradients = []
    for head, truth, weight in zip(scores, truths, weights):
        head_loss, gradient = _cross_entropy(ops, head, truth, weight)
        loss += head_loss
        gradients.append(gradient)
    for i, target in enumerate(targets):
        if target.allowed is not None:
            count = len(target.words)
            part = (i, slice(count), slice(count))
            set_loss, gradient = _set_entropy(ops, scores[0][part], target.allowed)
            gradients[0][part] += gradient
            loss += set_loss
    return loss, tuple(gradients)


def _stack_truths(targets: list[Target], length: int, with_left: bool) -> list[Ids]:
    """Get the true class of each row of each head's scores, -1 where unknown."""
    shape = (len(targets), length)
    pointings, singletons, lefts = (numpy.full(shape, -1) for _ in range(3))
    for i, target in enumerate(targets):
        count = len(target.words)
        pointings[i, :count] = target.pointings
        singletons[i, :count] = numpy.arange(count)
        if with_left:
            lefts[i, :count] = target.point_in_left_tree()
    return [
        pointings,
        singletons,
        numpy.concatenate([target.labels for target in targets]),
        numpy.concatenate([target.unaries for target in targets]),
        numpy.concatenate([target.tags for target in targets]),
        lefts,
    ]


def _stack_weights(targets: list[Target], length: int) -> list[NDArray | None]:
    """Get the weight of each row of each head's scores: 1 in whole trees, and None for
    heads in which partial trees weigh as much."""
    pointings = numpy.ones((len(targets), length))
    labels: list[NDArray] = []
    for i, target in enumerate(targets):
        if target.weights is None:
            labels.append(numpy.ones((2, len(target.words))))
        else:
            pointings[i] = UNSEEN_WEIGHT
            labels.append(target.weights)
    spans, unaries = numpy.concatenate(labels, axis=1)
    return [pointings.ravel(), None, spans, unaries, None, None]


def _set_entropy(ops: Ops, scores: Any, allowed: NDArray) -> tuple[float, Any]:
    """Sum the cross entropies of the sets of allowed classes, a set a row."""
    xp: Any = ops.xp
    probabilities = xp.exp(log_softmax(ops, scores))
    right = probabilities * xp.asarray(allowed)
    total = right.sum(axis=-1, keepdims=True) + MIN_PROBABILITY
    return -float(xp.log(total).sum()), probabilities - right / total


def _cross_entropy(
    ops: Ops, scores: Any, truths: Ids, weights: NDArray | None
) -> tuple[float, Any]:
    """Sum the cross entropies along the last axis, where the truth is known."""
    if scores is None:
        return 0.0, None
    xp: Any = ops.xp
    known = xp.asarray(truths.ravel() >= 0)
    rows = xp.flatnonzero(known)
    columns = xp.asarray(truths.ravel())[rows]
    # (..., classes) -> (rows, classes)
    log_probs = log_softmax(ops, scores).reshape(-1, scores.shape[-1])
    gradient = xp.exp(log_probs)
    gradient *= known[:, None]
    gradient[rows, columns] -= 1.0
    losses = -log_probs[rows, columns]
    if weights is not None:
        row_weights = xp.asarray(weights, dtype="float32")
        gradient *= row_weights[:, None]
        losses *= row_weights[rows]
    return float(losses.sum()), gradient.reshape(scores.shape)
