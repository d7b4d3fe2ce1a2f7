"""The sum of the vectors of several tables."""

from collections.abc import Callable

from thinc.api import Model
from thinc.types import Floats2d, Ints2d

from ..types import Table
from .vector_dropout import get_scales

InT = Ints2d
OutT = Floats2d


def table_sum(tables: list[Table]) -> Table:
    """Build a layer that sums the vectors of several tables. It drops vectors as
    "spacy-pointparse.Concat.v1" does.

    tables (List[Model[Ints2d, Floats2d]]): The tables, all of one width.
    RETURNS (Model[Ints2d, Floats2d]): The layer.
    """
    return Model(
        "table_sum",
        forward,
        init=init,
        layers=tables,
        dims={"nO": tables[0].get_dim("nO")},
        attrs={"dropout_rate": 0.0},
    )


def forward(
    model: Table, features: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    outputs = [table(features, is_train=is_train) for table in model.layers]
    parts = [vectors for vectors, _ in outputs]
    scales = get_scales(model, parts, is_train)

    def backprop(d_vectors: OutT) -> InT:
        for scale, (_, backprop_table) in zip(scales, outputs):
            backprop_table(d_vectors * scale)
        return features

    # In place, which saves the time of allocating large arrays.
    total = parts[0]
    total *= scales[0]
    for part, scale in zip(parts[1:], scales[1:]):
        part *= scale
        total += part
    return total, backprop


def init(model: Table, X: InT | None = None, Y: OutT | None = None) -> None:
    for table in model.layers:
        table.initialize()
