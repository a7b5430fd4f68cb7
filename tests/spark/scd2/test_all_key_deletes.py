"""Events about every key, and what a run says of them.

Ten things are loaded. A full refresh of the third of January has fewer; where too few,
it is refused by name.
"""

from __future__ import annotations

import json

import pytest

from lake_spark.ingest import full_refresh
from tests.spark.lake import Lake, table

SPEC = """
source:
  kind: feed
  path: tests/things
  format: {type: csv}
  operation: {column: op}
  placeholder: __debezium_unavailable_value
  full_refresh: {pattern: 'reload/(?P<ts>[^/]+)/', format: "%Y-%m-%dT%H"}
columns: {id: int, ts: timestamp, note: string}
key: [id]
order_by: [ts]
load_effective_at: "2020-01-01"
storage: {buckets: 1}
"""
LOAD = "id,ts,note\n" + "".join(f"{i},2021-01-01,first\n" for i in range(10))


def full_refresh_of(*ids: int) -> str:
    return "id,ts,note\n" + "".join(f"{i},2021-01-09,again\n" for i in ids)


@pytest.fixture(scope="module")
def lake(spark, tmp_path_factory) -> Lake:
    made = Lake(spark, tmp_path_factory.mktemp("things"), table(SPEC))
    made.land("load/1.csv", LOAD)
    made.done("full_load", "scd2")
    return made


def test_a_full_refresh_that_loses_too_many_keys_is_refused(lake):
    lake.land("reload/2021-01-03T00/1.csv", full_refresh_of(0, 1, 2, 3))
    report = lake.run("full_load")
    assert report.error["message"] == (
        "reload/2021-01-03T00/1.csv: loses 6 of 10 keys, more than the share of 50% that"
        " source.full_refresh.lost_share allows. Land it whole, or raise"
        " source.full_refresh.lost_share if the loss is right."
    )
    assert len(lake.living()) == 10


@pytest.mark.parametrize(
    "zone, kind, start",
    [
        ("UTC", "timestamp", "2021-07-03T00:00:00+00:00"),
        ("Europe/Vienna", "timestamp", "2021-07-02T22:00:00+00:00"),
        ("Europe/Vienna", "date", "2021-07-03T00:00:00+00:00"),
    ],
)
def test_a_full_refresh_started_in_the_zone_of_its_source(zone, kind, start):
    text = SPEC.replace("ts: timestamp", f"ts: {kind}") + "effective_at: ts\n"
    spec = table(text.replace("kind: feed", f"kind: feed\n  timezone: {zone}"))
    said = full_refresh.start_of(spec, "reload/2021-07-03T00/1.csv")
    assert json.loads(said) == {"ts": start}


def test_a_full_refresh_that_does_not_say_when_it_started_is_set_aside(lake):
    for folder, reason in (
        (
            "reload/today",
            "the start of its full refresh cannot be read: ts is timestamp",
        ),
        (
            "reload",
            "its path does not say where the full refresh started: nothing in it",
        ),
    ):
        lake.land(f"{folder}/x.csv", full_refresh_of(1))
        report = lake.run("full_load", dry_run=True)
        bad = [each for each in report.set_aside if each["path"] == f"{folder}/x.csv"]
        assert reason in bad[0]["reason"]
        lake.remove(f"{folder}/x.csv")


def test_a_full_refresh_stands_where_it_started_and_deletes_what_it_lacks(lake):
    lake.land("reload/2021-01-03T00/1.csv", full_refresh_of(*range(8)))
    late = "op,id,ts,note\nU,0,2021-01-02,before it\nU,1,2021-01-04,after it\n"
    lake.land("changes/1.csv", late + "U,9,2021-01-02,lost\n")
    lake.done("full_load", "incremental", "scd2")
    notes = dict(lake.living("note"))
    assert notes == {0: "again", 1: "after it", **dict.fromkeys(range(2, 8), "again")}
    starts = (
        lake.history.where("id = 9").orderBy("valid_from").select("note", "valid_to")
    )
    assert [(row.note, f"{row.valid_to:%Y-%m-%d}") for row in starts.collect()] == [
        ("first", "2021-01-02"),
        ("lost", "2021-01-03"),
    ]


def test_ties_across_files_and_values_without_a_past_are_counted(lake):
    missing = "__debezium_unavailable_value"
    lake.land(
        "changes/2.csv", f"op,id,ts,note\nU,1,2021-01-04,b\nU,20,2021-01-05,{missing}\n"
    )
    lake.land(
        "changes/3.csv", f"op,id,ts,note\nU,1,2021-01-04,c\nU,1,2021-01-05,{missing}\n"
    )
    report = lake.done("incremental")[0]
    assert (report.ties, report.unresolved) == (1, 1)
    assert dict(lake.living("note"))[1] == "c"
    assert dict(lake.living("note"))[20] is None


def test_a_truncate_is_one_accepted_row_and_empties_the_table(lake):
    lake.land("changes/4.csv", "op,id,ts,note\nT,,2021-01-06,\n")
    report = lake.done("incremental")[0]
    assert (report.accepted, report.quarantined, report.current_rows) == (1, 0, 0)
    lake.land(
        "changes/5.csv", "op,id,ts,note\nU,1,2021-01-05,late\nU,2,2021-01-07,new\n"
    )
    lake.done("incremental", "scd2")
    assert lake.living("note") == [(2, "new")]
    assert lake.history.where("is_current").count() == 1
