"""Vectors that are computed once for each distinct word of a batch."""

from collections.abc import Callable
from typing import cast

import numpy
from numpy.typing import NDArray
from spacy.tokens import Doc
from thinc.types import Floats2d, Ints1d

from ..types import Tok2Vec


def look_up(values: NDArray, ordered: NDArray) -> tuple[NDArray, NDArray]:
    """Look values up in a sorted array.

    values (NDArray): The values.
    ordered (NDArray): The sorted array.
    RETURNS (Tuple[NDArray, NDArray]): The index of each value in the sorted array, and
        whether the value is in it. Both of shape (values,).
    """
    if not len(ordered):
        return numpy.zeros(len(values), dtype="int64"), numpy.zeros(len(values), "bool")
    indices = numpy.searchsorted(ordered, values) % len(ordered)
    return indices, ordered[indices] == values


def spread(
    model: Tok2Vec,
    docs: list[Doc],
    types: Floats2d,
    indices: NDArray,
    backprop_types: Callable[[Floats2d], object],
) -> tuple[list[Floats2d], Callable[[list[Floats2d]], list[Doc]]]:
    """Give each token the vector of its word.

    model (Model[List[Doc], List[Floats2d]]): The layer that calls.
    docs (List[Doc]): The Docs.
    types (Floats2d): A vector for each distinct word. Shape (words, width).
    indices (NDArray): The word of each token. Shape (tokens,).
    backprop_types (Callable): Takes the gradient of the distinct words: the sums over
        their tokens.
    RETURNS (Tuple[List[Floats2d], Callable]): The output of a forward function.
    """
    ops = model.ops
    lengths = ops.asarray1i([len(doc) for doc in docs])
    rows = ops.asarray1i(cast(Ints1d, indices))

    def backprop(d_vectors: list[Floats2d]) -> list[Doc]:
        if len(types):
            d_types = ops.alloc2f(*types.shape)
            ops.scatter_add(d_types, rows, ops.flatten(d_vectors))
            backprop_types(d_types)
        return docs

    return ops.unflatten(types[rows], lengths), backprop
