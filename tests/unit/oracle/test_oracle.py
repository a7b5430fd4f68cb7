"""The oracle on the contract's own examples, worked out manually.

Key k is an order with a status and a note; days are days of January 2026.
"""

from __future__ import annotations

from datetime import datetime

import pytest

from tests.oracle.oracle import UNAVAILABLE, Settings, Delivery, tables

COLUMNS = ("ts", "seq", "since", "status", "note")
PLAIN = Settings(columns=COLUMNS, order_by=("ts", "seq"), ignore=("note",))
NAN = float("nan")


def day(number):
    return None if number is None else datetime(2026, 1, number)


def event(op, at, status=None, *, file="f-1", record=1, key=("k",), **more):
    values = {
        "ts": day(at),
        "seq": more.pop("seq", 0),
        "since": day(more.pop("since", None)),
    }
    values.update(status=status, note=more.pop("note", None))
    return Delivery(key, op, values, file, record, datetime(2026, 2, 1), **more)


def up(at, status, **more):
    return event("upsert", at, status, **more)


def gone(at, **more):
    return event("delete", at, **more)


def load(at, status, **more):
    return event("upsert", at, status, is_load=True, **more)


def number(timestamp):
    return timestamp.day if timestamp else None


def history(events, settings=PLAIN, show="status"):
    """The versions as (value, from day, to day)."""
    _, rows = tables(events, settings)
    return [
        (
            "deleted" if r.is_deleted else r.values[show],
            number(r.valid_from),
            number(r.valid_to),
        )
        for r in rows
    ]


def current(events, settings=PLAIN, show="status"):
    rows, _ = tables(events, settings)
    return ["deleted" if r.is_deleted else r.values[show] for r in rows]


def with_settings(**changes):
    return Settings(**{**PLAIN.__dict__, **changes})


def test_a_a_b_gives_two_versions_and_a_b_a_three():
    assert history([up(1, "A"), up(2, "A"), up(3, "B")]) == [
        ("A", 1, 3),
        ("B", 3, None),
    ]
    a_b_a = [up(1, "A"), up(2, "B"), up(3, "A")]
    assert history(a_b_a) == [("A", 1, 2), ("B", 2, 3), ("A", 3, None)]


def test_arrival_order_is_nothing():
    events = [up(1, "A"), gone(2), up(3, "B"), up(4, "C")]
    assert history(events[::-1]) == history(events)
    assert current(events[::-1]) == current(events) == ["C"]


def test_a_delete_leaves_a_gap_and_no_older_upsert_brings_the_row_back():
    events = [up(1, "A"), gone(3), up(2, "B", file="f-9")]
    assert history(events) == [("A", 1, 2), ("B", 2, 3)]
    assert current(events) == []
    assert history(events + [up(5, "C")])[-1] == ("C", 5, None)


def test_a_marker_covers_the_gap_once():
    marker = with_settings(deletes="tombstone")
    events = [gone(1), up(2, "A"), gone(3), gone(4, record=2), up(6, "A"), gone(7)]
    assert history(events, marker) == [
        ("A", 2, 3),
        ("deleted", 3, 6),
        ("A", 6, 7),
        ("deleted", 7, None),
    ]
    _, rows = tables(events, marker)
    assert [row.is_current for row in rows] == [False] * 4
    assert set(rows[-1].values.values()) == {None}


def test_a_tombstone_follows_an_upsert_whose_version_has_no_length():
    tombstone = with_settings(deletes="tombstone")
    assert history([up(1, "A"), gone(1, record=2)], tombstone) == [("deleted", 1, None)]
    assert history([gone(1), up(1, "A", record=2)], tombstone) == [("A", 1, None)]
    assert history([up(1, "A"), gone(1, record=2)]) == []


def test_soft_keeps_the_row_of_a_key_that_had_an_upsert():
    soft = with_settings(current="soft")
    assert current([up(1, "A"), gone(2)], soft) == ["deleted"]
    assert current([gone(2)], soft) == []


def test_orders_compare_as_numbers_and_positions_with_their_digits_as_numbers():
    assert current([up(1, "late", seq=10), up(1, "early", seq=9, record=2)]) == ["late"]
    tie = [up(1, "nine", file="cdc-9", record=5), up(1, "ten", file="cdc-10")]
    assert current(tie) == ["ten"]
    assert current([up(1, "9th", record=9), up(1, "10th", record=10)]) == ["10th"]


def test_a_tie_between_delete_and_upsert_falls_to_the_position():
    assert current([gone(1, record=1), up(1, "A", record=2)]) == ["A"]
    assert current([up(1, "A", record=1), gone(1, record=2)]) == []


