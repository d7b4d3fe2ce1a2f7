"""Each token's last word-piece."""

from collections.abc import Callable

from thinc.api import Model
from thinc.types import Floats2d, Ragged


def build_last_piece() -> Model[Ragged, Floats2d]:
    """Build a layer that pools the word-pieces of a transformer as the paper does: each
    token has the vector of its last one. A token without any, such as white space or
    what the tokenizer cut off, has zeros, where thinc's `reduce_last` raises an error.

    RETURNS (Model[Ragged, Floats2d]): The layer, for the `pooling` of a listener:
        one row a word-piece, one length a token, to one row a token.
    """
    return Model("last_piece", _forward_last_piece)


def _forward_last_piece(
    model: Model[Ragged, Floats2d], pieces: Ragged, is_train: bool
) -> tuple[Floats2d, Callable]:
    ops = model.ops
    tokens = ops.xp.flatnonzero(pieces.lengths)
    rows = pieces.lengths.cumsum()[tokens] - 1
    vectors = ops.alloc2f(len(pieces.lengths), pieces.dataXd.shape[1])
    vectors[tokens] = pieces.dataXd[rows]

    def backprop(d_vectors: Floats2d) -> Ragged:
        d_pieces = ops.alloc2f(*pieces.dataXd.shape)
        d_pieces[rows] = d_vectors[tokens]
        return Ragged(d_pieces, pieces.lengths)

    return vectors, backprop
