"""A guard of the product that is gone, or too strict, is seen by the world of foreign things."""

from __future__ import annotations

import logging

import pytest

from tests.neighbour.__main__ import KINDS, LEAST, main
from tests.neighbour.guard import Guard, TooStrict, unseen
from tests.neighbour.guards import GUARDS
from tests.neighbour.scene import Beside, play


@pytest.fixture(autouse=True)
def silent():
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("name", GUARDS)
def test_without_a_guard_something_is_told(name, tmp_path):
    assert GUARDS[name].is_seen(tmp_path)


def test_with_all_guards_nothing_is_lost(capsys):
    """Kinds that need pyspark have theirs in tests/spark/tables/test_neighbour.py."""
    assert main([word for kind in KINDS for word in ("--only", kind)]) == 0
    *kinds, last = capsys.readouterr().out.splitlines()
    things, _, lost = last.partition(" foreign things, ")
    assert int(things) >= LEAST and lost == "0 lost"
    assert [each.partition(":")[0] for each in kinds] == list(KINDS)


@pytest.mark.parametrize("kind", [Guard, TooStrict])
def test_a_guard_that_changes_nothing_is_not_seen(kind, tmp_path):
    def quiet(beside: Beside):
        yield lambda: {"kept": 1}
        yield None

    guards = {
        "useless": kind(quiet, lambda patch: None),
        "loose": Guard(scene, lambda patch: None),
        "strict": TooStrict(scene, lambda patch: None),
    }
    assert unseen(guards, tmp_path) == ["useless"]


def scene(beside: Beside):
    """A file that is changed, one that goes, one that stays."""
    there = {"changed": 1, "gone": 1, "kept": 1}
    yield lambda: dict(there)
    there["changed"] = 2
    del there["gone"]
    there["new"] = 1
    beside.does("what it cannot", lambda: 1 / 0)
    beside.refuses("what it refuses in other words", ValueError, lambda: {}["x"])
    beside.refuses("what it has to refuse", ValueError, lambda: 1)
    beside.refuses("what it refuses", KeyError, lambda: {}["x"])
    yield None


def test_what_changed_or_went_is_lost_and_what_was_not_as_told_is_said(tmp_path):
    left = play("files", [scene], tmp_path)
    assert (left.things, left.lost) == (3, ["scene: changed", "scene: gone"])
    assert left.unexpected == [
        "scene: what it cannot: ZeroDivisionError: division by zero",
        "scene: what it refuses in other words: KeyError: 'x'",
        "scene: what it has to refuse: was not refused",
    ]
