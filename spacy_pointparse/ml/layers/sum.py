"""The sum of several layers' vectors."""

from collections.abc import Callable

from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from ..types import Tok2Vec
from .vector_dropout import init_layers

InT = list[Doc]
OutT = list[Floats2d]


def build_sum(*layers: Tok2Vec) -> Tok2Vec:
    """Build a layer that sums the vectors of several layers.

    *layers (Model[List[Doc], List[Floats2d]]): The layers, all of one width.
    RETURNS (Model[List[Doc], List[Floats2d]]): The layer.
    RAISES (ValueError): At initialization, if the widths differ.
    """
    return Model("sum", forward, init=init, layers=list(layers))


def forward(
    model: Tok2Vec, docs: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    outputs = [layer(docs, is_train=is_train) for layer in model.layers]
    vectors, backprops = zip(*outputs)

    def backprop(d_vectors: OutT) -> InT:
        for backprop_layer in backprops:
            # A copy, since a transformer's listener changes the list.
            backprop_layer(list(d_vectors))
        return docs

    return [_add(parts) for parts in zip(*vectors)], backprop


def _add(parts: tuple[Floats2d, ...]) -> Floats2d:
    # For an empty Doc a transformer's listener returns vectors of width 0.
    if not len(parts[0]):
        return max(parts, key=lambda part: part.shape[1])
    return sum(parts[1:], parts[0])


def init(model: Tok2Vec, X: InT | None = None, Y: OutT | None = None) -> None:
    widths = init_layers(model, X, Y)
    if len(set(widths)) > 1:
        raise ValueError(
            f"The layers of a sum must have the same width, but have {widths}: set "
            "`width` of each to one number."
        )
