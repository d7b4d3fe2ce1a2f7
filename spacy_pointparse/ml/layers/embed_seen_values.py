"""Tables that embed only what was seen in training."""

from collections.abc import Callable

import numpy
from numpy.typing import NDArray
from thinc.api import Model, get_array_module
from thinc.types import Floats2d, Ints2d

from ..types import Table
from .distinct_words import look_up

InT = Ints2d
OutT = Floats2d


def embed_seen_values(table: Table) -> Table:
    """Build a layer that embeds values with a table of hashed rows, and gives zeros to
    values that it did not see in training or that are rare. Before any training, all
    values are embedded.

    table (Model[Ints2d, Floats2d]): The table, as of thinc's `HashEmbed`.
    RETURNS (Model[Ints2d, Floats2d]): The layer. Its attributes are the sorted arrays
        "seen" and "rare". In models trained before there were such arrays, "seen" is
        None, and all values are embedded.
    """
    return Model(
        "known",
        forward,
        init=init,
        layers=table.layers,
        dims={"nO": table.get_dim("nO")},
        attrs={"seen": None, "rare": numpy.zeros(0, dtype="uint64")},
    )


def forward(
    model: Table, features: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    select_column, table = model.layers
    keys, backprop_column = select_column(features, is_train=is_train)
    vectors, backprop_table = table(keys, is_train=is_train)
    values = model.ops.to_numpy(keys)
    embedded = _is_embedded(model, values, is_train)
    masked = get_array_module(vectors).asarray(numpy.flatnonzero(~embedded))
    vectors[masked] = 0

    def backprop(d_vectors: OutT) -> InT:
        # Values cannot be collected at initialization: in training other components
        # set tags, augmenters change words, and new data may come later.
        if is_train:
            _add_seen_values(model, values[embedded])
        if len(masked):
            d_vectors = d_vectors.copy()
            d_vectors[masked] = 0
        return backprop_column(backprop_table(d_vectors))

    return vectors, backprop


def _is_embedded(model: Table, values: NDArray, is_train: bool) -> NDArray:
    """Tell which values to embed: in training those that are not rare, later those seen
    in training. Shape (values,)."""
    seen = model.attrs["seen"]
    if seen is None or (not is_train and not len(seen)):
        return numpy.ones(len(values), "bool")
    if is_train:
        _, rare = look_up(values, model.attrs["rare"])
        return ~rare
    return look_up(values, seen)[1]


def _add_seen_values(model: Table, values: NDArray) -> None:
    seen = model.attrs["seen"]
    if seen is not None:
        new = values[~look_up(values, seen)[1]]
        if len(new):
            model.attrs["seen"] = numpy.union1d(seen, new)


def init(model: Table, X: InT | None = None, Y: OutT | None = None) -> None:
    model.attrs["seen"] = model.attrs["rare"] = numpy.zeros(0, dtype="uint64")
    _, table = model.layers
    table.initialize()
