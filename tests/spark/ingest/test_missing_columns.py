"""Files that lack a column: a warning that counts the rows, or a refusal by name.

`note` is dropped, `colour` may be called `farbe` too, `extra` is undeclared.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from lake_spec.model import Engine
from lake_spec.diagnostics.warnings import WarningId
from tests.spark.erasing import erased
from tests.spark.lake import FEED_FILES, SNAPSHOTS, Lake, table

REFUSE = "  missing_columns: refuse\n"
COLUMNS = """columns:
  id: int
  ts: timestamp
  colour: {type: string, source: [farbe, colour]}
  size: int
  note: {type: string, dropped: true}
key: [id]
storage: {buckets: 1}
"""
FEED = COLUMNS + "order_by: [ts]\n"
IGNORED = "  ignore_columns: [total]\n"


def warned(report) -> list:
    """The warnings of missing columns, without what to do about it."""
    begin = f"{WarningId.MISSING_COLUMN.value}: "
    found = [w[len(begin) :] for w in report.warnings if w.startswith(begin)]
    return [each[: each.index(" If ")] for each in found]


@pytest.mark.nightly
def test_rows_without_a_column_are_counted_by_column(spark, tmp_path):
    lake = Lake(spark, tmp_path, table(FEED_FILES + IGNORED + FEED))
    lake.land("changes/1", "id,ts,farbe,size,op,extra,total\n1,2026-01-01,r,1,U,x,9\n")
    (report,) = lake.done("incremental")
    assert warned(report) == []
    lake.land("changes/2", "id,ts,op,size\n1,2026-01-02,U,2\n2,2026-01-02,U,2\n")
    lake.land("changes/3", "OP,TS,ID,SIZE\nU,2026-01-03,3,3\nD,2026-01-03,2,\n")
    lake.land("changes/4", "id,ts,op,colour,size,extra\n4,2026-01-04,U,b,x,\n")
    lake.land("changes/5", "id,ts,op\n1,2026-01-05,D\n")
    (report,) = lake.done("incremental")
    files = "2 file(s) (changes/2, changes/3): 3 row(s) have null."
    assert warned(report) == [
        f"column 'colour' is missing in {files}",
        f"column 'extra' is missing in {files}",
    ]
    assert "add the new name to columns.colour.source" in str(report.warnings)
    assert (report.accepted, report.quarantined) == (5, 1)
    assert lake.living("colour", "size", "extra") == [(3, None, 3, None)]


def test_a_file_that_lacks_a_declared_column_is_refused_and_the_others_go_on(
    spark, tmp_path
):
    lake = Lake(spark, tmp_path, table(FEED_FILES + REFUSE + FEED))
    lake.land("load/1", "id,ts,colour,size\n1,2026-01-01,r,1\n")
    lake.land("changes/1", "id,ts,op,colour,size,extra\n1,2026-01-01,U,r,1,x\n")
    lake.land("changes/2", "id,ts,op,color,size\n1,2026-01-02,U,r,1\n")
    lake.land("changes/3", "id,ts,op\n2,2026-01-03,D\n")
    lake.land("changes/4", "id,ts,op,colour,size\n3,2026-01-04,U,g,3\n")
    assert warned(lake.done("full_load")[0]) == []
    report = lake.run("incremental")
    assert [each["path"] for each in report.set_aside] == ["changes/2"]
    assert report.set_aside[0]["reason"] == (
        "lacks the column(s) colour; it has id, ts, op, color, size, and "
        "source.missing_columns is 'refuse'. If the source renamed it, add the new name "
        "to columns.colour.source; if it sends it no longer, set columns.colour.dropped "
        "to true. Or set source.missing_columns to warn."
    )
    assert lake.living("colour", "extra") == [(1, "r", "x"), (3, "g", None)]
    assert "color" not in lake.changes.columns
    lake.remove("changes/2")
    lake.done("incremental", "scd2")


@pytest.mark.nightly
def test_a_late_file_of_before_an_undeclared_column_came_is_not_refused(
    spark, tmp_path
):
    lake = Lake(spark, tmp_path, table(FEED_FILES + REFUSE + FEED))
    lake.land("changes/2", "id,ts,op,colour,size,extra\n1,2026-01-02,U,r,1,x\n")
    lake.done("incremental")
    lake.land("changes/1", "id,ts,op,colour,size\n1,2026-01-01,U,r,1\n")
    (report,) = lake.done("incremental")
    assert warned(report) == [
        "column 'extra' is missing in 1 file(s) (changes/1): 1 row(s) have null."
    ]


@pytest.mark.nightly
def test_a_snapshot_with_such_a_file_is_refused_as_a_whole_until_it_is_replaced(
    spark, tmp_path
):
    lake = Lake(spark, tmp_path, table(SNAPSHOTS + REFUSE + COLUMNS))
    lake.land("2026-01-01.csv", "id,ts,colour,size,note\n1,,r,1,n\n")
    lake.done("full_load")
    lake.land("2026-01-02.csv", "id,ts,size\n1,,1\n")
    report = lake.run("incremental")
    assert "lacks the column(s) colour;" in report.error["message"]
    assert lake.living("colour") == [(1, "r")]
    lake.land("2026-01-02.csv", "id,ts,size,farbe\n1,,1,b\n")
    lake.done("incremental", "scd2")
    assert lake.living("colour", "note") == [(1, "b", "n")]


@pytest.mark.parametrize("refuses", (False, True))
def test_the_streamer_is_given_no_file_that_is_refused(spark, tmp_path, refuses):
    spec = table(FEED_FILES + (REFUSE if refuses else "") + FEED)
    lake = Lake(spark, tmp_path, replace(spec, engine=Engine.STREAMER))
    lake.land("changes/1", "id,ts,op,colour,size\n1,2026-01-01,U,r,1\n")
    lake.land("changes/2", "id,ts,op,size\n1,2026-01-02,U,1\n")
    report = lake.run("prepare_incremental")
    read = ["changes/1"] if refuses else ["changes/1", "changes/2"]
    assert [each.path for each in report.files] == read
    assert len(report.set_aside) == refuses and len(warned(report)) == (not refuses)


@pytest.mark.nightly
def test_a_file_that_was_accepted_before_can_still_be_erased_from(spark, tmp_path):
    lake = Lake(spark, tmp_path, table(FEED_FILES + FEED))
    lake.land("changes/1", "id,ts,op,size\n1,2026-01-01,U,1\n2,2026-01-01,U,2\n")
    lake.done("incremental")
    lake.spec = table(FEED_FILES + REFUSE + FEED)
    assert erased(lake, {"id": "2"}).erasure
    assert lake.living("size") == [(1, 1)]


BROKEN = 'id,ts,op,colour,size,more\n1,2026-01-02,U,"r,1,x\n'


@pytest.mark.parametrize(
    "form, bad",
    [
        ("csv", BROKEN),
        ("json", '{"id":1,"ts":"2026-01-02","op":"U","more":1,"size":{"x":1}}\n'),
    ],
)
def test_a_file_that_is_set_aside_brings_no_column(spark, tmp_path, form, bad):
    lake = Lake(
        spark, tmp_path, table(FEED_FILES.replace("type: csv", f"type: {form}") + FEED)
    )
    good = {
        "csv": "id,ts,op,colour,size\n2,2026-01-01,U,b,1\n",
        "json": '{"id":2,"ts":"2026-01-01","op":"U","colour":"b","size":1}\n',
    }
    lake.land("changes/1", good[form])
    lake.land("changes/2", bad)
    lake.land("changes/3", good[form].replace("2,", "3,").replace(":2,", ":3,", 1))
    report = lake.run("incremental")
    assert [each["path"] for each in report.set_aside] == ["changes/2"]
    assert "more" not in lake.changes.columns
    lake.remove("changes/2")
    lake.done("incremental", "scd2")
    assert lake.living("colour") == [(2, "b"), (3, "b")]
