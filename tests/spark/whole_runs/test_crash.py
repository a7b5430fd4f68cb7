"""kill -9 in the midst of a stage: one point each of ingest, current, history,
compaction and cleaning, on a merge-on-read table.

A full load and two batches of change files are ingested; the stage that is
killed gets the second batch, or the maintenance after it. It is stopped, and its files
are copied as kill -9 would leave them. As many random points as
wished: ./run_tests_locally.sh crash --points N.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from lake_spec.model import Maintenance, TableType
from lake_spark.storage.hudi_table import HudiTable
from tests.crash.kinds import MERGED
from tests.crash.play import play
from tests.crash.stages import STAGES, Point
from tests.crash.undisturbed import Undisturbed
from tests.crash.victim import Victim
from tests.spark.lake import SNAPSHOTS, Lake, stored, table

POINTS = {
    "history": 0.4,
    "ingest": 0.7,
    "current": 0.6,
    "compaction": 0.5,
    "cleaning": 0.3,
}
"""Stage -> the share of its changes that there have been when it is killed."""

AFTER_MAINTENANCE = ("ingest", "history")
"""Those that a maintenance follows before they are run again."""


@pytest.fixture(scope="module")
def outcome(spark, tmp_path_factory):
    """What became of the point of a stage, played when it is asked for."""
    home = tmp_path_factory.mktemp("crash")
    victim = Victim(home / "victim.log")
    try:
        undisturbed = Undisturbed(spark, home / "undisturbed", MERGED, seed=2026)
        yield partial(_played, undisturbed, victim, home)
    finally:
        victim.kill()


def _played(undisturbed, victim, home, name):
    (stage,) = [each for each in STAGES if each.name == name]
    point = Point(MERGED, stage, (POINTS[name],), name in AFTER_MAINTENANCE)
    ((_, found),) = play([point], undisturbed, victim, home / name)
    return found


@pytest.mark.nightly  # by day, tests/e2e kills a step
@pytest.mark.parametrize("stage", list(POINTS))
def test_a_stage_that_was_killed_and_run_again_leaves_the_same_rows(outcome, stage):
    found = outcome(stage)
    assert found.killed
    assert found.differences == [], found.killed


THINGS = SNAPSHOTS + """columns: {id: int, note: string}
key: [id]
storage: {buckets: 1}
"""


@pytest.mark.nightly
def test_a_cleaning_that_was_killed_does_not_put_off_the_next(spark, tmp_path):
    maintenance = Maintenance(cluster_after=1000, keep_commits=1)
    lake = Lake(spark, tmp_path, replace(table(THINGS), maintenance=maintenance))
    for day, note in enumerate("abc", 1):
        lake.land(f"2026-01-0{day}.csv", f"id,note\n1,{note}\n")
    lake.done("full_load", "incremental", "maintenance")
    (cleaned,) = tmp_path.glob("warehouse/**/current/.hoodie/timeline/*_*.clean")
    cleaned.unlink()
    lake.land("2026-01-04.csv", "id,note\n1,d\n")
    lake.done("incremental", "maintenance")
    assert lake.living("note") == [(1, "d")]
    assert lake.run("maintenance").state == "nothing_new"


@pytest.fixture
def merged(spark, tmp_path):
    """A merge-on-read lake that took two snapshots; its log and current await maintenance."""
    spec = stored(table(THINGS), type=TableType.MERGE_ON_READ)
    maintenance = Maintenance(compact_after=1, cluster_after=2, keep_commits=1000)
    lake = Lake(spark, tmp_path, replace(spec, maintenance=maintenance))
    for day, note in enumerate("ab", 1):
        lake.land(f"2026-01-0{day}.csv", f"id,note\n1,{note}\n")
    lake.done("full_load", "incremental")
    return lake


def kill_at_its_commit(lake: Lake, *names: str) -> None:
    """Make the files of timelines undone that completed something."""
    for name in names:
        (completed,) = lake.root.glob(f"warehouse/**/{name}")
        completed.unlink()


def test_maintenance_that_was_killed_is_finished_and_done_for_what_came_since(merged):
    merged.done("maintenance")
    compacted = "current/.hoodie/timeline/*_*[0-9].commit"
    kill_at_its_commit(merged, compacted, "changes/.hoodie/timeline/*.replacecommit")
    merged.land("2026-01-03.csv", "id,note\n1,c\n")
    merged.done("incremental", "maintenance")
    assert merged.living("note") == [(1, "c")]
    assert merged.run("maintenance").state == "nothing_new"


@pytest.mark.nightly
def test_maintenance_rolls_back_a_write_that_was_killed_before_it(merged):
    merged.done("scd2", "rebuild")
    for layer in ("current", "history"):
        kill_at_its_commit(merged, f"{layer}/.hoodie/timeline/*.replacecommit")
    report = merged.done("maintenance", "rebuild")[0]
    assert "current_compaction" in report.commits
    assert merged.living("note") == [(1, "b")]
    assert merged.verify().error is None


@pytest.mark.parametrize(
    "layer",
    ["changes", pytest.param("current", marks=pytest.mark.nightly), "history"],
)
def test_a_table_that_was_killed_while_it_was_made_is_made(spark, tmp_path, layer):
    lake = Lake(spark, tmp_path, table(THINGS))
    lake.land("2026-01-01.csv", "id,note\n1,a\n")
    half_made = tmp_path / "warehouse" / "tests" / "things" / layer / ".hoodie"
    (half_made / ".aux" / ".bootstrap").mkdir(parents=True)
    lake.done("full_load", "scd2")
    assert lake.living("note") == [(1, "a")]
    assert len(lake.versions("note")) == 1


@pytest.mark.parametrize(
    ("left", "kept"),
    [(["."], None), ([".hoodie/.aux"], None), ([".hoodie", "2026/01"], ["2026"])],
)
def test_of_a_table_that_was_killed_while_it_was_made_only_rows_stay(
    spark, tmp_path, left, kept
):
    folder = tmp_path / "changes"
    for each in left:
        (folder / each).mkdir(parents=True)
    HudiTable(spark, str(folder)).clear_half_made()
    found = [each.name for each in folder.iterdir()] if folder.exists() else None
    assert found == kept
