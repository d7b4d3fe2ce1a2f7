"""The last word-piece of each token."""

from collections.abc import Callable
from typing import cast

from thinc.api import Model, get_array_module
from thinc.types import Floats2d, Ragged

InT = Ragged
OutT = Floats2d


def build_last_piece() -> Model[InT, OutT]:
    """Build a layer that pools word-pieces as in the paper: a token gets the vector of
    its last piece. A token without pieces, such as white space or what the transformer
    truncated, gets zeros, where thinc's `reduce_last` raises an error.

    RETURNS (Model[Ragged, Floats2d]): The layer, for the `pooling` of a listener: one
        row a word-piece and one length a token, to one row a token.
    """
    return Model("last_piece", forward)


def forward(
    model: Model[InT, OutT], pieces: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    ops = model.ops
    data = cast(Floats2d, pieces.dataXd)
    tokens = get_array_module(data).flatnonzero(pieces.lengths)
    rows = pieces.lengths.cumsum()[tokens] - 1
    vectors = ops.alloc2f(len(pieces.lengths), data.shape[1])  # (tokens, width)
    vectors[tokens] = data[rows]

    def backprop(d_vectors: OutT) -> InT:
        d_data = ops.alloc2f(*data.shape)  # (pieces, width)
        d_data[rows] = d_vectors[tokens]
        return Ragged(d_data, pieces.lengths)

    return vectors, backprop
