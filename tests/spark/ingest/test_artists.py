"""The museum's artists: two published snapshots.

2016-03-03: 14,769 artists; missing text is the word NULL or empty.
2016-05-12: 14,839 artists; two columns renamed, missing text is empty.
Between them 75 artists are new, 5 gone, 590 changed.
End: 14,839 current rows; 15,434 versions, 14,839 of them open.
"""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

import pytest

from lake_spec.model import Maintenance, TableType
from lake_check.parsing.loader import load_domain
from lake_spark.tables.table_run import Window
from tests.kinds import TABLE_TYPES
from tests.spark.lake import Lake, stored
from tests.spark.publish.readme_queries import answer, queries

UTC = timezone.utc
PROJECT = Path(__file__).resolve().parents[3]
FIRST = "artists_2016-03-03.csv.gz"
SECOND = "artists_2016-05-12.csv.gz"
APRIL = "valid_from <= '2016-04-01' AND (valid_to IS NULL OR valid_to > '2016-04-01')"


def artists():
    return load_domain("moma", PROJECT / "dags" / "tables").tables[0]


def land(lake: Lake, name: str) -> None:
    lake.land(name, (PROJECT / "data" / "moma" / name).read_bytes())


@pytest.fixture(scope="module", params=TABLE_TYPES, ids=lambda kind: kind.value)
def museum(request, spark, tmp_path_factory):
    """Both snapshots ingested and maintenance done, in either table type."""
    root = tmp_path_factory.mktemp(request.param.value)
    early = Maintenance(compact_after=1, cluster_after=2)
    spec = replace(artists(), maintenance=early)
    lake = Lake(spark, root, stored(spec, type=request.param))
    land(lake, FIRST)
    lake.loaded = lake.done("full_load", "scd2")
    land(lake, SECOND)
    lake.changed = lake.done("incremental", "scd2")
    lake.before_maintenance = figures(lake)
    lake.maintenance = lake.done("maintenance")
    return lake


def figures(lake: Lake) -> dict:
    return {
        "current": lake.current.count(),
        "versions": lake.history.count(),
        "open": lake.history.where("is_current").count(),
        "in April": lake.history.where(APRIL).count(),
    }


def test_the_full_load_takes_every_row_of_the_first_snapshot(museum):
    load, scd2 = museum.loaded
    assert (load.rows_in, load.accepted, load.current_rows) == (14_769, 14_769, 14_769)
    assert (scd2.versions, scd2.versions_open) == (14_769, 14_769)


def test_the_second_snapshot_is_75_new_590_changed_and_5_gone(museum):
    incremental, scd2 = museum.changed
    assert incremental.rows_in == 14_839
    assert (incremental.accepted, incremental.unchanged) == (75 + 590, 14_174)
    assert incremental.derived_deletes == 5
    assert (scd2.versions_opened, scd2.versions_closed) == (665, 595)


def test_figures_are_the_same_before_and_after_maintenance(museum):
    expected = {
        "current": 14_839,
        "versions": 15_434,
        "open": 14_839,
        "in April": 14_769,
    }
    assert museum.before_maintenance == expected
    assert figures(museum) == expected


def test_maintenance_compacts_only_what_has_log_files(museum):
    done = set(museum.maintenance[0].commits)
    merged = museum.spec.storage.type is TableType.MERGE_ON_READ
    compactions = {"current_compaction", "history_compaction"} if merged else set()
    assert done == compactions | {"changes_clustering"}


def test_current_equals_the_open_versions(museum):
    names = museum.current.columns
    still = museum.history.where("is_current").select(*names)
    assert still.exceptAll(museum.current).isEmpty()
    assert museum.current.exceptAll(still).isEmpty()


def test_quotes_inside_names_are_parsed(museum):
    names = dict(
        museum.current.where("constituent_id IN (25098, 2519)")
        .select("constituent_id", "display_name")
        .collect()
    )
    assert names == {
        25098: 'Futuristy "Gileia", Moscow-Kherson',
        2519: 'George Overbury ("Pop") Hart',
    }


def test_missing_ids_are_null_in_either_snapshot(museum):
    assert museum.current.where("wiki_qid IS NULL").count() == 11_590
    assert museum.history.where(APRIL).where("wiki_qid IS NULL").count() == 11_521


def test_running_again_makes_no_commit_and_touches_no_file(museum):
    before = museum.files()
    stages = ("full_load", "incremental", "scd2", "maintenance")
    assert [r.state for r in museum.done(*stages)] == ["nothing_new"] * 4
    assert museum.files() == before


def test_a_window_that_was_taken_already_changes_nothing(museum):
    before = museum.files()
    march = Window(datetime(2016, 3, 1, tzinfo=UTC), datetime(2016, 4, 1, tzinfo=UTC))
    for stage in ("full_load", "incremental"):
        assert museum.run(stage, window=march).state == "nothing_new"
    assert museum.done("scd2")[0].state == "nothing_new"
    assert museum.files() == before


def test_a_late_snapshot_is_refused_by_name(museum):
    museum.land("artists_2016-04-01.csv.gz", b"")
    report = museum.run("incremental")
    os.remove(museum.root / "landing/moma/artists/artists_2016-04-01.csv.gz")
    assert report.state == "failed"
    assert "artists_2016-04-01.csv.gz: this snapshot" in report.error["message"]
    assert "older than the last one ingested (2016-05-12" in report.error["message"]


def test_valid_times_are_the_snapshots_times(museum):
    starts = {
        row[0] for row in museum.history.select("valid_from").distinct().collect()
    }
    march, may = (datetime(2016, m, d) for m, d in ((3, 3), (5, 12)))
    assert starts == {march, may} or starts == {
        each.replace(tzinfo=UTC) for each in (march, may)
    }


def test_the_queries_of_readme_find_through_other_engines_what_hudi_has(museum):
    asked = list(queries())
    assert {each.through for each in asked} == {"duckdb", "iceberg"}
    for each in asked:
        table = museum.tables.table(each.layer)
        order = ("constituent_id", *(["valid_from"] if each.layer == "history" else []))
        wanted = table.read().where(each.where).orderBy(*order).limit(each.limit)
        expected = [
            (str(row[0]), row[1])
            for row in wanted.select(order[0], "display_name").collect()
        ]
        found = answer(each, table.path, order)
        assert [(row[order[0]], row["display_name"]) for row in found] == expected
        assert expected, "a query of the first screen shows rows"
