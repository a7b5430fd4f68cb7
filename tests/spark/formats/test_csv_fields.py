"""Fields taken apart as they stand: random texts of each way of writing, valid and broken.

A strict reader of plain Python, which knows nothing of the product, says what each holds.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import functions as F

from lake_spec.model import Csv, Engine
from lake_spec.model.column_type import ColumnType
from lake_spec.text.marked_values import unmarked
from lake_spark.formats import csv_fields, csv_reader
from lake_spark.formats.file_schema import Shape
from lake_spark.formats.reader_columns import CORRUPT
from tests.fuzz.judge import Refused, Table, csv_records, means_null
from tests.kinds import one_by_day
from tests.spark.lake import Lake, table
from tests.spark.streaming import stream

PIECES = (
    *("a", "b", " ", '"', '""', '"x"', "\n", "\r\n", "\r", "N", "n", "t", "0", "|"),
    *("\\", "\\", "\\\\", "\\N", '\\"', "\\\n", "\u00e9", "", "\\N\\"),
)
KINDS = {
    "mysql": Csv(header=False, delimiter="|", escape="\\", null_text=("\\N",)),
    "quoted": Csv(header=False, delimiter="|", escape="\\", null_text=("", "N")),
    "nulls": Csv(header=False, delimiter="|", null_text=("", "N"), quoted_null=False),
}
SHAPE = Shape((("x", ColumnType("string")), ("y", ColumnType("string"))))


def judged(text, kind):
    """What the text holds: values or None for another number of fields; None if refused."""
    reads = Table("csv", {}, (), null_text=kind.null_text)
    reads = replace(reads, escape=kind.escape or "", quoted_null=kind.quoted_null)
    try:
        records = list(csv_records(text, kind.delimiter, kind.escape or ""))
    except Refused:
        return None
    return [
        (
            tuple(
                None if means_null(reads, written) else value
                for value, written in zip(each.fields, each.written)
            )
            if len(each.fields) == 2
            else None
        )
        for each in records
    ]


def random_text(random):
    def field():
        return "".join(
            random.choice(PIECES) for _ in range(random.choice((0, 1, 2, 4)))
        )

    lines = [f"{field()}|{field()}" for _ in range(random.choice((1, 2, 4)))]
    return "\n".join(lines) + random.choice(("\n", ""))


@pytest.mark.parametrize("name", one_by_day(list(KINDS)))
def test_a_random_text_gives_its_values_or_is_refused(spark, tmp_path, name):
    kind, random = KINDS[name], Random(27)
    expected, uris = {}, {}
    for number in range(400):
        text = random_text(random)
        path = tmp_path / f"{number:03d}.csv"
        path.write_bytes(text.encode() or b"\n")
        expected[path.name] = judged(text, kind)
        uris[f"file://{path}"] = f"file://{path}"
    checked = csv_reader.check(
        spark, kind, {f: u for f, u in file_names(spark, uris)}, {}
    )
    good = [uri for name, uri in file_names(spark, uris) if name not in checked.reasons]
    rows = csv_fields.load(spark, kind, SHAPE, good)
    rows = rows.select(F.input_file_name().alias("file"), "*")
    rows = rows.withColumn("number", F.monotonically_increasing_id())
    found = {Path(uri).name: [] for uri in good}
    for row in rows.orderBy("number").collect():
        value = None if row[CORRUPT] is not None else (row.x, row.y)
        found[Path(row.file).name].append(value)
    counts = {Path(name).name: n for name, n in checked.records.items()}
    assert counts == {name: len(rows) for name, rows in found.items()}
    wrong = {
        path: (found.get(path), rows, (tmp_path / path).read_bytes())
        for path, rows in expected.items()
        if found.get(path) != rows and not may_be_refused(tmp_path / path, kind, found)
    }
    assert wrong == {}
    assert len(found) > 100 and len(checked.reasons) > 20
    words = [unmarked(reason) for _, reason in checked.reasons.values()]
    assert all("Fix the file and land it again" in each for each in words)


def may_be_refused(path, kind, found):
    """Whether the file has a carriage return alone, which may refuse it."""
    bare = path.read_bytes().replace(b"\r\n", b"")
    return not kind.escape and path.name not in found and b"\r" in bare


def file_names(spark, uris):
    path = spark._jvm.org.apache.hadoop.fs.Path
    return [(path(uri).toUri().toString(), uri) for uri in uris]


@pytest.mark.parametrize(
    "text, where",
    [
        ("id|v\n1|a\\\nb\n2|x\\", "nothing follows an escape in record 2 (line 4)"),
        ('id|v\n1|"a\nb"\n2|"x\ny', "that never ends in record 2 (line 4): '2|\"x'"),
        ('id|v\n1|a\n\n2|"x"y', "text after a closing quote in record 2 (line 4)"),
        ("id|v\n1|a\n2|\0", "there is a NUL character in line 3"),
        (b"id|v\n1|a\n2|caf\xe9", "byte E9 is not UTF-8 in line 3"),
    ],
)
def test_a_broken_text_is_refused_with_its_place(spark, tmp_path, text, where):
    path = tmp_path / "1.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    kind = replace(KINDS["quoted"], header=True)
    ((name, uri),) = file_names(spark, [f"file://{path}"])
    checked = csv_reader.check(spark, kind, {name: uri}, {})
    ((_, reason),) = checked.reasons.values()
    assert where in unmarked(reason)


def test_a_file_that_does_not_fit_into_memory_is_refused(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(csv_fields, "LARGEST_FILE", 8)
    path = tmp_path / "1.csv"
    path.write_bytes(b"1|a\n2|b\n3|c\n")
    ((name, uri),) = file_names(spark, [f"file://{path}"])
    checked = csv_reader.check(spark, KINDS["mysql"], {name: uri}, {})
    ((_, reason),) = checked.reasons.values()
    assert reason.startswith("has 12 bytes when decompressed") and "in parts" in reason
    assert checked.records == {}


SPEC = """
source:
  kind: feed
  path: tests/things
  format: {type: csv, delimiter: "|", escape: "\\\\", null_text: ["NULL"]}
  load: "load/*"
  changes: "changes/*"
