"""Parse a column of texts on Apache Spark."""

from collections.abc import Iterable, Iterator
from functools import cache, partial
from typing import Any

import pyarrow
import spacy
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StringType, StructType
from spacy.language import Language

from ..tokens.export import describe
from .processes import parse_texts

_BRACKET = {
    "start_char": pyarrow.int32(),
    "end_char": pyarrow.int32(),
    "label": pyarrow.string(),
    "probability": pyarrow.float32(),
}
_TYPES = {
    "parse_string": pyarrow.string(),
    "constituents": pyarrow.list_(pyarrow.struct(_BRACKET.items())),
    "error": pyarrow.string(),
}


def parse(frame: DataFrame, pipeline: str, *, column: str = "text") -> DataFrame:
    """Parse a column of texts. Each worker process loads the pipeline once. Texts that
    fail or are null keep their rows.

    frame (DataFrame): The texts. Other columns are kept.
    pipeline (str): Name or path of a pipeline with a `pointing_parser`. It and this
        package must be installed on every worker.
    column (str): Name of the column of texts.
    RETURNS (DataFrame): The same rows with three more columns: "parse_string", the
        trees of the text, one per line; "constituents", a struct for each bracket in
        pre-order, with character offsets; "error", what went wrong, or null.
    RAISES (ValueError): If there is no such column of strings, or a column has the name
        of a new one. Spark ignores the case of names.
    """
    types = {field.name: field.dataType for field in frame.schema.fields}
    if not isinstance(types.get(column), StringType):
        raise ValueError(
            f"The frame has no column of strings named {column!r}. Its columns are "
            f"{frame.dtypes}. Name the one that contains the texts: column=..."
        )
    taken = sorted(name for name in types if name.lower() in _TYPES)
    if taken:
        raise ValueError(f"The frame already has columns with these names: {taken}.")
    added = from_arrow_schema(pyarrow.schema(_TYPES.items())).fields
    schema = StructType([*frame.schema.fields, *added])
    return frame.mapInArrow(partial(_parse_batches, pipeline, column), schema)


def _parse_batches(
    pipeline: str, column: str, batches: Iterable[pyarrow.RecordBatch]
) -> Iterator[pyarrow.RecordBatch]:
    nlp = _load(pipeline)
    for batch in batches:
        texts = batch.column(column).to_pylist()
        parsed = parse_texts(nlp, (text for text in texts if text is not None))
        with nlp.memory_zone():  # otherwise the vocabulary grows with every new word
            rows = [({} if text is None else describe(next(parsed))) for text in texts]
        yield pyarrow.RecordBatch.from_arrays(
            [*batch.columns, *(_make_column(name, rows) for name in _TYPES)],
            names=[*batch.schema.names, *_TYPES],
        )


def _make_column(name: str, rows: list[dict[str, Any]]) -> pyarrow.Array:
    return pyarrow.array([row.get(name) for row in rows], _TYPES[name])


@cache  # worker processes are reused for several tasks
def _load(pipeline: str) -> Language:
    return spacy.load(pipeline)
