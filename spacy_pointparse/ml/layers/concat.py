"""The vectors of several layers side by side."""

from collections.abc import Callable

import numpy
from spacy.tokens import Doc
from thinc.api import Model, get_array_module
from thinc.types import Floats2d

from ..types import Tok2Vec
from .vector_dropout import get_scales, init_layers

InT = list[Doc]
OutT = list[Floats2d]


def build_concat(*layers: Tok2Vec) -> Tok2Vec:
    """Build a layer that concatenates the vectors of several layers. In training it
    drops whole vectors of a token, each on its own, and scales up the others, so that
    the parser does not rely on any one of them (Dozat and Manning, 2017). A vector of
    zeros counts as dropped: "spacy-pointparse.HashEmbed.v1" gives one to a word that it
    did not see in training.

    *layers (Model[List[Doc], List[Floats2d]]): The layers.
    RETURNS (Model[List[Doc], List[Floats2d]]): The layer, as wide as all of them
        together.
    """
    return Model(
        "concat",
        forward,
        init=init,
        layers=list(layers),
        dims={"nO": None},
        attrs={"dropout_rate": 0.0},
    )


def forward(
    model: Tok2Vec, docs: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    ops = model.ops
    outputs = [layer(docs, is_train=is_train) for layer in model.layers]
    parts = [ops.flatten(vectors) for vectors, _ in outputs]
    scales = get_scales(model, parts, is_train)
    ends = numpy.cumsum([part.shape[1] for part in parts]).tolist()
    lengths = ops.asarray1i([len(doc) for doc in docs])
    xp = get_array_module(parts[0])

    def backprop(d_vectors: OutT) -> InT:
        # (tokens, width of all) to (tokens, width) for each layer
        d_parts = xp.split(ops.flatten(d_vectors), ends[:-1], axis=1)
        for d_part, scale, (_, backprop_layer) in zip(d_parts, scales, outputs):
            backprop_layer(ops.unflatten(d_part * scale, lengths))
        return docs

    scaled = [part * scale for part, scale in zip(parts, scales)]
    return ops.unflatten(xp.hstack(scaled), lengths), backprop


def init(model: Tok2Vec, X: InT | None = None, Y: OutT | None = None) -> None:
    if widths := init_layers(model, X, Y):
        model.set_dim("nO", sum(widths))
