"""What is known of the landing files that a table has taken in."""

from __future__ import annotations

from lake_spark.inputs import Inputs, Taken


def taken(path, landed_at):
    return Taken(path, "etag", landed_at)


def test_the_newest_file_is_that_which_landed_last_whenever_it_was_taken():
    late = taken("a", "2026-11-19T02:00:00.250000+00:00")
    inputs = Inputs((taken("b", "2026-11-18T02:00:00+00:00"),), (late,))
    assert inputs.newest == late.landed_at


def test_before_the_first_file_there_is_no_newest():
    assert Inputs().newest is None
