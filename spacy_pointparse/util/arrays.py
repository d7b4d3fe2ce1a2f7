"""Arithmetic on arrays that several packages need."""

from typing import Any

import numpy
from numpy.typing import NDArray
from thinc.api import Ops

Ids = NDArray[numpy.intp]


def log_softmax(ops: Ops, scores: Any) -> Any:
    """Normalise along the last axis.

    ops (Ops): Where the scores live.
    scores (FloatsXd): The scores, shape (..., classes).
    RETURNS (FloatsXd): Log-probabilities, of the same shape.
    """
    scores = scores - scores.max(axis=-1, keepdims=True)
    return scores - ops.xp.log(ops.xp.exp(scores).sum(axis=-1, keepdims=True))


def offset_rows(targets: list[Ids]) -> Ids:
    """Join the targets of several sentences, counted on as rows of one array.

    targets (List[Ids]): Word that each word of a sentence points at.
    RETURNS (Ids): Row that each word of all sentences points at. Shape (words,).
    """
    starts = numpy.cumsum([0, *(len(target) for target in targets)])
    return numpy.concatenate([t + start for t, start in zip(targets, starts)])
