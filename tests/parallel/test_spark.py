"""The adapter for Apache Spark, on a real Spark of one process."""

import shutil
from pathlib import Path

import pytest
from samples import list_blocks

pytest.importorskip("pyspark", reason="pyspark is not installed: the extra [spark]")
if not shutil.which("java"):
    pytest.skip("Spark needs Java, version 17 or newer", allow_module_level=True)

import pyarrow
from pyspark.sql import SparkSession

from spacy_pointparse.parallel.spark import _load, _parse_batches, parse

TEXTS = [(1, "Run"), (2, None), (3, " "), (4, "x" * 1_000_001), (5, "Yes")]


@pytest.fixture(scope="module")
def spark():
    builder = SparkSession.builder.master("local[1]")
    builder = builder.config("spark.ui.enabled", "false")
    session = builder.config("spark.sql.shuffle.partitions", "1").getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="module")
def frame(spark):
    return spark.createDataFrame(TEXTS, "id int, text string").coalesce(1)


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")
def test_rows_come_back_with_their_parses(frame, trained_path):
    rows = parse(frame, str(trained_path)).collect()
    assert [(row.id, row.text) for row in rows] == TEXTS
    strings = [row.parse_string for row in rows]
    assert strings == ["(S (VP (VB Run)))", None, "", None, "(UH Yes)"]
    errors = [row.error for row in rows]
    assert errors[3].startswith("ValueError: [E088]")
    assert errors[:3] + errors[4:] == [None] * 4


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")
def test_constituents_become_rows(frame, trained_path):
    parsed = parse(frame.where("id = 1"), str(trained_path))
    rows = parsed.selectExpr("id", "inline(constituents)").collect()
    places = [(row.id, row.start_char, row.end_char, row.label) for row in rows]
    assert places == [(1, 0, 3, "S"), (1, 0, 3, "VP")]
    assert all(0 < row.probability <= 1 for row in rows)


def test_column_of_texts_must_be_there(frame):
    with pytest.raises(ValueError, match="no column of strings named 'texts'"):
        parse(frame, "en_pointparse_sm", column="texts")
    with pytest.raises(ValueError, match="no column of strings named 'id'"):
        parse(frame, "en_pointparse_sm", column="id")


def test_columns_that_are_added_must_be_new(frame):
    named = frame.withColumnRenamed("id", "error")
    with pytest.raises(ValueError, match=r"with these names: \['error'\]"):
        parse(named, "en_pointparse_sm")


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")
def test_column_of_another_case_is_the_same_to_spark(frame):
    named = frame.withColumnRenamed("id", "Error")
    with pytest.raises(ValueError, match=r"with these names: \['Error'\]"):
        parse(named, "en_pointparse_sm")


def test_vocabulary_does_not_grow(trained_path):
    texts = pyarrow.array([f"word{i}" for i in range(300)])
    batch = pyarrow.RecordBatch.from_arrays([texts], names=["text"])
    strings = _load(str(trained_path)).vocab.strings
    before = len(strings)
    [parsed] = _parse_batches(str(trained_path), "text", [batch])
    assert all(parsed.column("parse_string").to_pylist())
    assert len(strings) < before + 100


def test_page_on_spark(frame, trained_path):
    page = Path(__file__).parents[2] / "docs" / "pipelines.md"
    [code] = [block for _, block in list_blocks(page, "py") if "spark" in block]
    names = {"frame": frame}
    exec(code.replace("en_pointparse_sm", str(trained_path)), names)
    columns = ["id", "text", "parse_string", "constituents", "error"]
    assert names["parsed"].columns == columns
