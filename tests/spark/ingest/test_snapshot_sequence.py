"""What each snapshot of a sequence says of its scope values: where keys would be gone."""

from __future__ import annotations

from datetime import datetime

from lake_spark.snapshots.snapshot_sequence import SnapshotInOrder, rows_of_steps
from lake_spark.snapshots.source_snapshot import SourceSnapshot

DAYS = [datetime(2026, 1, day) for day in range(1, 6)]


def step(day: int, *scopes: str, deletes: bool = True) -> SnapshotInOrder:
    return SnapshotInOrder(SourceSnapshot(DAYS[day], (), scopes or (None,)), deletes)


def test_a_key_is_absent_from_the_next_snapshot_that_deletes():
    steps = [step(1), step(2, deletes=False), step(3)]
    assert sorted(rows_of_steps(steps, {None: DAYS[0]}, False)) == [
        (-1, "", 0, None),
        (0, "", 2, DAYS[0]),
        (1, "", 2, DAYS[1]),
        (2, "", None, DAYS[2]),
    ]


def test_each_scope_value_has_a_sequence_of_its_own():
    steps = [step(1, "eu", "us"), step(2, "us"), step(3, "eu")]
    assert sorted(rows_of_steps(steps, {"us": DAYS[0]}, False)) == [
        (-1, "eu", 0, None),
        (-1, "us", 0, None),
        (0, "eu", 2, None),
        (0, "us", 1, DAYS[0]),
        (1, "us", None, DAYS[1]),
        (2, "eu", None, DAYS[1]),
    ]


def test_where_missing_keys_are_ignored_none_is_absent():
    assert [row[2] for row in rows_of_steps([step(1), step(2)], {}, True)] == [None] * 3
