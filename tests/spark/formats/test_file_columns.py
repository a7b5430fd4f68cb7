"""Columns of files with names and types of every kind: stored, left out or refused by name."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import datetime

import pytest
from pyspark.sql import Row

from lake_spec.model import Column
from lake_spec.text.marked_values import unmarked
from lake_check.parsing.loader import load_domain
from lake_spark.errors import BadFile
from lake_spark.formats.inference import shape_of, with_texts
from lake_spark.formats.schema_evolution import columns_with, name_warnings
from lake_spark.landing.files import list_landing
from lake_spark.reading.reader import Input, read_inputs
from lake_spark.reading.row_expressions import refuse_mismatch
from lake_spark.schema.key_text import key_text
from lake_spark.storage.object_store import FolderStore
from tests.spark.lake import DOMAIN, Lake

THINGS = """
name: things
description: Things with columns of every kind
owner: test-team
source:
  kind: snapshot
  path: tests/things
  files: "**"
  format: {type: FORMAT}
  snapshot_time: {pattern: "(\\\\d{4}-\\\\d{2}-\\\\d{2})"}
columns: {id: int}
key: [id]
storage: {buckets: 1}
"""


@pytest.fixture
def lake_of(spark, tmp_path):
    """A lake of a table of that format, its further columns declared."""

    def make(form, **columns):
        specs = tmp_path / "specs" / "tests"
        specs.mkdir(parents=True, exist_ok=True)
        (specs / "_domain.yml").write_text(DOMAIN)
        (specs / "things.yml").write_text(THINGS.replace("FORMAT", form))
        spec = load_domain("tests", specs.parent).tables[0]
        more = tuple((name, Column(kind)) for name, kind in columns.items())
        spec = replace(spec, columns=(*spec.columns, *more))
        return Lake(spark, tmp_path / "lake", spec)

    return make


def read(spark, lake, path, content):
    """One file as the stages read it: its columns, its warnings, rows and reasons by id."""
    lake.land(path, content, at="2026-02-01")
    (file,) = list_landing(
        FolderStore(), f"file://{lake.root}/landing/tests/things", [path]
    )
    file = replace(file, snapshot_at=file.landed_at)
    shape = shape_of(spark, FolderStore(), file, lake.spec)
    declared = [(name, each.type) for name, each in lake.spec.columns]
    columns = columns_with(lake.spec, file, shape, declared)
    warnings = [(id, unmarked(w)) for id, w in name_warnings(lake.spec, shape)]
    shape = with_texts(shape, lake.spec, columns)
    refuse_mismatch(lake.spec, shape, columns, path)
    rows = read_inputs(spark, lake.spec, [Input(file, shape, 0, None)], columns)
    found = rows.orderBy("id").collect()
    names = [name for name, _ in columns if name != "id"]
    values = [tuple(row[name] for name in names) for row in found]
    reasons = [row.lake_reason and unmarked(row.lake_reason) for row in found]
    return dict(columns), warnings, values, reasons


def parquet(spark, folder, schema, *rows):
    """A Parquet file of any types; a row's values by field, or what fills its group.

    Whole numbers beyond 32 bits are longs to Java, smaller ones are not.
    """
    jvm = spark._jvm
    package = jvm.org.apache.parquet
    kind = package.schema.MessageTypeParser.parseMessageType(
        f"message m {{ {schema} }}"
    )
    path = folder / "made.parquet"
    path.unlink(missing_ok=True)
    target = jvm.org.apache.hadoop.fs.Path(f"file://{path}")
    builder = package.hadoop.example.ExampleParquetWriter.builder(target)
    writer = builder.withType(kind).build()
    for row in rows:
        group = package.example.data.simple.SimpleGroup(kind)
        for name, value in row.items():
            if callable(value):
                value(group)
                continue
            if isinstance(value, bytes):
                value = package.io.api.Binary.fromConstantByteArray(bytearray(value))
            group.add(name, value)
        writer.write(group)
    writer.close()
    return path.read_bytes()


TIMES = """
    required int32 id;
    optional int64 t (TIMESTAMP(NANOS,true));
    optional int64 c (TIME(NANOS,false));
    optional int64 d (TIME(MICROS,true));
    optional int32 e (TIME(MILLIS,true));
    optional fixed_len_byte_array(16) u (UUID);
    optional group s { optional int64 n (TIMESTAMP(NANOS,true)); }
    optional group l (LIST) { repeated group list { optional int64 element (TIME(MICROS,true)); } }
