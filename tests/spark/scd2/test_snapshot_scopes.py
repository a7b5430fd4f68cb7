"""Snapshots that cover one region each: contract section 4, scope.

By path: eu has things 1, 2, 3, 5 and us has 4 on day 1. On day 10 eu lacks 3, 2
has moved to us, and us has 5 too. On day 20 only eu has it.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from lake_spec.model import Scope
from lake_spark.tables.table_run import Accepted
from tests.kinds import one_by_day
from tests.spark.lake import Lake, table

SPEC = """
source:
  kind: snapshot
  path: tests/things
  files: "**/*.csv"
  format: {type: csv}
  snapshot_time: {pattern: "(\\\\d{4}-\\\\d{2}-\\\\d{2})"}
  scope: {column: region%s}
columns: {id: int, region: string, note: string}
key: [id]
storage: {buckets: 1}
"""
BY_PATH = SPEC % ', pattern: "region=([a-z]+)/"'
BY_COLUMN = SPEC % ""
SNAPSHOTS = {
    "region=eu/2026-01-01.csv": "id,note\n1,a\n2,b\n3,c\n5,in eu\n",
    "region=us/2026-01-01.csv": "id,note\n4,d\n",
    "region=eu/2026-01-10.csv": "id,note\n1,a\n5,in eu\n",
    "region=us/2026-01-10.csv": "id,note\n2,b\n4,d\n5,in us\n",
    "region=us/2026-01-20.csv": "id,note\n2,b\n4,d\n",
    "region=eu/2026-01-20.csv": "id,note\n1,a\n5,in eu\n",
}


@pytest.fixture(scope="module", params=one_by_day(["at once", "one after the other"]))
def regions(request, spark, tmp_path_factory):
    """All snapshots in one run, or us's only after all of eu's."""
    lake = Lake(spark, tmp_path_factory.mktemp("regions"), table(BY_PATH))
    rounds = {"at once": ["region="], "one after the other": ["=eu", "=us"]}
    for part in rounds[request.param]:
        for path in SNAPSHOTS:
            if part in path:
                lake.land(path, SNAPSHOTS[path])
        lake.done("incremental", "scd2")
    return lake


def days(lake: Lake, id: int) -> list:
    return [
        (region, note, start[5:10], end and end[5:10])
        for key, region, note, start, end in lake.versions("region", "note")
        if key == id
    ]


@pytest.mark.nightly
def test_a_snapshot_of_eu_closes_no_rows_of_us(regions):
    assert days(regions, 3) == [("eu", "c", "01-01", "01-10")]
    assert days(regions, 4) == [("us", "d", "01-01", None)]


def test_a_thing_that_moves_has_one_row_whichever_region_comes_first(regions):
    assert days(regions, 2) == [
        ("eu", "b", "01-01", "01-10"),
        ("us", "b", "01-10", None),
    ]


def test_what_two_regions_have_lives_until_the_last_of_them_lacks_it(regions):
    assert days(regions, 5) == [
        ("eu", "in eu", "01-01", "01-10"),
        ("us", "in us", "01-10", "01-20"),
        ("eu", "in eu", "01-20", None),
    ]
    assert regions.living("region") == [(1, "eu"), (2, "us"), (4, "us"), (5, "eu")]


@pytest.mark.nightly
def test_late_is_judged_per_region(regions):
    regions.land("region=us/2026-01-15.csv", "id,note\n4,d\n")
    regions.land("region=ap/2026-01-25.csv", "id,note\n6,in ap\n")
    report = regions.run("incremental")
    regions.remove("region=us/2026-01-15.csv")
    (aside,) = report.set_aside
    assert aside["path"] == "region=us/2026-01-15.csv"
    assert (
        "older than the last one ingested of region 'us' (2026-01-20" in aside["reason"]
    )
    assert (6, "ap") in regions.living("region")


@pytest.mark.nightly
def test_a_refused_snapshot_holds_back_its_own_region_alone(regions):
    refused = {"region=eu/2026-02-01.csv", "stray/2026-02-02.csv"}
    regions.land("region=eu/2026-02-01.csv", "<html>")
    regions.land("region=eu/2026-02-02.csv", "id,note\n1,newer\n5,in eu\n")
    regions.land("region=us/2026-02-02.csv", "id,note\n2,b\n4,newer\n")
    regions.land("stray/2026-02-02.csv", "id,note\n9,x\n")
    report = regions.run("incremental")
    for path in refused:
        regions.remove(path)
    aside = {each["path"]: each["reason"] for each in report.set_aside}
    assert set(aside) == refused
    assert "its path has no value of region" in aside["stray/2026-02-02.csv"]
    living = regions.living("note")
    assert (4, "newer") in living and (1, "a") in living


@pytest.mark.nightly
def test_a_file_with_a_header_alone_empties_a_region_if_the_run_says_so(regions):
    regions.land("region=ap/2026-02-01.csv", "id,note\n")
    (aside,) = regions.run("incremental").set_aside
    assert aside["path"] == "region=ap/2026-02-01.csv"
    assert "of region 'ap' has no row" in aside["reason"]
    report = regions.run("incremental", accepted=Accepted(losses=True))
    assert (report.error, report.derived_deletes) == (None, 1)
    assert 6 not in [key for key, in regions.living()]


def test_another_scope_is_a_redefinition(regions):
    source = replace(regions.spec.source, scope=Scope("note"))
    other = Lake(regions.spark, regions.root, replace(regions.spec, source=source))
    report = other.run("incremental")
    assert report.error["type"] == "SettingsChanged"
    assert "source.scope was" in report.error["message"]


@pytest.fixture(scope="module")
def rows(spark, tmp_path_factory):
    """Regions told by the rows: both on day 1, eu alone on day 5, us lost on day 9."""
    lake = Lake(spark, tmp_path_factory.mktemp("rows"), table(BY_COLUMN))
    many = "".join(f"{i},us,u\n" for i in range(20, 32))
    lake.land("2026-01-01/1.csv", "id,region,note\n1,eu,a\n2,eu,b\n" + many)
    lake.land("2026-01-05/1.csv", "id,region,note\n1,eu,a\n3,,no region\n")
    lake.land("2026-01-09/1.csv", "id,region,note\n1,eu,a\n20,us,u\n")
    lake.reports = [lake.run("full_load"), lake.run("incremental")]
    return lake


def test_the_regions_of_a_snapshot_are_those_of_its_rows(rows):
    full_load, incremental = rows.reports
    assert (full_load.error, full_load.accepted) == (None, 14)
    # Row 3 says no region, so no region's missing keys are judged by it.
    assert (incremental.quarantined, incremental.derived_deletes) == (1, 1)
    assert [key for key, region in rows.living("region") if region == "eu"] == [1]
    (aside,) = incremental.set_aside
    assert aside["reason"].startswith("loses 11 of 12 keys of region 'us'")
    assert rows.current.where("region = 'us'").count() == 12


@pytest.mark.nightly
def test_a_region_without_rows_can_be_declared_empty(rows):
    rows.land("2026-01-09/1.csv", "id,region,note\n1,eu,a\n")
    report = rows.run("incremental", accepted=Accepted(empty_scopes=("eu",)))
    assert (
        "has rows of region eu, which empty_scopes lists as" in report.error["message"]
    )
    report = rows.run("incremental", accepted=Accepted(empty_scopes=("us",)))
    assert (report.error, report.derived_deletes) == (None, 12)
    assert rows.living("region") == [(1, "eu")]
    rows.land("2026-01-10/1.csv", "id,region,note\n")
    assert (
        "it is unknown which values of region"
        in rows.run("incremental").error["message"]
    )
