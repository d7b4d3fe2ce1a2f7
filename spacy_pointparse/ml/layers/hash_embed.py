"""Attributes of tokens, each embedded in a table of hashed rows."""

import re
from collections import Counter
from collections.abc import Callable, Iterable

import numpy
from numpy.typing import NDArray
from spacy.ml.featureextractor import forward as extract_features
from spacy.tokens import Doc
from thinc.api import HashEmbed, Model, chain, list2ragged, ragged2list, with_array
from thinc.types import Floats2d, Ints1d, Ints2d

from ..types import Table, Tok2Vec
from .vector_dropout import get_shares
from .word_types import look_up

_NARROW = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_WIDE = re.compile("[\uff01-\uff5e]")


def build_hash_embed(
    width: int, attrs: list[str], rows: list[int], min_count: int = 1
) -> Tok2Vec:
    """Build a layer that embeds attributes of tokens, such as the words and tags of the
    paper, each in a table of hashed rows, and sums them. In training each of a token's
    attributes is dropped as a whole, by itself, and what is left of the token is scaled
    up, so that none leans on another (Dozat and Manning, 2017). A value that was never
    seen in training counts as dropped: its rows are those of other values. Full-width
    characters count as the ASCII ones that they are wide forms of: a comma as a comma.

    width (int): Width of the vectors.
    attrs (List[str]): The attributes, as "NORM" or "TAG".
    rows (List[int]): Number of rows for each; a value has four of them.
    min_count (int): A value that the first training data have less often counts as
        never seen.
    RETURNS (Model[List[Doc], List[Floats2d]]): The layer.
    RAISES (ValueError): If there are not as many numbers of rows as attributes.
    """
    if len(attrs) != len(rows):
        raise ValueError(
            f"Attributes {attrs} need a number of rows each, but rows are {rows}."
        )
    tables = [
        _know(HashEmbed(nO=width, nV=size, column=i, seed=i))
        for i, size in enumerate(rows)
    ]
    embed = build_table_sum(*tables) if len(tables) > 1 else tables[0]
    extract = Model("extract_features", _forward_features, attrs={"columns": attrs})
    layer = chain(extract, list2ragged(), with_array(embed), ragged2list())
    layer.attrs["min_count"] = min_count
    return layer


def find_rare_values(model: Model, docs: Iterable[Doc]) -> None:
    """Let the layers of a model that leave rare values out find out what is rare.

    model (Model): The model, initialised.
    docs (Iterable[Doc]): The Docs that are to train it.
    """
    layers = [node for node in model.walk() if node.attrs.get("min_count", 1) > 1]
    if not layers:
        return
    counts: list[list[Counter[int]]] = [
        [Counter() for _ in layer.layers[0].attrs["columns"]] for layer in layers
    ]
    for doc in docs:
        for layer, columns in zip(layers, counts):
            [features] = layer.layers[0].predict([doc])
            for column, values in zip(columns, layer.ops.to_numpy(features).T):
                column.update(values.tolist())
    for layer, columns in zip(layers, counts):
        tables = [node for node in layer.walk() if node.name == "known"]
        for table, column in zip(tables, columns):
            least = layer.attrs["min_count"]
            rare = sorted(value for value, count in column.items() if count < least)
            table.attrs["rare"] = numpy.array(rare, dtype="uint64")


def _forward_features(
    model: Model, docs: list[Doc], is_train: bool
) -> tuple[list[Ints2d], Callable]:
    columns = model.attrs["columns"]
    narrow = [_narrow(doc, columns) if _WIDE.search(doc.text) else doc for doc in docs]
    return extract_features(model, narrow, is_train)


def _narrow(doc: Doc, columns: list[str]) -> Doc:
    """Copy a Doc, as far as its columns go, with ASCII characters for wide ones."""
    words = [token.text.translate(_NARROW) for token in doc]
    copy = Doc(doc.vocab, words=words).from_array(columns, doc.to_array(columns))
    for token, twin in zip(doc, copy):
        twin.norm_ = token.norm_.translate(_NARROW)
    return copy


def _know(table: Table) -> Table:
    """Let a table embed what it has learnt, and nothing else once it has, nor what is
    rare. What was trained before tables kept count has seen who knows what, and goes on
    as it is."""
    return Model(
        "known",
        _forward_known,
        init=_init_known,
        layers=table.layers,
        dims={"nO": table.get_dim("nO")},
        attrs={"seen": None, "rare": numpy.zeros(0, dtype="uint64")},
    )


def _forward_known(
    model: Table, features: Ints2d, is_train: bool
) -> tuple[Floats2d, Callable]:
    column, table = model.layers
    keys, backprop_column = column(features, is_train=is_train)
    vectors, backprop_table = table(keys, is_train=is_train)
    known = _find_known(model, model.ops.to_numpy(keys), is_train)
    left_out = model.ops.xp.asarray(numpy.flatnonzero(~known))
    vectors[left_out] = 0

    def backprop(d_vectors: Floats2d) -> Ints2d:
        if len(left_out):
            d_vectors = d_vectors.copy()
            d_vectors[left_out] = 0
        return backprop_column(backprop_table(d_vectors))

    return vectors, backprop


def _find_known(model: Table, values: Ints1d, is_train: bool) -> NDArray:
    """Say which values a table embeds. In training it learns all that are not rare."""
    seen = model.attrs["seen"]
    if seen is None or (not is_train and not len(seen)):
        return numpy.ones(len(values), "bool")
    _, known = look_up(values, seen)
    if is_train and not known.all():
        _, rare = look_up(values, model.attrs["rare"])
        new = values[~known & ~rare]
        if len(new):
            model.attrs["seen"] = numpy.union1d(seen, new)
        known = ~rare
    return known


def _init_known(
    model: Table, X: Ints2d | None = None, Y: Floats2d | None = None
) -> None:
    model.attrs["seen"] = model.attrs["rare"] = numpy.zeros(0, dtype="uint64")
    _, table = model.layers
    table.initialize()


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


def _forward_table_sum(
    model: Table, features: Ints2d, is_train: bool
) -> tuple[Floats2d, Callable]:
    outputs = [table(features, is_train=is_train) for table in model.layers]
    parts = [vectors for vectors, _ in outputs]
    shares = get_shares(model, parts, is_train)

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


def _init_table_sum(
    model: Table, X: Ints2d | None = None, Y: Floats2d | None = None
) -> None:
    for table in model.layers:
        table.initialize()
