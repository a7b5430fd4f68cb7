"""The night in which the source's clock is set back: contract 2.2 and section 4.

A clock in Berlin shows 02:00 to 03:00 twice on 2026-10-25. Random histories of a zone that
shows two hours twice are played by tests/oracle (`tied`).
"""

from __future__ import annotations

import pytest

from tests.spark.lake import Lake, table

FEED = """
source:
  kind: feed
  path: tests/things
  changes: changes/**
  timezone: Europe/Berlin
  format: {type: csv}
columns: {id: int, at: timestamp, note: string%s}
key: [id]
order_by: %s
storage: {buckets: 1}
"""


@pytest.fixture
def feed(spark, tmp_path):
    """Land a file of each line, under names in their order; what current has."""

    def feed(order, more, *lines):
        lake = Lake(spark, tmp_path, table(FEED % (more, order)))
        header = "id,at,note,seq\n" if more else "id,at,note\n"
        for number, line in enumerate(lines, 1):
            lake.land(f"changes/{number}.csv", f"{header}{line}\n", at="2026-10-25")
        lake.done("incremental", "scd2")
        assert lake.verify().error is None
        return {row.id: row.note for row in lake.current.collect()}

    return feed


@pytest.mark.nightly
def test_a_change_of_the_second_pass_is_newer_than_one_of_the_first(feed):
    assert feed(
        *("[at]", ""),
        "1,2026-10-25 02:50,first pass",
        "1,2026-10-25 02:10,second pass",
        "2,2026-10-25 03:00,after it",
        "2,2026-10-25 02:59,late",
        "3,2026-10-25 02:00,twice",
        "3,2026-10-25 01:59,before it",
    ) == {1: "second pass", 2: "after it", 3: "twice"}


@pytest.mark.nightly
def test_what_else_the_order_names_decides_before_the_position(feed):
    assert feed(
        *("[at, seq]", ", seq: int"),
        "1,2026-10-25 02:10,second pass,8",
        "1,2026-10-25 02:50,first pass,7",
    ) == {1: "second pass"}


SNAPSHOT = """
source:
  kind: snapshot
  path: tests/things
  files: "*"
  format: {type: csv}
  snapshot_time: {pattern: "things_(.+).csv", format: "%s"}
  timezone: Europe/Berlin
columns: {id: int, note: string}
key: [id]
storage: {buckets: 1}
"""


@pytest.mark.parametrize(
    "form, names, told",
    [
        ("%Y-%m-%dT%H", ("2026-10-25T01", "2026-10-25T02"), 1),
        pytest.param(
            "%Y-%m-%dT%H",
            ("2026-10-25T01", "2026-10-25T03"),
            0,
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            "%Y-%m-%dT%H%z",
            ("2026-10-25T02+0200", "2026-10-25T02+0100"),
            0,
            marks=pytest.mark.nightly,
        ),
    ],
)
def test_a_snapshot_of_an_hour_that_comes_twice_is_named(
    spark, tmp_path, form, names, told
):
    lake = Lake(spark, tmp_path, table(SNAPSHOT % form))
    for name in names:
        lake.land(f"things_{name}.csv", f"id,note\n1,{name}\n")
    report = lake.run("incremental")
    assert report.error is None
    warnings = [each for each in report.warnings if "DoubledHour" in each]
    assert len(warnings) == told
    if told:
        assert "things_2026-10-25T02.csv" in warnings[0]
    lake.done("scd2")
    assert [row.note for row in lake.current.collect()] == [names[1]]
