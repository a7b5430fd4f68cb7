"""Snapshots that wait are ingested together, and leave what one by one leaves.

A lake takes days 2 to 6 in one run; another takes the same with each by itself. Day 3
has what a snapshot can be refused for, or ingested by itself for.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, Dict, Iterator, List, Sequence

import pytest
from pyspark.sql import DataFrame

from lake_spec.state.report import Report
from lake_spark.ingest import snapshot_backlog
from tests.oracle.snapshots import SnapshotWorld, csv_text
from tests.kinds import some_by_day
from tests.spark.lake import FEED_FILES, SNAPSHOTS, Lake, table
from tests.spark.reprocessing import done_reprocess

SPEC = (
    SNAPSHOTS
    + """columns: {id: int, note: string, n: int, size: {type: int, dropped: true}}
key: [id]
quarantine: {max_share: 0.5, min_rows: 2}
storage: {buckets: 1}
"""
)
IDS = range(1, 13)
DAYS = [f"2026-01-0{day}" for day in range(1, 7)]


def snapshot(day: int, *more: str, ids: range = IDS, column: str = "") -> str:
    """Rows that change by day, perhaps with one more column.

    Thing 5 is absent on days 2 and 3, thing 6 on day 5, thing 7 on days 3 and 4.
    """
    gone = {5: (2, 3), 6: (5,), 7: (3, 4)}
    there = [id for id in ids if day not in gone.get(id, ())]
    last = ",4" if column else ""
    rows = [f"{id},{'b' if id % 6 < day else 'a'},1{last}" for id in there]
    header = ",".join(["id", "note", "n", *([column] if column else [])])
    return "\n".join([header, *rows, *more, ""])


def landed(lake: Lake, **others: str) -> None:
    """Land all days, other texts of some."""
    for day, name in enumerate(DAYS, 1):
        lake.land(f"{name}.csv", others.get(name, snapshot(day)), at="2026-02-01")


@pytest.fixture
def one_by_one(monkeypatch):
    """As a context: runs take each snapshot by itself."""

    @contextmanager
    def patched() -> Iterator[None]:
        with monkeypatch.context() as patch:
            patch.setattr(snapshot_backlog, "MOST_SNAPSHOTS", 1)
            yield

    return patched


def rows_of(rows: DataFrame) -> List[str]:
    return sorted(str(row) for row in rows.select(*sorted(rows.columns)).collect())


def left_by(lake: Lake) -> Dict[str, Any]:
    """All that runs left, but for when and in which commits."""
    tables = lake.tables
    manifest = tables.ingested_files()
    bad = ("lake_reason", "lake_path", "lake_record", "lake_etag", "lake_raw")
    quarantine = tables.quarantine
    return {
        "log": rows_of(lake.changes),
        "current": rows_of(lake.current),
        "history": rows_of(lake.history),
        "quarantine": quarantine.has_data() and rows_of(quarantine.read().select(*bad)),
        "ingested": sorted(map(str, manifest.all)),
        "state": (manifest.snapshots, manifest.first_snapshot, manifest.count),
        "rows": (manifest.accepted, manifest.newest_event, manifest.contents),
    }


OF_RUNS = {"run", "started", "seconds", "commits", "current_built"}


def said_by(report: Report) -> Dict[str, Any]:
    """A report, but for when and in which commits."""
    return {name: each for name, each in asdict(report).items() if name not in OF_RUNS}


def log_commits(lake: Lake) -> int:
    return len(lake.tables.log.instants())


DAY_3 = {
    "good": snapshot(3),
    "broken CSV": snapshot(3, '1,"open'),
    "no bytes": "",
    "no rows": snapshot(3, ids=range(0)),
    "half of the rows": snapshot(3, ids=range(1, 6)),
    "too many bad rows": snapshot(3, *["x,y,1"] * 20),
    "a bad row of an absent thing": snapshot(3, "7,b,many"),
    "a row whose key is unreadable": snapshot(3, "x,y,1"),
    "a row twice": snapshot(3, "1,a,1", "1,c,1"),
    "a new column": snapshot(3, column="more"),
    "a dropped column": snapshot(3, column="size"),
}
TOGETHER = (
    "good",
    "a bad row of an absent thing",
    "a row whose key is unreadable",
    "a row twice",
)
"""What does not end a batch."""
BY_DAY = ("half of the rows",)


@pytest.mark.parametrize("what", some_by_day(DAY_3, BY_DAY))
def test_a_backlog_leaves_what_one_by_one_leaves(spark, tmp_path, one_by_one, what):
    lakes = [Lake(spark, tmp_path / name, table(SPEC)) for name in ("together", "each")]
    for lake in lakes:
        landed(lake, **{DAYS[2]: DAY_3[what]})
    together, each = lakes
    for _ in range(2):
        reports = runs_of(lakes, one_by_one)
        if reports[0].error is None:
            break
        for lake in lakes:  # the second run goes on without it
            lake.remove(f"{DAYS[2]}.csv")
    assert log_commits(together) < log_commits(each)
    assert log_commits(together) == 2 or what not in TOGETHER
    for lake in lakes:  # a commit of few rows is one file
        files = list(lake.root.glob("warehouse/tests/things/changes/*.parquet"))
        assert len(files) == log_commits(lake)


def runs_of(lakes: Sequence[Lake], one_by_one) -> List[Report]:
    """Run two lakes, the second one by one; the reports of the first."""
    together, each = lakes
    reports = [together.run("incremental"), *together.done("scd2")]
    with one_by_one():
        alone = [each.run("incremental"), *each.done("scd2")]
    assert list(map(said_by, reports)) == list(map(said_by, alone))
    assert left_by(together) == left_by(each)
    return reports


WORLDS = [
    ("by_column", 3, []),
    pytest.param("whole", 4, [3], marks=pytest.mark.nightly),
    pytest.param("by_path", 5, [2], marks=pytest.mark.nightly),
    pytest.param("ignoring", 6, [], marks=pytest.mark.nightly),
]


@pytest.mark.parametrize("name, seed, cuts", WORLDS)
def test_random_snapshots_leave_the_same(spark, tmp_path, one_by_one, name, seed, cuts):
    assert_same(spark, tmp_path, one_by_one, SnapshotWorld(name, seed, range(6)), cuts)


def assert_same(spark, root, one_by_one, world, cuts):
    """Play a world in runs that end at these cuts, together and one by one."""
    lakes = [Lake(spark, root / name, world.spec) for name in ("together", "each")]
    files = list(world.snapshots().items())
    for start, end in zip([0, *cuts], [*cuts, len(files)]):
        for lake in lakes:
            for path, each in files[start:end]:
                lake.land(path, csv_text(world.spec, each.rows), at="2026-02-01")
                if lake.spec.source.complete is not None:
                    lake.land(path.replace(".csv", ".done"), "")
        runs_of(lakes, one_by_one)


@pytest.mark.nightly  # by day: test_reprocess_of_snapshots.py
def test_a_reprocess_takes_the_later_snapshots_together(spark, tmp_path, one_by_one):
    lakes = [Lake(spark, tmp_path / name, table(SPEC)) for name in ("together", "each")]
    for lake in lakes:
        landed(lake)
        lake.done("incremental", "scd2")
        lake.land(f"{DAYS[1]}.csv", snapshot(2, "30,new,1"), at="2026-02-02")
    together, each = lakes
    report = done_reprocess(together, f"{DAYS[1]}.csv")
    with one_by_one():
        alone = done_reprocess(each, f"{DAYS[1]}.csv")
    assert said_by(report) == said_by(alone)
    assert left_by(together) == left_by(each)
    assert (log_commits(together), log_commits(each)) == (3, 7)


def test_change_files_that_wait_are_one_commit(spark, tmp_path):
    spec = FEED_FILES + """columns: {id: int, note: string, at: timestamp}
key: [id]
order_by: [at]
storage: {buckets: 1}
"""
    lake = Lake(spark, tmp_path, table(spec))
    lake.land("load/1.csv", "id,note,at\n1,a,2026-01-01\n")
    lake.done("full_load")
    for day in range(2, 10):
        lake.land(
            f"changes/{day}.csv", f"op,id,note,at\nU,1,day {day},2026-01-0{day}\n"
        )
    report = lake.done("incremental")[0]
    assert [each.accepted for each in report.files] == [1] * 8
    assert log_commits(lake) == 2
    assert len(lake.tables.current.instants()) == 2
    assert lake.living("note") == [(1, "day 9")]