"""
NANOS = 1_700_000_000_123_456_000


def of_times(**more):
    return {
        "t": NANOS,
        "c": 86_399_000_000_001,
        "d": 86_399_000_001,
        "e": 3_661_007,
        "u": bytes(range(16)),
        "s": lambda group: group.addGroup("s").add("n", NANOS),
        "l": lambda group: group.addGroup("l")
        .addGroup("list")
        .add("element", 7_200_000_000),
        **more,
    }


def test_types_that_spark_does_not_read_are_read_where_nothing_is_lost(
    spark, tmp_path, lake_of
):
    content = parquet(
        spark,
        tmp_path,
        TIMES,
        {"id": 1, **of_times()},
        {"id": 2, **of_times(t=NANOS + 1)},
        {"id": 3},
    )
    columns, warnings, rows, reasons = read(
        spark, lake_of("parquet"), "2026-01-01.parquet", content
    )
    at = datetime(2023, 11, 14, 22, 13, 20, 123456)
    assert columns == {
        **{"id": "int", "t": "timestamp", "c": "string", "d": "string", "e": "string"},
        **{"u": "string", "s": "struct<n:timestamp>", "l": "array<string>"},
    }
    assert rows[0] == (
        *(at, "23:59:59.000000001", "23:59:59.000001", "01:01:01.007"),
        *("00010203-0405-0607-0809-0a0b0c0d0e0f", Row(n=at), ["02:00:00.000000"]),
    )
    assert rows[2] == (None,) * 7
    assert reasons == [None, f"t: cannot be read as timestamp: {NANOS + 1}", None]
    assert warnings == []


def test_such_types_are_read_as_what_is_declared(spark, tmp_path, lake_of):
    declared = {"t": "string", "c": "bigint", "d": "bigint", "e": "bigint"}
    content = parquet(
        spark,
        tmp_path,
        TIMES,
        {"id": 1, **of_times(t=NANOS + 1)},
        {"id": 2, **of_times(c=86_399_000_001_000)},
    )
    lake = lake_of("parquet", **declared, u="binary", s="string")
    columns, _, rows, reasons = read(spark, lake, "2026-01-01.parquet", content)
    assert rows[0][:1] == ("2023-11-14T22:13:20.123456001Z",)
    assert rows[1][1:5] == (
        86_399_000_001,
        86_399_000_001,
        3_661_007_000,
        bytes(range(16)),
    )
    assert reasons == ["c: cannot be read as bigint: 86399000000001", None]


@pytest.mark.parametrize(
    "field, words",
    [
        (
            "fixed_len_byte_array(22) x (DECIMAL(50,2))",
            "column 'x' is fixed_len_byte_array(22)",
        ),
        (
            "fixed_len_byte_array(12) x (INTERVAL)",
            "column 'x' is fixed_len_byte_array(12)",
        ),
    ],
)
def test_a_type_without_a_reading_is_refused_by_column_and_type(
    spark, tmp_path, lake_of, field, words
):
    content = parquet(
        spark, tmp_path, f"required int32 id; optional {field};", {"id": 1}
    )
    with pytest.raises(BadFile) as refused:
        read(spark, lake_of("parquet"), "2026-01-01.parquet", content)
    assert refused.value.path == "2026-01-01.parquet" and words in refused.value.reason
    assert "for which the lake has no type. Write it as" in refused.value.reason


def test_a_damaged_file_is_refused_with_what_to_do(spark, tmp_path, lake_of):
    content = parquet(spark, tmp_path, "required int32 id;", {"id": 1})
    lake = lake_of("parquet")
    footer = int.from_bytes(content[-8:-4], "little")
    garbled = content[: -8 - footer] + b"\xff" * footer + content[-8:]
    for damaged in (content[:-6], garbled, b"PAR1"):
        with pytest.raises(BadFile, match="damaged.*Land it again"):
            read(spark, lake, "2026-01-01.parquet", damaged)


def test_bytes_that_are_no_utf8_are_never_read_as_text(spark, tmp_path, lake_of):
    schema = (
        "required int32 id; optional binary a (STRING); optional binary b (STRING);"
    )
    schema += " optional binary c;"
    good = {"a": "é".encode(), "b": "\ufffd".encode(), "c": "ü".encode()}
    content = parquet(
        spark,
        tmp_path,
        schema,
        {"id": 1, **good},
        {"id": 2, **good, "a": b"x\xc3"},
        # Together these would be text.
        {"id": 3, "a": b"\xc3", "b": b"\xa9"},
        {"id": 4, **good, "c": b"\xff\xfe"},
        {"id": 5},
    )
    lake = lake_of("parquet", a="string", b="string", c="string")
    _, _, rows, reasons = read(spark, lake, "2026-01-01.parquet", content)
    assert rows[0] == ("é", "\ufffd", "ü") and rows[4] == (None, None, None)
    assert reasons == [
        None,
        "a: cannot be read as text: bytes that are not UTF-8: 78C3",
        "a: cannot be read as text: bytes that are not UTF-8: C3",
        "c: cannot be read as string: bytes that are not UTF-8: FFFE",
        None,
    ]


def test_nested_values_in_a_text_column_are_the_json_text_of_the_file(spark, lake_of):
    records = [
        {"id": 1, "p": {"a": 1, "b": [1, 2.50]}, "s": {"n": {"x": True}}},
        {"id": 2, "p": None, "s": {"n": {"x": None, "y": "z"}}},
    ]
    content = "\n".join(json.dumps(each) for each in records)
    lake = lake_of("json", p="string", s="struct<n: string>")
    _, _, rows, reasons = read(spark, lake, "2026-01-01.json", content)
    assert rows == [
        ('{"a":1,"b":[1,2.5]}', Row(n='{"x":true}')),
        (None, Row(n='{"x":null,"y":"z"}')),
    ]
    assert reasons == [None, None]


def test_names_that_no_spec_can_say_are_left_out_with_a_warning(spark, lake_of):
    record = {
        "id": 1,
        "(x)": 1,
        "\U0001f600": 2,
        'x"q': 3,
        "b\\s": 4,
        "a;b": 5,
        "ok": 6,
    }
    content = json.dumps({**record, "o": {"p;q": 1, "r": 2}})
    columns, warnings, rows, reasons = read(
        spark, lake_of("json"), "2026-01-01.json", content
    )
    assert list(columns) == ["id", "o", "ok"]
    assert rows == [(Row(r="2"), "6")] and reasons == [None]
    left = ["a;b", "o.p;q", "(x)", "b\\s", 'x"q', "\U0001f600"]
    assert sorted(each.split(" is left out")[0] for _, each in warnings) == sorted(
        f"column {name!r}" for name in left
    )
    unsayable = [each for _, each in warnings if "Rename it in the source" in each]
    assert sorted(each.split("'")[1] for each in unsayable) == ["a;b", "o.p;q"]
    declared = [each for _, each in warnings if "Declare it: columns: {" in each]
    assert len(declared) == 4


def test_such_a_column_of_a_csv_file_is_passed_over(spark, lake_of):
    columns, warnings, rows, _ = read(
        spark,
        lake_of("csv"),
        "2026-01-01.csv",
        'id,a;b,"(x)",c,_lake_corrupt\n1,2,3,4,5\n',
    )
    assert columns == {"id": "int", "c": "string"} and rows == [("4",)]
    words = [each for _, each in warnings]
    assert len(words) == 3
    assert "{a_b: {type: string, source: ['a;b']}}" in " ".join(words)


@pytest.mark.parametrize(
    "name, advice",
    [
        ("Unit Price", "columns: {unit_price: {type: string, source: ['Unit Price']}}"),
        ("_lake_x", "columns: {source_lake_x: {type: string, source: ['_lake_x']}}"),
        ("1st", "columns: {source_1st: {type: string, source: ['1st']}}"),
        ("цена", "columns: {source: {type: string, source: ['цена']}}"),
    ],
)
def test_other_names_are_refused_with_a_declaration_that_works(
    spark, lake_of, name, advice
):
    content = f"id,{name}\n1,x\n"
    with pytest.raises(BadFile) as refused:
        read(spark, lake_of("csv"), "2026-01-01.csv", content)
    reason = unmarked(refused.value.reason)
    assert advice in reason
    (lake_name,) = re.findall(r"{(\w+): {type", reason)
    lake = lake_of("csv")
    column = Column("string", source=(name,))
    lake.spec = replace(lake.spec, columns=(*lake.spec.columns, (lake_name, column)))
    _, _, rows, _ = read(spark, lake, "2026-01-01.csv", content)
    assert rows == [("x",)]


@pytest.mark.parametrize(
    "name", ["Umsatz (\u20ac)", "a;b", 'x"q`', "b\tc", "\U0001f600"]
)
def test_a_declared_column_of_csv_may_have_any_name(spark, lake_of, name):
    lake = lake_of("csv")
    column = Column("string", source=("older", name))
    lake.spec = replace(lake.spec, columns=(*lake.spec.columns, ("x", column)))
    quoted = '"' + name.upper().replace('"', '""') + '"'
    content = f"id,{quoted},,\n1,x,2,3\n"
    columns, warnings, rows, reasons = read(spark, lake, "2026-01-01.csv", content)
    assert rows == [("x",)] and reasons == [None]
    assert columns == {"id": "int", "x": "string"} and len(warnings) == 2


def test_a_column_without_a_name_can_be_declared(spark, lake_of):
    lake = lake_of("csv")
    column = Column("string", source=("",))
    lake.spec = replace(lake.spec, columns=(*lake.spec.columns, ("x", column)))
    _, _, rows, _ = read(spark, lake, "2026-01-01.csv", "id,,\n1,a,b\n")
    assert rows == [("a",)]


def test_key_texts_are_plain_and_differ_where_keys_do(spark):
    keys = [
        "a",
        "a|b",
        "a:b,c%",
        "",
        " a",
        "a ",
        "+",
        "a+b",
        "é",
        "é+",
        "é b",
        "%C3%A9",
    ]
    keys += ["\ufb01x", "\U0001f600x", "a\x01", "a\tb", "ä|b"]
    rows = spark.createDataFrame([(key,) for key in keys], "k string")
    text = key_text([("k", "string")])
    found = {row.k: row.t for row in rows.selectExpr("k", f"{text} AS t").collect()}
    assert len(set(found.values())) == len(keys)
    assert all(each.isascii() and not set(each) & set(",|:") for each in found.values())
    assert [found[key] for key in keys[:6]] == [
        *("a", "a%7Cb", "a%3Ab%2Cc%25", "%", " a", "a "),
    ]
    assert found["\ufb01x"] == "%EF%AC%81x"


@pytest.mark.nightly
def test_what_is_advised_for_an_undeclared_column_of_another_type_helps(lake_of):
    lake = lake_of("json")
    lake.land("2026-01-01.json", '{"id":1,"n":{"x":1}}')
    lake.done("full_load", "incremental", "scd2")
    lake.land("2026-01-02.json", '{"id":1,"n":[1]}')
    assert "as {type: string}, which keeps the JSON text" in str(
        lake.run("incremental")
    )
    columns = (*lake.spec.columns, ("n", Column("string")))
    lake.spec = replace(lake.spec, columns=columns)
    lake.done("incremental", "scd2")
    assert [row.n for row in lake.current.collect()] == ["[1]"]
    texts = {row.n for row in lake.history.collect()}
    assert texts == {'{"x":"1"}', "[1]"}
