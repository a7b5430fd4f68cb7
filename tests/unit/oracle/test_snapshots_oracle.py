"""The oracle of snapshots, on stories that a person can follow."""

from __future__ import annotations

from datetime import datetime

from tests.oracle.snapshots_oracle import (
    AT,
    LATE,
    SINCE,
    SourceSnapshot,
    Source,
    Story,
    of_keys,
)
from tests.oracle.oracle import DELETE, UPSERT, Settings, Delivery

LANDED = datetime(2026, 2, 1)


def day(number: int) -> datetime:
    return datetime(2026, 1, number)


def snapshot(at: int, *rows: tuple, covers: tuple = (None,)) -> SourceSnapshot:
    """A snapshot of a day: rows are (key, region, note, day since when)."""
    return SourceSnapshot(
        day(at),
        tuple(
            Delivery(
                (key,),
                UPSERT,
                {"region": region, "note": note, "since": since and day(since)},
                f"{covers}/{at}",
                i,
                LANDED,
            )
            for i, (key, region, note, since) in enumerate(rows, 1)
        ),
        covers,
    )


def told(story: Story) -> list:
    """What became of the keys: (key, op, day of the snapshot, day since when)."""
    events = of_keys(story.events, story.source.scope)
    return [(*e.key, e.op, e.values[AT].day, e.values[SINCE].day) for e in events]


def story(*snapshots: SourceSnapshot, **source) -> Story:
    columns = Settings(("region", "note", "since"), effective_at="since")
    found = Story(Source(columns, **source))
    assert [found.take(each) for each in snapshots] == [None] * len(snapshots)
    return found


def test_a_row_is_valid_from_what_it_says_where_that_can_be_believed():
    found = story(
        snapshot(10, ("a", "eu", "x", 5), ("b", "eu", "x", 5), ("c", "eu", "x", 5)),
        snapshot(20, ("a", "eu", "y", 15), ("b", "eu", "y", 7), ("c", "eu", "y", 5)),
    )
    assert told(found)[1::2] == [
        ("a", "upsert", 20, 15),
        ("b", "upsert", 20, 10),
        ("c", "upsert", 20, 20),
    ]


def test_what_returns_with_an_old_time_returns_when_it_was_seen():
    first, gone = snapshot(1, ("a", "eu", "x", 1), ("b", "eu", "x", 1)), snapshot(
        10, ("b", "eu", "x", 1)
    )
    found = story(
        first, gone, snapshot(20, *(("a", "eu", "x", 1), ("b", "eu", "x", 1)))
    )
    assert [each for each in told(found) if each[0] == "a"] == [
        ("a", "upsert", 1, 1),
        ("a", "delete", 10, 10),
        ("a", "upsert", 20, 20),
    ]


def test_a_move_is_one_change_and_what_another_region_has_comes_back():
    found = story(
        snapshot(1, ("a", "eu", "x", None), covers=("eu",)),
        snapshot(1, ("b", "us", "x", None), covers=("us",)),
        snapshot(10, ("a", "us", "x", None), ("b", "us", "x", None), covers=("us",)),
        snapshot(10, covers=("eu",)),
        snapshot(20, ("b", "eu", "z", None), covers=("eu",)),
        snapshot(30, ("a", "us", "x", None), covers=("us",)),
        snapshot(31, covers=("eu",)),
        scope="region",
        may_be_empty=True,
    )
    assert told(found) == [
        ("a", "upsert", 1, 1),
        ("a", "upsert", 10, 10),
        ("b", "upsert", 1, 1),
        ("b", "upsert", 20, 20),
        ("b", "delete", 31, 31),
    ]


def test_late_empty_and_losing_snapshots_are_refused():
    rows = [(key, "eu", "x", None) for key in "abcdefghij"]
    found = story(snapshot(10, *rows))
    assert found.take(snapshot(10, *rows)) == found.take(snapshot(9, *rows)) == LATE
    assert found.take(snapshot(11, *rows[:4])) == "losses"
    assert found.take(snapshot(11, *rows[:5])) is None
    assert found.take(snapshot(12)) == "empty"
    assert found.take(snapshot(12, ("k", "eu", "x", None))) == "losses"
    by_rows = story(scope="region")
    assert by_rows.take(snapshot(10, covers=())) == "empty"


def test_a_bad_row_counts_as_present_and_an_unreadable_key_as_any():
    found = story(snapshot(1, ("a", "eu", "x", 1), ("b", "eu", "x", 1)))
    future = ("a", "eu", "x", 1)
    bad = snapshot(10, future)
    bad.rows[0].values["since"] = datetime(2026, 3, 1)
    assert found.take(bad) is None
    assert [each[:2] for each in told(found)[2:]] == [("b", "delete")]
    assert found.take(snapshot(20, (None, "eu", "x", 1))) is None
    assert len(told(found)) == 3


def test_of_rows_that_differ_none_is_taken_and_their_key_stays():
    found = story(
        snapshot(1, ("a", "eu", "x", 1), ("b", "eu", "x", 1), ("c", "eu", "x", 1)),
        snapshot(
            2,
            *(("a", "eu", "y", 2), ("a", "eu", "z", 2)),
            *(("b", "eu", "y", 2), ("b", "eu", "y", 2)),
            *(("d", "eu", "y", 2), ("d", "us", "y", 2)),
        ),
    )
    assert [each for each in told(found) if each[2] == 2] == [
        ("b", UPSERT, 2, 2),
        ("c", DELETE, 2, 2),
    ]


def test_rows_that_differ_in_their_effective_time_alone_differ():
    found = story(
        snapshot(1, ("a", "eu", "x", 1), ("b", "eu", "x", 1)),
        snapshot(2, ("a", "eu", "y", 2), ("a", "eu", "y", None), ("b", "eu", "x", 1)),
    )
    assert [each[:3] for each in told(found)] == [("a", UPSERT, 1), ("b", UPSERT, 1)]
