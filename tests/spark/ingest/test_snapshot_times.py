"""The time of a snapshot from a column of its files: contract section 4.

Two snapshots of three things in three files; the time is in the rows alone.
"""

from __future__ import annotations

import pytest

from tests.spark.lake import Lake, table

SPEC = """
source:
  kind: snapshot
  path: tests/things
  files: "*"
  format: {type: %s}
  snapshot_time: {column: Exported At, format: "%%Y-%%m-%%d %%H:%%M"}
  timezone: Europe/Berlin
columns: {id: int, note: string}
key: [id]
storage: {buckets: 1}
"""
HEADER = "id,exported at,note\n"
JANUARY, FEBRUARY = "2026-01-01 06:30", "2026-02-01 06:30"


@pytest.fixture(scope="module")
def things(spark, tmp_path_factory):
    lake = Lake(spark, tmp_path_factory.mktemp("times"), table(SPEC % "csv"))
    january = [f"{row[0]},{JANUARY},{row[1]}\n" for row in ("1a", "2b", "3c", "xd")]
    lake.land("z1.csv", HEADER + "".join(january))
    lake.land("a1.csv", f"{HEADER}1,{FEBRUARY},a\n2,{FEBRUARY},new\n3,{FEBRUARY},c\n")
    lake.reports = lake.done("full_load", "incremental", "scd2")
    return lake


@pytest.mark.nightly
def test_rows_say_when_they_were_exported_in_the_zone_of_the_source(things):
    assert things.versions("note") == [
        (1, "a", "2026-01-01 05:30:00", None),
        (2, "b", "2026-01-01 05:30:00", "2026-02-01 05:30:00"),
        (2, "new", "2026-02-01 05:30:00", None),
        (3, "c", "2026-01-01 05:30:00", None),
    ]
    full_load, incremental, _ = things.reports
    assert (full_load.quarantined, incremental.unchanged) == (1, 2)


def test_the_time_is_no_column_of_the_table(things):
    assert set(things.current.columns) == {"id", "note", "lake_key"}


BAD = {
    "1.csv": (HEADER, "no row has a value in 'Exported At'"),
    "2.csv": (
        f"{HEADER}1,{FEBRUARY},a\n2,,b\n3,,c\n",
        "2 row(s) have no value in 'Exported At'",
    ),
    "3.csv": (
        f"{HEADER}1,{JANUARY},a\n2,{FEBRUARY},b\n",
        f"'Exported At' has values from {JANUARY} to {FEBRUARY}. Land one file for each snapshot.",
    ),
    "4.csv": (
        f"{HEADER}1,2026-03-01,a\n",
        "its snapshot time cannot be read: time data",
    ),
    "5.csv": ("id,note\n1,a\n", "lacks the column(s) Exported At; it has id, note"),
}


def test_a_file_without_one_time_is_refused_by_name_and_the_others_go_on(things):
    for name, (text, _) in BAD.items():
        things.land(name, text)
    things.land("b1.csv", f"{HEADER}1,2026-03-01 06:30,newer\n2,2026-03-01 06:30,new\n")
    report = things.run("incremental")
    for name in BAD:
        (things.root / "landing/tests/things" / name).unlink()
    told = {each["path"]: each["reason"] for each in report.set_aside}
    assert set(told) == set(BAD)
    for name, (_, words) in BAD.items():
        assert words in told[name]
    assert things.living("note") == [(1, "newer"), (2, "new")]


def test_a_typed_column_needs_no_format(spark, tmp_path):
    lake = Lake(spark, tmp_path, table(SPEC % "parquet"))
    for day, note in (("01", "a"), ("02", "b")):
        at = f"timestamp'2026-01-{day} 06:30:00' AS `Exported At`"
        rows = spark.sql(f"SELECT 1 AS id, '{note}' AS note, {at}")
        rows.coalesce(1).write.parquet(str(tmp_path / "made" / day))
        (file,) = (tmp_path / "made" / day).glob("*.parquet")
        lake.land(f"{day}.parquet", file.read_bytes())
    lake.done("incremental", "scd2")
    assert lake.versions("note") == [
        (1, "a", "2026-01-01 06:30:00", "2026-01-02 06:30:00"),
        (1, "b", "2026-01-02 06:30:00", None),
    ]
