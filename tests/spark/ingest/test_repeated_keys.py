"""Rows of one full copy that have one key and differ: none is taken, and each is counted.

Things 1 to 12 are loaded on day 1. Later copies have rows of one key again: equal ones,
ones that differ, ones next to a bad row.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from lake_spec.model import DuplicateKeys, Engine, JdbcTable
from lake_spark.ingest.reprocess import Selection
from tests.spark.lake import LOAD_AND_CHANGES, SNAPSHOTS, Lake, table
from tests.spark.streaming import staged_rows

SPEC = SNAPSHOTS + """columns: {id: int, part: string, n: double, note: string}
key: [id, part]
storage: {buckets: 1, partition_by: [note]}
"""
HEADER = "id,part,n,note\n"
DAY_1 = HEADER + "".join(f"{id},p,1,a\n" for id in range(1, 13))
DAY_2 = (
    HEADER
    + (
        "1,p,0.0,b\n1,p,-0.0,b\n"  # equal
        "2,p,1,b\n02,p,1,c\n"  # one key in two ways of writing, and in two partitions
        "3,p,1,b\n3,q,1,b\n"  # two keys
        "4,p,NaN,b\n4,p,NaN,b\n4,p,,b\n"
        "5,p,1,b\n5,p,lots,b\n"  # a bad row says that there is another one
        "6,p,1,b\n6,,1,c\n"  # that row's key cannot be read
    )
    + "".join(f"{id},p,1,a\n" for id in range(8, 13))
)
"""Thing 7 is gone, but for the row without a key."""
LAST = DuplicateKeys.LAST


def of(spec, **source):
    """The spec with other settings of its source."""
    return replace(spec, source=replace(spec.source, **source))


@pytest.fixture(scope="module")
def things(spark, tmp_path_factory):
    lake = Lake(spark, tmp_path_factory.mktemp("repeated"), table(SPEC))
    lake.land("2026-01-01.csv", DAY_1)
    lake.land("2026-01-02.csv", DAY_2)
    lake.reports = lake.done("full_load", "incremental", "scd2")
    return lake


def test_rows_that_differ_are_quarantined_and_their_key_stays_as_it_was(things):
    living = {each[:2]: each[2:] for each in things.living("note")}
    assert [living[id, "p"] for id in (1, 2, 3, 4, 5, 6, 7)] == [
        *(("b",), ("a",), ("b",), ("a",), ("a",), ("b",), ("a",))
    ]
    assert living[3, "q"] == ("b",)


def test_every_row_is_accounted_for(things):
    file = things.reports[1].files[0]
    assert (file.landed, file.accepted, file.duplicates) == (18, 4, 1)
    assert (file.unchanged, file.quarantined) == (5, 8)
    assert things.reports[1].derived_deletes == 0


def test_the_quarantine_has_each_row_with_its_reason_and_as_it_was(things):
    rows = things.tables.quarantine.read().orderBy("lake_record").collect()
    twice, thrice = (f"its key stands in {n} rows that differ" for n in (2, 3))
    assert [(row.lake_record, row.lake_reason) for row in rows] == [
        *((3, twice), (4, twice), (7, thrice), (8, thrice), (9, thrice), (10, twice)),
        (11, "n: cannot be read as double: lots"),
        (13, "key column part has no value"),
    ]
    assert rows[1].lake_raw == '{"id":"02","part":"p","n":"1","note":"c"}'


def test_the_warning_counts_keys_and_rows_and_the_report_has_samples(things):
    report = things.reports[1]
    (warning,) = [each for each in report.warnings if "QuarantinedRows" in each]
    assert "8 of 18 rows are bad: 2026-01-02.csv record 3: its key stands" in warning
    assert "3 key(s) stand in 7 rows that differ: complete `key`, or set" in warning
    assert any('"id":"2"' in str(each) for each in report.samples)


def test_the_last_of_each_key_counts_where_that_is_declared(spark, tmp_path):
    spec = of(table(SPEC), duplicate_keys=LAST)
    lake = Lake(spark, tmp_path, spec)
    lake.land("2026-01-01.csv", DAY_1 + "1,p,2,b\n1,p,1,c\n")
    report = lake.done("full_load")[0]
    assert (report.accepted, report.duplicates, report.quarantined) == (12, 2, 0)
    assert lake.living("note")[0] == (1, "p", "c")
    (warning,) = report.warnings
    assert warning == (
        "RepeatedKeys: 1 key(s) stand in 3 rows that differ: the last of each key counts "
        "(source.duplicate_keys)"
    )


@pytest.mark.nightly  # by day: test_bad_input.py
def test_more_bad_rows_than_good_ones_fail_the_run_and_the_next_is_green(
    spark, tmp_path
):
    lake = Lake(spark, tmp_path, table(SPEC))
    lake.land("2026-01-01.csv", HEADER + "1,p,1,a\n1,p,1,b\n2,p,1,a\n")
    report = lake.run("full_load")
    assert report.error["type"] == "TooManyBadRows"
    assert "2 of 3 rows are bad" in report.error["message"]
    assert "The limit is 50.00% of the rows" in report.error["message"]
    assert [(each["path"], each["reason"]) for each in report.set_aside] == [
        ("2026-01-01.csv", "2 of its 3 rows are bad. Fix or remove it.")
    ]
    assert not lake.tables.log.has_data() and not lake.tables.quarantine.has_data()
    lake.land("2026-01-01.csv", HEADER + "1,p,1,a\n1,p,1,b\n2,p,1,a\n3,p,1,a\n")
    assert lake.done("full_load")[0].quarantined == 2  # half of them


@pytest.mark.nightly
def test_a_larger_share_is_allowed_where_it_is_declared(spark, tmp_path):
    lake = Lake(spark, tmp_path, table(SPEC + "quarantine: {max_share: 1}\n"))
    lake.land("2026-01-01.csv", HEADER + "1,p,1,a\n1,p,1,b\n")
    report = lake.done("full_load")[0]
    assert (report.accepted, report.quarantined) == (0, 2)


@pytest.mark.nightly
def test_the_quarantine_is_replayed_after_the_last_row_is_declared_to_count(
    spark, tmp_path
):
    lake = Lake(spark, tmp_path, table(SPEC))
    lake.land("2026-01-01.csv", DAY_1 + "1,p,1,b\n")
    assert lake.done("full_load")[0].quarantined == 2
    lake.spec = of(lake.spec, duplicate_keys=LAST)
    report = lake.run("reprocess", selection=Selection(quarantined=True))
    assert (report.error, report.quarantined, report.duplicates) == (None, 0, 1)
    assert lake.living("note")[0] == (1, "p", "b")
    assert lake.tables.quarantine.read().count() == 0


SCOPED = SNAPSHOTS + """  scope: {column: region}
columns: {id: int, region: string, note: string}
key: [id]
storage: {buckets: 1}
"""


def test_a_key_of_two_scope_values_is_no_repeated_one(spark, tmp_path):
    lake = Lake(spark, tmp_path, table(SCOPED))
    rows = "1,eu,a\n1,us,b\n2,eu,a\n2,eu,b\n3,us,c\n"
    lake.land("2026-01-01.csv", f"id,region,note\n{rows}")
    report = lake.done("full_load")[0]
    assert (report.accepted, report.quarantined) == (3, 2)


FEED = LOAD_AND_CHANGES + """  format: {type: csv}
columns: {id: int, note: string, at: timestamp}
key: [id]
effective_at: at
storage: {buckets: 1}
"""
DAY = "2026-01-01"
LOAD = f"id,note,at\n1,a,{DAY}\n1,b,{DAY}\n2,a,{DAY}\n2,a,{DAY}\n3,a,{DAY}\n"


def feed(spark, root, spec) -> Lake:
    lake = Lake(spark, root, spec)
    lake.land("load/1.csv", LOAD)
    lake.land("load/2.csv", "id,note,at\n3,c,2026-01-02\n")
    lake.land("changes/1.csv", "id,note,at\n4,a,2026-01-01\n4,b,2026-01-02\n")
    return lake


def test_a_file_of_a_full_load_without_an_order_guesses_nothing(spark, tmp_path):
    lake = feed(spark, tmp_path, table(FEED))
    load, changes = lake.done("full_load", "incremental")
    assert (load.rows_in, load.accepted, load.quarantined) == (6, 4, 2)
    assert changes.quarantined == 0
    assert lake.living("note") == [(2, "a"), (3, "c"), (4, "b")]


@pytest.mark.nightly
def test_of_a_full_load_too_the_last_row_counts_where_that_is_declared(spark, tmp_path):
    lake = feed(spark, tmp_path, of(table(FEED), duplicate_keys=LAST))
    load = lake.done("full_load")[0]
    assert load.quarantined == 0 and "1 key(s) stand in 2 rows" in load.warnings[0]
    assert lake.living("note")[0] == (1, "b")


def test_an_order_says_which_row_of_a_full_load_is_newer(spark, tmp_path):
    lake = feed(spark, tmp_path, replace(table(FEED), order_by=("at",)))
    assert lake.done("full_load")[0].quarantined == 0


def test_a_load_that_was_pulled_has_one_row_of_each_key(spark, tmp_path):
    spec = replace(table(FEED), order_by=("at",))
    spec = of(spec, load_from=JdbcTable("shop_db", "public.things"), load="load/**")
    lake = Lake(spark, tmp_path, spec)
    lake.land("load/2026-01-01T00-00-00/1.csv", LOAD)
    lake.land("load/2026-01-01T00-00-00/2.csv", "id,note,at\n3,c,2026-01-02\n")
    report = lake.run("full_load")
    assert "2 key(s) stand in 4 rows that differ" in report.error["message"]


def test_hoodie_streamer_is_told_to_leave_the_same_rows_out(spark, tmp_path):
    lake = feed(spark, tmp_path, replace(table(FEED), engine=Engine.STREAMER))
    run = lake.prepare("full_load")
    assert run.report.quarantined == 2
    found = staged_rows(lake, run).select("id", "note").collect()
    assert sorted(map(tuple, found)) == [(2, "a"), (2, "a"), (3, "a"), (3, "c")]


COUNTIES = (
    SNAPSHOTS + """columns: {county: string, species: string, share: "decimal(6,4)"}
