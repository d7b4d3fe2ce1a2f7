"""What layers share that compute each distinct word of a batch once."""

from collections.abc import Callable

import numpy
from numpy.typing import NDArray
from spacy.tokens import Doc
from thinc.types import Floats2d, Ints1d

from ..types import Tok2Vec


def look_up(values: Ints1d, ordered: Ints1d) -> tuple[Ints1d, NDArray]:
    """Find values among others, which are in order.

    RETURNS (Tuple[Ints1d, NDArray]): The place of each, and whether it is there.
    """
    if not len(ordered):
        return numpy.zeros(len(values), dtype="int64"), numpy.zeros(len(values), "bool")
    places = numpy.searchsorted(ordered, values) % len(ordered)
    return places, ordered[places] == values


def spread(
    model: Tok2Vec,
    docs: list[Doc],
    types: Floats2d,
    places: Ints1d,
    backprop_types: Callable,
) -> tuple[list[Floats2d], Callable]:
    """Give each token the vector of its word, and each word the gradient of all its
    tokens."""
    ops = model.ops
    lengths = ops.asarray1i([len(doc) for doc in docs])
    rows = ops.asarray1i(places)

    def backprop(d_vectors: list[Floats2d]) -> list[Doc]:
        if len(types):
            d_types = ops.alloc2f(*types.shape)
            ops.scatter_add(d_types, rows, ops.flatten(d_vectors))
            backprop_types(d_types)
        return docs

    return ops.unflatten(types[rows], lengths), backprop
