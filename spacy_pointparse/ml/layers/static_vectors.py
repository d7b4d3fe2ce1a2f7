"""Pretrained word vectors that belong to the layer."""

from collections.abc import Callable
from typing import Any

import numpy
from numpy.typing import NDArray
from spacy.attrs import NORM, ORTH
from spacy.tokens import Doc
from spacy.vectors import Vectors
from thinc.api import Linear, Model
from thinc.types import Floats2d

from ..types import Tok2Vec
from .distinct_words import look_up, spread

InT = list[Doc]
OutT = list[Floats2d]


def build_static_vectors(width: int) -> Tok2Vec:
    """Build a layer that looks words up in a table of pretrained vectors, which stay
    fixed, and projects them to a width. A word without a vector gets that of its norm
    (mostly the lower-cased word), or zeros.

    At initialization the layer copies the vectors of the vocab (`initialize.vectors` of
    spaCy's config) and quantizes them to one byte a number. Unlike
    `spacy.StaticVectors.v2`, which looks into the vocab, it works in pipelines with
    other vectors or none.

    width (int): Width of the projected vectors.
    RETURNS (Model[List[Doc], List[Floats2d]]): The layer.
    RAISES (ValueError): At initialization, if the vocab has no vectors, or floret
        vectors.
    """
    return Model(
        "static_vectors",
        forward,
        init=init,
        layers=[Linear(nO=width)],
        dims={"nO": width},
        attrs={"keys": None, "table": None, "scale": None},
    )


def forward(
    model: Tok2Vec, docs: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    empty = numpy.zeros(0, dtype="int64")
    rows = numpy.concatenate([empty, *(_find_rows(model, doc) for doc in docs)])
    distinct, indices = numpy.unique(rows, return_inverse=True)
    vectors = model.ops.asarray2f(model.attrs["table"][distinct], dtype="float32")
    vectors *= model.ops.asarray2f(model.attrs["scale"][distinct])
    types, backprop_types = model.layers[0](vectors, is_train=is_train)
    return spread(model, docs, types, indices, backprop_types)


def _find_rows(model: Tok2Vec, doc: Doc) -> NDArray:
    """Find the row of each token's vector in the table. The last row holds zeros."""
    keys = model.attrs["keys"]
    rows = numpy.full(len(doc), len(keys))
    for words in doc.to_array([NORM, ORTH]).T:
        indices, found = look_up(words, keys)
        rows = numpy.where(found, indices, rows)
    return rows


def init(model: Tok2Vec, X: InT | None = None, Y: OutT | None = None) -> None:
    if X:
        vectors = X[0].vocab.vectors
        if vectors.mode != "default" or not vectors.n_keys:
            raise ValueError(
                "The layer spacy-pointparse.StaticVectors.v1 found no word vectors in "
                "the vocab: set `initialize.vectors` to a pipeline that has a vector "
                "for each word (not floret)."
            )
        model.attrs.update(_quantize(vectors))
    model.layers[0].set_dim("nI", model.attrs["table"].shape[1])
    model.layers[0].initialize()


def _quantize(vectors: Vectors) -> dict[str, Any]:
    """Sort vectors by their keys, add a row of zeros, and quantize each row to bytes
    with a scale of its own."""
    keys = numpy.array(sorted(vectors), dtype="uint64")
    table = vectors.data[vectors.find(keys=keys)]
    table = numpy.vstack([table, numpy.zeros_like(table[:1])])
    scale = abs(table).max(axis=1, keepdims=True) / 127  # (keys + 1, 1)
    scale[scale == 0] = 1.0
    quantized = numpy.rint(table / scale).astype("int8")
    return {"keys": keys, "table": quantized, "scale": scale.astype("float32")}
