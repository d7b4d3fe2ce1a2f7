"""Pretrained word vectors, kept by the layer."""

from collections.abc import Callable
from typing import Any

import numpy
from spacy.attrs import NORM, ORTH
from spacy.tokens import Doc
from spacy.vectors import Vectors
from thinc.api import Linear, Model
from thinc.types import Floats2d, Ints1d

from ..types import Tok2Vec
from .word_types import look_up, spread


def build_static_vectors(width: int) -> Tok2Vec:
    """Build a layer that looks words up among pretrained vectors, which do not learn,
    and projects them to a width, which learns. A word without a vector has that of its
    norm (the lower-cased word, as a rule), or zeros.

    The vectors are those of the vocab (`initialize.vectors` of spaCy's config) when the
    layer is initialised. It keeps them itself, each number as one byte: where
    `spacy.StaticVectors.v2` looks into the vocab, this one goes with its component
    into pipelines of other vectors or none.

    width (int): Width of the projected vectors.
    RETURNS (Model[List[Doc], List[Floats2d]]): The layer.
    RAISES (ValueError): When initialised, if the vocab has no vectors or these are
        made of subwords (floret).
    """
    return Model(
        "static_vectors",
        _forward_static,
        init=_init_static,
        layers=[Linear(nO=width)],
        dims={"nO": width},
        attrs={"keys": None, "table": None, "scale": None},
    )


def _forward_static(
    model: Tok2Vec, docs: list[Doc], is_train: bool
) -> tuple[list[Floats2d], Callable]:
    empty = numpy.zeros(0, dtype="int64")
    rows = numpy.concatenate([empty, *(_find_rows(model, doc) for doc in docs)])
    distinct, places = numpy.unique(rows, return_inverse=True)
    table = model.ops.asarray2f(model.attrs["table"][distinct], dtype="float32")
    table *= model.ops.asarray2f(model.attrs["scale"][distinct])
    types, backprop_types = model.layers[0](table, is_train=is_train)
    return spread(model, docs, types, places, backprop_types)


def _find_rows(model: Tok2Vec, doc: Doc) -> Ints1d:
    """The row of each token's vector in the table, whose last row is zeros."""
    keys = model.attrs["keys"]
    rows = numpy.full(len(doc), len(keys))
    for words in doc.to_array([NORM, ORTH]).T:
        places, found = look_up(words, keys)
        rows = numpy.where(found, places, rows)
    return rows


def _init_static(
    model: Tok2Vec, X: list[Doc] | None = None, Y: list[Floats2d] | None = None
) -> None:
    if X:
        vectors = X[0].vocab.vectors
        if vectors.mode != "default" or not vectors.n_keys:
            raise ValueError(
                "The layer spacy-pointparse.StaticVectors.v1 found no word vectors in "
                "the vocab to take: name a pipeline that has a vector for each word "
                "in `initialize.vectors` (not floret)."
            )
        model.attrs.update(_quantize(vectors))
    model.layers[0].set_dim("nI", model.attrs["table"].shape[1])
    model.layers[0].initialize()


def _quantize(vectors: Vectors) -> dict[str, Any]:
    """The keys of vectors in order; their vectors as bytes, above a row of zeros; and
    what a step of these bytes is worth in each row."""
    keys = numpy.array(sorted(vectors), dtype="uint64")
    table = vectors.data[vectors.find(keys=keys)]
    table = numpy.vstack([table, numpy.zeros_like(table[:1])])
    scale = abs(table).max(axis=1, keepdims=True) / 127
    scale[scale == 0] = 1.0
    steps = numpy.rint(table / scale).astype("int8")
    return {"keys": keys, "table": steps, "scale": scale.astype("float32")}
