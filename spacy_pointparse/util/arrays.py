"""Array operations shared by several packages."""

from typing import Any

import numpy
from numpy.typing import NDArray
from thinc.api import Ops
from thinc.types import Ints1d

Ids = NDArray[numpy.intp]


def log_softmax(ops: Ops, scores: Any) -> Any:
    """Turn scores into log-probabilities over the last axis.

    ops (Ops): The backend of the scores.
    scores (FloatsXd): The scores. Shape (..., classes).
    RETURNS (FloatsXd): The log-probabilities. Shape (..., classes).
    """
    xp: Any = ops.xp  # numpy or cupy; thinc declares no type that mypy can follow
    scores = scores - scores.max(axis=-1, keepdims=True)
    return scores - xp.log(xp.exp(scores).sum(axis=-1, keepdims=True))


def to_ids(ops: Ops, ids: NDArray) -> Ints1d:
    """Move indices to the device of a model.

    ops (Ops): The backend of the model.
    ids (NDArray): The indices, a numpy array. Shape (n,).
    RETURNS (Ints1d): The indices, of 32 bits. Shape (n,).
    """
    array: Any = ids  # thinc takes numpy arrays, and declares types of its own
    return ops.asarray1i(array)


def offset_rows(targets: list[Ids]) -> Ids:
    """Concatenate the targets of several sentences, shifting each sentence's word
    indices to rows of the concatenated array.

    targets (List[Ids]): For each word of a sentence, the index of the word it points
        at. Shape (words of the sentence,) each.
    RETURNS (Ids): For each word, the row it points at. Shape (words,).
    """
    starts = numpy.cumsum([0, *(len(target) for target in targets)])
    return numpy.concatenate([t + start for t, start in zip(targets, starts)])
