"""The sum of several layers' vectors."""

from collections.abc import Callable

from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from ..types import Tok2Vec
from .vector_dropout import init_layers


def build_sum(*layers: Tok2Vec) -> Tok2Vec:
    """Build a layer that sums the vectors of several.

    *layers (Model[List[Doc], List[Floats2d]]): The layers, all of one width.
    RETURNS (Model[List[Doc], List[Floats2d]]): Their sum.
    RAISES (ValueError): When initialised, if their widths differ.
    """
    return Model("sum", _forward_sum, init=_init_sum, layers=list(layers))


def _forward_sum(
    model: Tok2Vec, docs: list[Doc], is_train: bool
) -> tuple[list[Floats2d], Callable]:
    outputs = [layer(docs, is_train=is_train) for layer in model.layers]
    vectors, backprops = zip(*outputs)

    def backprop(d_vectors: list[Floats2d]) -> list[Doc]:
        for backprop_layer in backprops:
            # A transformer's listener puts other gradients into the list.
            backprop_layer(list(d_vectors))
        return docs

    return [_add(parts) for parts in zip(*vectors)], backprop


def _add(parts: tuple[Floats2d, ...]) -> Floats2d:
    if not len(parts[0]):  # a transformer's listener gives an empty Doc no width
        return max(parts, key=lambda part: part.shape[1])
    return sum(parts[1:], parts[0])


def _init_sum(
    model: Tok2Vec, X: list[Doc] | None = None, Y: list[Floats2d] | None = None
) -> None:
    widths = init_layers(model, X, Y)
    if len(set(widths)) > 1:
        raise ValueError(
            f"Layers that are summed must have one width, but have {widths}: set "
            "`width` of each to the same number."
        )
