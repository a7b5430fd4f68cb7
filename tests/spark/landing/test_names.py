"""Names of landing files are literal: each is read once and exactly, or refused by name."""

from __future__ import annotations

import shutil

import pytest
from pyspark.sql import functions as F

from lake_spec.model.column_type import ColumnType
from lake_spark.formats.file_schema import Shape
from lake_spark.formats.reader_columns import FILE
from lake_spark.ingest.unseen_files import landing_of
from lake_spark.reading import reader
from lake_spark.schema.columns import TEXT
from tests.spark.lake import Lake, table

ODD = (
    *(
        "[ab].csv",
        "a.csv",
        "{a,b}.csv",
        "*.csv",
        "?.csv",
        "a\\b.csv",
        "a b .csv",
        " a.csv",
    ),
    *("100%.csv", "%41.csv", "A.csv", "a%20b.csv", "a+b.csv", "h#i.csv", "l,m.csv"),
    *(
        "\u00e9.csv",
        "e\u0301.csv",
        "n\nl.csv",
        "t\tb.csv",
        "x\ny/\u2028.csv",
        "c:/d.csv",
    ),
    *("d[1]/a.csv", "d1/a.csv", "p=1/a.csv", "'q'.csv", '"d".csv', "\U0001f600.csv"),
    *[
        f"more/{number}.csv" for number in range(8)
    ],  # over 32 are listed by Spark's tasks
    *("a;b.csv", "${a}.csv", "^x|y~.csv", "\\u0041.csv", "%5Cn.csv"),
)
SPEC = """
source:
  kind: feed
  path: tests/things
  load: "**/*.csv"
  changes: "none/*.csv"
  format: {type: csv}
columns: {id: int, at: timestamp}
key: [id]
order_by: [at]
storage: {buckets: 1}
"""
ROW = "id,at\n%d,2026-01-01 00:00:00\n"


def test_each_name_is_read_once_and_what_cannot_be_is_refused_by_name(spark, tmp_path):
    lake = Lake(spark, tmp_path, table(SPEC))
    for number, name in enumerate(ODD):
        lake.land(name, ROW % number)
    for name in ("12:30.csv", "b.CSV", "_hidden.csv", "c.csv._COPYING_"):
        lake.land(name, ROW % 99)
    report = lake.run("full_load")
    assert sorted((each.path, each.accepted) for each in report.files) == sorted(
        (name, 1) for name in ODD
    )
    (aside,) = report.set_aside
    assert aside["path"] == "12:30.csv" and "Land it under another" in aside["reason"]
    (warned,) = report.warnings
    assert "2 object(s) below" in warned and "b.CSV, c.csv._COPYING_" in warned
    found = lake.changes.select("lake_path", "id").collect()
    assert sorted(map(tuple, found)) == sorted(
        (name, number) for number, name in enumerate(ODD)
    )


@pytest.mark.parametrize("form", ["json", "parquet", "orc", "avro"])
def test_every_format_reads_the_file_of_that_name(spark, tmp_path, form):
    lake = Lake(spark, tmp_path, table(SPEC.replace("csv", form)))
    made = spark.sql("SELECT 1 AS id").coalesce(1)
    made.write.format(form).save(str(tmp_path / "made"))
    (file,) = (tmp_path / "made").glob(f"*.{form}")
    for name in ODD:
        to = lake.root / "landing/tests/things" / name.replace("csv", form)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, to)
    files = landing_of(lake.tables, ["**"]).files
    names = [reader.file_name(spark, each) for each in files]
    shape = Shape((("id", TEXT if form == "json" else ColumnType("int")),))
    read = reader.load(spark, lake.spec, shape, [each.uri for each in files])
    found = read.select(F.col(FILE).alias("file"), "id").collect()
    assert sorted((row.file, int(row.id)) for row in found) == sorted(
        (name, 1) for name in names
    )
    assert len(set(names)) == len(ODD)


SNAPSHOT = """
source:
  kind: snapshot
  path: tests/things
  files: "**"
  format: {type: csv}
  snapshot_time: {pattern: "(\\\\d{4}-\\\\d{2}-\\\\d{2})"}
columns: {id: int, at: timestamp}
key: [id]
storage: {buckets: 1}
"""


def test_a_snapshot_whose_name_has_a_line_break_is_read(spark, tmp_path):
    lake = Lake(spark, tmp_path, table(SNAPSHOT))
    lake.land("2026-01-01.csv", ROW % 1)
    lake.land("2026-01-02_x\ny.csv", (ROW % 1) + "2,2026-01-01 00:00:00\n")
    lake.done("full_load", "incremental")
    assert lake.living() == [(1,), (2,)]
