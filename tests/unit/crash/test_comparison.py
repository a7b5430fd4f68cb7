"""Tables after a kill next to those that nobody disturbed: what counts as a difference."""

from __future__ import annotations

from collections import Counter

from tests.crash.comparison import half_visible, pending, unequal


def current(*rows):
    return {"current": Counter(rows)}


def visible(seen, *states):
    return half_visible(seen, states, ["current"])


def test_old_or_new_rows_are_whole():
    old, between, new = current("a"), current("b"), current("a", "b")
    assert visible(old, old, new) == visible(new, old, new) == []
    assert visible(between, old, between, new) == []
    assert visible(between, old, new) != [] == half_visible(between, [old, new], [])


def test_some_of_the_new_rows_are_half_a_commit():
    (found,) = visible(current("a", "b"), current("a"), current("a", "b", "c"))
    assert found.startswith("killed: current is neither old nor new: 0 too many, 1 ")


def test_a_row_that_is_there_twice_differs():
    assert unequal("again", current("a"), current("a")) == []
    (found,) = unequal("again", current("a", "a"), current("a"))
    assert found == "again: current: 1 too many, 0 missing: +a"


def test_what_was_begun_and_not_ended_is_pending():
    done = ["1.commit.requested", "1.inflight", "1_2.commit", "history"]
    assert pending(done) == pending(["1.commit.requested", "1.commit"]) == []
    plan = "3.compaction.requested"
    assert pending([*done, plan, "4.inflight"]) == [plan, "4.inflight"]
