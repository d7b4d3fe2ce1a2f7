"""What a batch of scores costs: the cross entropies of the heads."""

from typing import Any

import numpy
from thinc.api import Ops

from .targets import Ids, Target


def compute_loss(ops: Ops, targets: list[Target], scores: tuple) -> tuple[float, tuple]:
    """Sum the cross entropies of the paper's four heads and of the tag head, each over
    words, so that gradients of small batches add up to those of a large one.

    ops (Ops): Where the scores live.
    targets (List[Target]): What each sentence teaches.
    scores (Tuple): General and singleton pointing, shape (batch, length, length);
        labels of spans, of single words, and tags (or None), shape (words, labels).
    RETURNS (Tuple[float, Tuple]): The loss, and the gradient of each head's scores.
    """
    length = scores[0].shape[1]
    pointings = numpy.full((len(targets), length), -1)
    selves = numpy.full((len(targets), length), -1)
    for i, target in enumerate(targets):
        count = len(target.words)
        pointings[i, :count] = target.pointings
        selves[i, :count] = numpy.arange(count)
    truths = [
        pointings,
        selves,
        numpy.concatenate([target.labels for target in targets]),
        numpy.concatenate([target.unaries for target in targets]),
        numpy.concatenate([target.tags for target in targets]),
    ]
    pairs = [_cross_entropy(ops, head, truth) for head, truth in zip(scores, truths)]
    losses, gradients = zip(*pairs)
    return sum(losses), gradients


def log_softmax(ops: Ops, scores: Any) -> Any:
    """Normalise along the last axis.

    ops (Ops): Where the scores live.
    scores (FloatsXd): The scores, shape (..., classes).
    RETURNS (FloatsXd): Log-probabilities, of the same shape.
    """
    scores = scores - scores.max(axis=-1, keepdims=True)
    return scores - ops.xp.log(ops.xp.exp(scores).sum(axis=-1, keepdims=True))


def _cross_entropy(ops: Ops, scores: Any, truths: Ids) -> tuple[float, Any]:
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
    loss = -float(log_probs[rows, columns].sum())
    return loss, gradient.reshape(scores.shape)
