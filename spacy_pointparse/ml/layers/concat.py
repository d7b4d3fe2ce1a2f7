"""The vectors of several layers side by side."""

from collections.abc import Callable

import numpy
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from ..types import Tok2Vec
from .vector_dropout import get_shares, init_layers


def build_concat(*layers: Tok2Vec) -> Tok2Vec:
    """Build a layer that puts the vectors of several side by side. In training each of
    a token's vectors is dropped as a whole, by itself, and what is left of the token is
    scaled up, so that no vector leans on another (Dozat and Manning, 2017). A vector of
    zeros, as "spacy-pointparse.HashEmbed.v1" has for a word that it never saw, counts
    as dropped.

    *layers (Model[List[Doc], List[Floats2d]]): The layers.
    RETURNS (Model[List[Doc], List[Floats2d]]): Their vectors, as wide as all together.
    """
    return Model(
        "concat",
        _forward_concat,
        init=_init_concat,
        layers=list(layers),
        dims={"nO": None},
        attrs={"dropout_rate": 0.0},
    )


def _forward_concat(
    model: Tok2Vec, docs: list[Doc], is_train: bool
) -> tuple[list[Floats2d], Callable]:
    ops = model.ops
    outputs = [layer(docs, is_train=is_train) for layer in model.layers]
    parts = [ops.flatten(vectors) for vectors, _ in outputs]
    shares = get_shares(model, parts, is_train)
    ends = numpy.cumsum([part.shape[1] for part in parts]).tolist()
    lengths = ops.asarray1i([len(doc) for doc in docs])

    def backprop(d_vectors: list[Floats2d]) -> list[Doc]:
        d_joined = ops.flatten(d_vectors)
        d_parts = ops.xp.split(d_joined, ends[:-1], axis=1)
        for d_part, share, (_, backprop_layer) in zip(d_parts, shares.T, outputs):
            backprop_layer(ops.unflatten(d_part * share[:, None], lengths))
        return docs

    scaled = [part * share[:, None] for part, share in zip(parts, shares.T)]
    return ops.unflatten(ops.xp.hstack(scaled), lengths), backprop


def _init_concat(
    model: Tok2Vec, X: list[Doc] | None = None, Y: list[Floats2d] | None = None
) -> None:
    if widths := init_layers(model, X, Y):
        model.set_dim("nO", sum(widths))
