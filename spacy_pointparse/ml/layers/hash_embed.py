"""Attributes of tokens, each embedded in a table of hashed rows."""

from collections import Counter
from collections.abc import Iterable
from typing import cast

import numpy
from spacy.tokens import Doc
from thinc.api import (
    HashEmbed,
    Model,
    Ragged,
    chain,
    list2ragged,
    ragged2list,
    with_array,
)
from thinc.types import Floats2d, Ints2d

from ..types import Tok2Vec
from .embed_seen_values import embed_seen_values
from .extract_features import extract_features
from .sum_tables import table_sum


def build_hash_embed(
    width: int, attrs: list[str], rows: list[int], min_count: int = 1
) -> Tok2Vec:
    """Build a layer that embeds attributes of tokens, such as the paper's words and
    tags, each in a table of hashed rows, and sums their vectors. In training it drops
    the vectors of whole attributes, each on its own, and scales up the others, so that
    the parser does not rely on any one of them (Dozat and Manning, 2017). A value that
    was not seen in training counts as dropped, since its rows belong to other values.
    Full-width characters are read as ASCII, so that both forms of a comma are the same.

    width (int): Width of the vectors.
    attrs (List[str]): The attributes, such as "NORM" or "TAG".
    rows (List[int]): Number of rows for each attribute; a value uses four of them.
    min_count (int): Treat values as unseen that are rarer in the data given at
        initialization.
    RETURNS (Model[List[Doc], List[Floats2d]]): The layer.
    RAISES (ValueError): If `attrs` and `rows` differ in length.
    """
    if len(attrs) != len(rows):
        raise ValueError(
            f"HashEmbed needs a number of rows for each attribute: attrs are {attrs}, "
            f"but rows are {rows}."
        )
    tables = [
        embed_seen_values(HashEmbed(nO=width, nV=size, column=i, seed=i))
        for i, size in enumerate(rows)
    ]
    embed: Model = table_sum(tables) if len(tables) > 1 else tables[0]
    layer: Tok2Vec = chain(
        extract_features(attrs),
        cast(Model[list[Ints2d], Ragged], list2ragged()),
        with_array(embed),
        cast(Model[Ragged, list[Floats2d]], ragged2list()),
    )
    layer.attrs["min_count"] = min_count
    return layer


def find_rare_values(model: Model, docs: Iterable[Doc]) -> None:
    """Count the values in training data, and let each layer of a model leave out those
    that are rarer than its `min_count`.

    model (Model): The model, initialized.
    docs (Iterable[Doc]): All Docs that it will be trained on.
    """
    layers = [node for node in model.walk() if node.attrs.get("min_count", 1) > 1]
    if not layers:
        return
    counts = [_make_counters(layer) for layer in layers]
    for doc in docs:
        for layer, counters in zip(layers, counts):
            _count_values(layer, doc, counters)
    for layer, counters in zip(layers, counts):
        _set_rare_values(layer, counters)


def _make_counters(layer: Tok2Vec) -> list[Counter[int]]:
    """Make a counter for each attribute of a layer."""
    return [Counter() for _ in layer.layers[0].attrs["columns"]]


def _count_values(layer: Tok2Vec, doc: Doc, counters: list[Counter[int]]) -> None:
    [features] = layer.layers[0].predict([doc])
    for counter, values in zip(counters, layer.ops.to_numpy(features).T):
        counter.update(values.tolist())


def _set_rare_values(layer: Tok2Vec, counters: list[Counter[int]]) -> None:
    tables = [node for node in layer.walk() if "rare" in node.attrs]
    for table, counter in zip(tables, counters):
        rare = [
            value
            for value, count in counter.items()
            if count < layer.attrs["min_count"]
        ]
        table.attrs["rare"] = numpy.array(sorted(rare), dtype="uint64")
