"""What was lost comes back: current and history of the change log, all of it of landing."""

from __future__ import annotations

import shutil

import pytest

from tests.spark.lake import SNAPSHOTS, Lake, table

THINGS = SNAPSHOTS + """  lost_share: 1.0
columns: {id: int, note: string}
key: [id]
storage: {buckets: 1}
"""
ROWS = ("1,a\n2,a\n", "1,b\n3,a\n", "1,b\n3,c\n")


@pytest.fixture
def lake(spark, tmp_path):
    """A lake that took three snapshots."""
    lake = Lake(spark, tmp_path, table(THINGS))
    for day, rows in enumerate(ROWS, 1):
        lake.land(f"2026-01-0{day}.csv", f"id,note\n{rows}")
    lake.done("full_load", "incremental", "scd2")
    return lake


def everything(lake):
    return lake.living("note"), lake.versions("note", "version_key")


def lose(lake, *layers):
    home = lake.root / "warehouse" / "tests" / "things"
    for each in layers or [folder.name for folder in home.iterdir()]:
        shutil.rmtree(home / each)


@pytest.mark.nightly
def test_lost_tables_are_rebuilt_of_the_change_log(lake):
    before = everything(lake)
    lose(lake, "current", "history")
    lake.done("rebuild")
    assert everything(lake) == before
    assert lake.verify().error is None


@pytest.mark.nightly
def test_a_table_that_is_lost_as_a_whole_comes_back_of_its_landing_files(lake):
    before = everything(lake)
    lose(lake)
    lake.done("full_load", "incremental", "scd2")
    assert everything(lake) == before


def test_a_lost_change_log_never_empties_what_stands(lake):
    before = everything(lake)
    lose(lake, "changes")
    for stage in ("incremental", "rebuild"):
        report = lake.run(stage)
        assert everything(lake) == before, report.error