key: [county]
storage: {buckets: 1}
"""
)


def test_a_table_whose_key_lacks_a_column_loses_no_row(spark, tmp_path):
    """12,360 rows of 3,090 counties, as a known public table has: four species in each."""
    rows = "".join(
        f"{county:05},{species},0.{county % 97:02}{place}\n"
        for place, species in enumerate(("bat", "owl", "toad", "newt"))
        for county in range(1, 3_091)
    )
    ways = {
        "quarantined": table(COUNTIES + "quarantine: {max_share: 1}\n"),
        "last": of(table(COUNTIES), duplicate_keys=LAST),
        "complete": replace(table(COUNTIES), key=("county", "species")),
    }
    counted = {}
    for way, spec in ways.items():
        lake = Lake(spark, tmp_path / way, spec)
        lake.land("2026-01-01.csv", f"county,species,share\n{rows}")
        report = lake.done("full_load")[0]
        (file,) = report.files
        assert file.landed == file.accepted + file.duplicates + file.quarantined
        counted[way] = (file.accepted, file.duplicates, file.quarantined)
        told = "3,090 key(s) stand in 12,360 rows that differ" in str(report.warnings)
        assert told is (way != "complete")
    assert counted == {
        "quarantined": (0, 0, 12_360),
        "last": (3_090, 9_270, 0),
        "complete": (12_360, 0, 0),
    }