def test_copies_of_a_file_change_nothing_and_a_b_a_in_one_second_stays():
    first = [up(1, "A", record=1), up(1, "B", record=2), up(1, "A", record=3)]
    copy = [up(1, s, file="f-2", record=r) for r, s in ((1, "A"), (2, "B"), (3, "A"))]
    assert current(first) == current(first + copy) == current(copy + first) == ["A"]
    assert current(first[:2] + copy[:2]) == ["B"]


def test_a_load_ranks_lowest_and_is_lowered_to_its_successor():
    events = [load(9, "loaded"), up(3, "A"), up(5, "B")]
    assert history(events) == [("A", 3, 5), ("B", 5, None)]
    declared = with_settings(load_effective_at=day(2))
    assert history(events, declared)[0] == ("loaded", 2, 3)


def test_effective_times_are_raised_along_the_order_by_deletes_too():
    since = with_settings(effective_at="since")
    events = [up(1, "A", since=4), up(2, "B", since=3), up(3, "C", since=6)]
    assert history(events, since) == [("B", 4, 6), ("C", 6, None)]
    events = [up(1, "A", since=1), gone(2, since=5), up(3, "B", since=3)]
    assert history(events, since) == [("A", 1, 5), ("B", 5, None)]
    assert history([up(1, "A", since=None)], since) == [("A", 1, None)]


def test_only_the_last_of_one_effective_time_counts():
    events = [up(1, "A"), up(2, "B", seq=1), up(2, "A", seq=2)]
    assert history(events) == [("A", 1, None)]
    assert history([up(1, "A"), gone(2, seq=1), up(2, "A", seq=2)]) == [("A", 1, None)]


def test_an_untracked_column_shows_the_last_value_and_opens_nothing():
    events = [up(1, "A", note="x"), up(2, "A", note=None), up(3, "B", note="y")]
    assert history(events, show="note") == [(None, 1, 3), ("y", 3, None)]
    tracked = with_settings(track=("note",), ignore=())
    assert len(history(events[:2], tracked)) == 2


@pytest.mark.parametrize(
    "one, other, equal",
    [
        (0.0, -0.0, True),
        (NAN, float("nan"), True),
        ({"a": NAN, "b": [0.0]}, {"b": [-0.0], "a": NAN}, True),
        (None, None, True),
        (None, "", False),
        ([1, 2], [2, 1], False),
    ],
    ids=["zeros", "NaNs", "nested", "nulls", "null and empty", "turned arrays"],
)
def test_equality_is_typed_null_safe_and_structural(one, other, equal):
    assert len(history([up(1, one), up(2, other)])) == (1 if equal else 2)


def test_composite_keys_are_tuples():
    keys = [("a", "bc"), ("ab", "c"), ("a|b", "c"), ("a", "b|c")]
    assert len(current([up(1, "A", key=key) for key in keys])) == 4


def test_what_has_no_key_order_or_time_or_lies_ahead_is_not_accepted():
    bad = [
        up(1, "A", key=("k", None)),
        up(None, "A"),
        up(1, "A", seq=None),
        event("upsert", 1, "A", since=2),
    ]
    ahead = with_settings(effective_at="since", open_end=day(2))
    assert [current([each], ahead) for each in bad] == [[], [], [], []]
    late = Delivery(("k",), "upsert", {"ts": day(9), "seq": 1}, "f", 1, day(7))
    assert current([late]) == []
    assert len(current([late], with_settings(future_dates=True))) == 1
    at_the_end = with_settings(future_dates=True, open_end=day(9))
    assert current([late], at_the_end) == []
    assert current([load(1, "A", seq=None)]) == ["A"]


def test_the_open_end_may_be_a_sentinel():
    assert history([up(1, "A")], with_settings(open_end=day(31))) == [("A", 1, 31)]


def test_a_truncate_deletes_every_key_that_stands_before_it():
    truncate = event("truncate", 3, key=None, record=9)
    assert history([up(1, "A"), up(5, "B"), truncate]) == [("A", 1, 3), ("B", 5, None)]
    assert current([truncate, up(1, "late"), up(4, "C", key=("new",))]) == ["C"]


def test_a_placeholder_takes_the_value_before_it_but_not_across_a_delete():
    kept = up(2, UNAVAILABLE)
    assert history([kept, up(1, "A")]) == [("A", 1, None)]
    assert current([up(1, "A"), gone(1, seq=1), kept]) == [None]
    assert current([kept]) == [None]


def test_a_full_refresh_ranks_where_it_started_and_deletes_what_it_lacks():
    full_refresh = load(6, "again", full_refresh_at=(day(4), 0), key=("k",))
    events = [
        up(1, "A"),
        up(1, "B", key=("lost",)),
        up(5, "later", key=("new",)),
        full_refresh,
    ]
    assert history(events) == [
        ("A", 1, 4),
        ("again", 4, None),
        ("B", 1, 4),
        ("later", 5, None),
    ]
    assert len(current(events, with_settings(missing_keys="ignore"))) == 3
