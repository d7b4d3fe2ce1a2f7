"""Layers that put the vectors of others together: summed or side by side. In training
some drop the vectors of a layer as a whole."""

from collections.abc import Callable

import numpy
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d, Ints2d

Tok2Vec = Model[list[Doc], list[Floats2d]]
Table = Model[Ints2d, Floats2d]


def build_sum(*layers: Tok2Vec) -> Tok2Vec:
    """Build a layer that sums the vectors of several.

    *layers (Model[List[Doc], List[Floats2d]]): The layers, all of one width.
    RETURNS (Model[List[Doc], List[Floats2d]]): Their sum.
    RAISES (ValueError): When initialised, if their widths differ.
    """
    return Model("sum", _forward_sum, init=_init_sum, layers=list(layers))


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


def build_table_sum(*tables: Table) -> Table:
    """Build a layer that sums the vectors of several tables, in place. In training each
    of a token's vectors is dropped as those of "spacy-pointparse.Concat.v1" are.

    *tables (Model[Ints2d, Floats2d]): The tables, all of one width.
    RETURNS (Model[Ints2d, Floats2d]): Their sum.
    """
    return Model(
        "table_sum",
        _forward_table_sum,
        init=_init_table_sum,
        layers=list(tables),
        dims={"nO": tables[0].get_dim("nO")},
        attrs={"dropout_rate": 0.0},
    )


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
    widths = _init_layers(model, X, Y)
    if len(set(widths)) > 1:
        raise ValueError(
            f"Layers that are summed must have one width, but have {widths}: set "
            "`width` of each to the same number."
        )


def _forward_concat(
    model: Tok2Vec, docs: list[Doc], is_train: bool
) -> tuple[list[Floats2d], Callable]:
    ops = model.ops
    outputs = [layer(docs, is_train=is_train) for layer in model.layers]
    parts = [ops.flatten(vectors) for vectors, _ in outputs]
    shares = _get_shares(model, parts, is_train)
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


def _forward_table_sum(
    model: Table, features: Ints2d, is_train: bool
) -> tuple[Floats2d, Callable]:
    outputs = [table(features, is_train=is_train) for table in model.layers]
    parts = [vectors for vectors, _ in outputs]
    shares = _get_shares(model, parts, is_train)

    def backprop(d_vectors: Floats2d) -> Ints2d:
        for share, (_, backprop_table) in zip(shares.T, outputs):
            backprop_table(d_vectors * share[:, None])
        return features

    total, *rest = parts
    total *= shares[:, :1]
    for part, share in zip(rest, shares.T[1:]):
        part *= share[:, None]
        total += part
    return total, backprop


def _get_shares(model: Model, parts: list[Floats2d], is_train: bool) -> Floats2d:
    """What each vector of each token is multiplied with, zero if it is dropped: a
    token's add up to the number of layers, unless all are dropped."""
    ops = model.ops
    rate = model.attrs["dropout_rate"] if is_train else 0.0
    present = ops.xp.stack([part.any(axis=1) for part in parts], axis=1)
    kept = present & (ops.get_dropout_mask(present.shape, rate) > 0)
    left = ops.xp.maximum(kept.sum(axis=1, keepdims=True), 1)
    return ops.asarray2f(kept * (len(parts) / left), dtype="float32")


def _init_table_sum(
    model: Table, X: Ints2d | None = None, Y: Floats2d | None = None
) -> None:
    for table in model.layers:
        table.initialize()


def _init_concat(
    model: Tok2Vec, X: list[Doc] | None = None, Y: list[Floats2d] | None = None
) -> None:
    if widths := _init_layers(model, X, Y):
        model.set_dim("nO", sum(widths))


def _init_layers(
    model: Tok2Vec, X: list[Doc] | None, Y: list[Floats2d] | None
) -> list[int]:
    """Initialise each layer. RETURNS (List[int]): Their widths, if there are Docs."""
    for layer in model.layers:
        layer.initialize(X=X, Y=Y)
    return [layer.predict(X)[0].shape[1] for layer in model.layers] if X else []
