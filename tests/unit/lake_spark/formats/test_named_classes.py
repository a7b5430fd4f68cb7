"""Notes in the footers of Parquet files: which of them name a class."""

from __future__ import annotations

import json
from base64 import b64encode

import pytest

from lake_spark.formats.named_classes import named_class

SPARK = "org.apache.spark.sql.parquet.row.metadata"


def noted(kind) -> str:
    field = {"name": "a", "type": kind, "nullable": True, "metadata": {}}
    return json.dumps({"type": "struct", "fields": [field]})


UDT = {"type": "udt", "class": "a.B", "pyClass": None, "sqlType": "string"}


@pytest.mark.parametrize(
    "notes, words",
    [
        ({SPARK: noted(UDT)}, "column a: the Java class a.B"),
        ({"org.apache.spark.older": noted(UDT)}, "column a: the Java class a.B"),
        ({"x": "1", SPARK: noted(UDT)}, "column a: the Java class a.B"),
        (
            {"ARROW:schema": b64encode(b"\0arrow.py_extension_type\0").decode()},
            "ARROW:schema: a pickled type of Python",
        ),
        ({"y": "arrow.py_extension_type"}, "y: a pickled type of Python"),
    ],
)
def test_a_class_is_named_with_its_place(notes, words):
    assert named_class(notes) == words


@pytest.mark.parametrize(
    "notes",
    [
        {},
        {SPARK: noted("string"), "org.apache.spark.version": "3.5.6"},
        {SPARK: "StructType(List(StructField(a,StringType,true)))"},
        {SPARK: "[" * 100_000},
        {SPARK: None},
        {"ARROW:schema": b64encode(b"arrow.uuid").decode(), "pandas": "{}"},
        {"parquet.avro.schema": '{"type": "string", "java-class": "java.io.File"}'},
    ],
    ids=["none", "plain", "old text", "deep", "null", "arrow", "avro"],
)
def test_honest_notes_and_those_that_no_reader_makes_objects_of_are_none(notes):
    assert named_class(notes) is None
