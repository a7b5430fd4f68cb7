"""Reports have samples of bad rows, counts of each rule, and sizes around maintenance."""

from __future__ import annotations

import json

import pytest

from tests.spark.lake import FEED_FILES, Lake, table

SPEC = FEED_FILES + """\
key: [id]
order_by: [at]
columns:
  id: int
  name: string
  town: string
  age: int
  at: timestamp
storage: {type: merge_on_read, buckets: 1}
maintenance: {compact_after: 1, keep_commits: 1}
quarantine: {max_share: 1}
quality:
  - {column: age, at_least: 0}
  - {column: town, not_null: true, on_fail: warn}
  - {column: town, matches: "[A-Z].*", on_fail: warn}
"""
HEAD = "op,id,name,town,age,at\n"
LOAD = "id,name,town,age,at\n1,Ann,Ulm,3,2026-01-01\n"
LONG = "Llanfair" * 20


@pytest.fixture(scope="module")
def reports(spark, tmp_path_factory):
    """A load, changes with bad rows, and maintenance."""
    lake = Lake(spark, tmp_path_factory.mktemp("shown"), table(SPEC))
    lake.land("load/1.csv", LOAD)
    found = {"load": lake.done("full_load", "scd2")[0]}
    rows = [
        "U,1,Ann,,4,2026-01-02",
        f"U,2,Bo,{LONG},-1,2026-01-02",
        "U,3,Cy,Bonn,old,2026-01-02",
    ]
    lake.land("changes/1.csv", HEAD + "\n".join(rows) + "\n")
    found["incremental"] = lake.done("incremental", "scd2")[0]
    found["maintenance"] = lake.done("maintenance")[0]
    found["again"] = lake.done("maintenance")[0]
    return found


@pytest.mark.nightly
def test_a_rule_is_counted_also_where_all_rows_keep_it(reports):
    words = ("age is below 0", "town has no value", "town does not match '[A-Z].*'")
    assert reports["load"].rules == dict.fromkeys(words, 0)
    assert reports["incremental"].rules == dict(zip(words, (1, 1, 0)))


def test_only_rules_that_warn_are_warned_of(reports):
    warnings = " ".join(reports["incremental"].warnings)
    assert "town has no value: 1 row(s)" in warnings
    assert "quality: age is below 0: 1 row(s)" not in warnings


def test_samples_have_the_key_and_values(reports):
    assert reports["load"].samples == []
    found = {each.record: each for each in reports["incremental"].samples}
    assert set(found) == {2, 3}
    second, third = found[2], found[3]
    assert (second.path, second.reason) == (
        "changes/1.csv",
        "quality: age is below 0",
    )
    shown = json.loads(second.row)
    assert set(shown) == {"id", "name", "town", "age", "at"}
    assert (shown["id"], shown["age"], shown["town"]) == ("2", "-1", LONG[:60])
    assert "old" in third.reason and json.loads(third.row)["id"] == "3"


def test_maintenance_reports_files_and_bytes_before_and_after(reports):
    found = {each.layer: each for each in reports["maintenance"].maintained}
    current = found["current"]
    assert current.done == ["compaction", "cleaning"] or current.done == ["compaction"]
    assert (current.before.files, current.before.log_files) == (2, 1)
    assert (current.after.files, current.after.log_files) == (1, 0)
    assert 0 < current.after.bytes < current.before.bytes
    assert current.before.stored_files == 2


def test_where_nothing_is_due_sizes_stay_as_they_are(reports):
    found = {each.layer: each for each in reports["again"].maintained}
    assert "compaction" not in found["current"].done
    assert found["current"].before.files == found["current"].after.files == 1


@pytest.mark.nightly
def test_sizes_leave_out_files_that_a_clustering_or_rebuild_took_the_place_of(
    spark, tmp_path
):
    due = "cluster_after: 2, keep_commits: 9"
    spec = SPEC.replace("merge_on_read", "copy_on_write").replace(
        "compact_after: 1, keep_commits: 1", due
    )
    lake = Lake(spark, tmp_path, table(spec))
    lake.land("load/1.csv", LOAD)
    lake.done("full_load", "scd2")
    for day in (2, 3):
        row = f"U,{day},Cy,Bonn,4,2026-01-0{day}\n"
        lake.land(f"changes/{day}.csv", HEAD + row)
        lake.done("incremental", "scd2")
    lake.done("rebuild")
    (report,) = lake.done("maintenance")
    found = {each.layer: each for each in report.maintained}
    assert found["changes"].done == ["clustering"]
    tables = lake.tables
    for layer in ("changes", "current", "history"):
        after = found[layer].after
        assert after.files == len(tables.table(layer).read().inputFiles())
        assert after.stored_files > after.files
    assert found["changes"].before.files > found["changes"].after.files
