"""The oracle of the loop on histories written out manually."""

from __future__ import annotations

from tests.loop.audit import Change, Version, from_timestamp, versions

LOADED = 0


def story(*changes, load_number=0):
    """The versions of key 1, as (from, to, value); a value is a delete if None."""
    made = [
        Change(number, time, what if value is None else "u", key, {"value": value})
        for number, (time, key, value, what) in enumerate(changes, 1)
    ]
    found = versions(made, load_number, LOADED)
    return [(v.since, v.until, v.values["value"]) for v in found.get((1,), [])]


def put(time, value, key=1):
    return (time, (key,), value, "u")


def gone(time, key=1):
    return (time, (key,), None, "d")


def all_gone(time):
    return (time, (None,), None, "t")


def test_each_change_opens_a_version_and_equal_neighbours_are_one():
    told = story(put(10, "a"), put(20, "a"), put(30, "b"), put(40, "a"))
    assert told == [(10, 30, "a"), (30, 40, "b"), (40, None, "a")]


def test_a_delete_leaves_a_gap():
    told = story(put(10, "a"), gone(20), put(30, "a"), gone(40))
    assert told == [(10, 20, "a"), (30, 40, "a")]


def test_of_one_time_the_last_change_counts():
    told = story(put(10, "a"), put(10, "b"), gone(20), put(20, "b"), put(20, "c"))
    assert told == [(10, 20, "b"), (20, None, "c")]
    assert story(put(10, "a"), gone(10)) == []


def test_time_never_goes_back():
    assert story(put(10, "a"), put(5, "b")) == [(10, None, "b")]
    assert story(put(10, "a"), put(20, "b"), gone(15)) == [(10, 20, "a")]


def test_a_truncate_ends_all_keys_that_are_there():
    told = story(put(10, "a"), all_gone(20), put(30, "b"))
    assert told == [(10, 20, "a"), (30, None, "b")]


def test_what_the_capture_began_with_is_one_version_since_the_load():
    changes = put(10, "a"), put(20, "b"), put(30, "c")
    assert story(*changes, load_number=2) == [(LOADED, 30, "b"), (30, None, "c")]
    assert story(put(10, "a"), gone(20), put(30, "c"), load_number=2) == [
        (30, None, "c")
    ]


def test_keys_have_their_own_story():
    told = versions(
        [Change(i, i, "u", (i,), {"value": "x"}) for i in (1, 2)], 0, LOADED
    )
    assert told == {(i,): [Version(i, None, {"value": "x"})] for i in (1, 2)}


def test_from_a_timestamp_on_what_was_before_does_not_count():
    known = [Version(10, 20, "a"), Version(20, 30, "b"), Version(40, None, "c")]
    assert from_timestamp(known, 5) == known
    assert from_timestamp(known, 20) == known[1:]
    assert from_timestamp(known, 25) == [Version(25, 30, "b"), known[2]]
    assert from_timestamp(known, 50) == [Version(50, None, "c")]
    assert from_timestamp([Version(10, 20, "a")], 20) == []


def test_what_differed_in_columns_that_are_not_compared_is_one_version():
    known = [Version(10, 20, "a"), Version(20, 30, "a"), Version(40, 50, "a")]
    assert from_timestamp(known, 5) == [Version(10, 30, "a"), Version(40, 50, "a")]