columns: {id: string, v: string, n: int, at: timestamp}
key: [id]
order_by: [at]
storage: {buckets: 1}
"""
LOAD = (
    "id|v|n|at\n1|C:\\\\dir|1|2026-01-01\n2|\\N|\\N|2026-01-01\n3|a\\|b\\\nc|3|2026-01-01\n"
    '"4"|"say \\"hi\\""|4|2026-01-01\n5|\\\\N|x|2026-01-01\n'
)
VALUES = [("1", "C:\\dir", 1), ("2", None, None), ("3", "a|b\nc", 3)]
VALUES += [("4", 'say "hi"', 4)]


@pytest.fixture(scope="module")
def things(spark, tmp_path_factory):
    lake = Lake(spark, tmp_path_factory.mktemp("escapes"), table(SPEC))
    lake.land("load/1.csv", LOAD, at="2026-02-01")
    lake.report = lake.run("full_load")
    return lake


def values(lake):
    return sorted(
        (r.id, r.v, r.n) for r in lake.changes.select("id", "v", "n").collect()
    )


def test_values_are_those_that_the_source_wrote(things):
    assert values(things) == VALUES
    assert [each.lake_record for each in things.tables.quarantine.read().collect()] == [
        5
    ]


def test_an_escape_that_is_declared_later_is_a_changed_definition(things, spark):
    spec = things.spec
    other = replace(spec.source.format, escape=None)
    lake = Lake(
        spark, things.root, replace(spec, source=replace(spec.source, format=other))
    )
    lake.land("changes/1.csv", "id|v|n|at\n1|x|1|2026-01-02\n", at="2026-02-02")
    report = lake.run("incremental")
    lake.remove("changes/1.csv")
    assert 'source.format.escape was "\\\\", now null' in report.error["message"]


@pytest.mark.nightly
def test_the_streamer_reads_the_same_values(things, tmp_path):
    """Of Spark 3.4, by the same expressions."""
    streamed = Lake(
        things.spark, tmp_path, replace(things.spec, engine=Engine.STREAMER)
    )
    streamed.land("load/1.csv", LOAD, at="2026-02-01")
    assert stream(streamed, "full_load", tmp_path) == 0
    streamed.done("full_load")
    assert values(streamed) == VALUES
