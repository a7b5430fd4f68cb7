"""Guards of catalogue and tables that are gone are seen by the world of foreign things."""

from __future__ import annotations

import pytest

from tests.neighbour.guards_of_spark import GUARDS
from tests.neighbour.lake import SCENES
from tests.neighbour.scene import play


@pytest.mark.parametrize("name", GUARDS)
def test_without_a_guard_something_is_told(name, tmp_path):
    assert GUARDS[name].is_seen(tmp_path)


@pytest.mark.parametrize("kind", SCENES)
def test_with_all_guards_nothing_is_lost(kind, tmp_path):
    left = play(kind, SCENES[kind], tmp_path)
    assert (left.lost, left.unexpected) == ([], []) and left.things > 5
