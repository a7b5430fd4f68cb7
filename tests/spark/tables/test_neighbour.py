"""Guards of catalogue and tables that are gone are seen by the world of foreign things."""

from __future__ import annotations

from typing import Any, Callable, Dict, Tuple

import pytest

from lake_spark.publish import glue_tables, publication
from lake_spark.publish.delta import Delta
from lake_spark.publish.iceberg import Iceberg
from lake_spark.tables import catalog, entry_owner
from tests.neighbour import catalogue, published
from tests.neighbour.lake import SCENES
from tests.neighbour.scene import Scene, play


def _always(value: Any) -> Callable[..., Any]:
    return lambda *_, **__: value


LOOSE: Dict[str, Tuple[Scene, Any, str, Any]] = {
    "whose an entry is": (
        catalogue.under_names_of_ours,
        entry_owner,
        "is_ours",
        _always(True),
    ),
    "the refusal where it is registered": (
        catalogue.under_names_of_ours,
        catalog,
        "refuse_other",
        _always(None),
    ),
    "the refusal where it is published": (
        catalogue.under_names_of_ours,
        glue_tables,
        "refuse_other",
        _always(None),
    ),
    "the look at an entry that is removed": (
        catalogue.under_names_of_ours,
        glue_tables,
        "is_ours",
        _always(True),
    ),
    "parameters of others": (
        catalogue.on_entries_of_ours,
        catalog,
        "with_theirs",
        lambda wanted, *_: wanted,
    ),
    "parameters of others where it is published": (
        catalogue.on_entries_of_ours,
        glue_tables,
        "with_theirs",
        lambda wanted, *_: wanted,
    ),
    "whose a Delta log is": (published.beside_tables, Delta, "is_ours", _always(True)),
    "whose Iceberg metadata are": (
        published.beside_tables,
        Iceberg,
        "_has_former",
        _always(True),
    ),
    "formats that the spec names": (
        published.beside_tables,
        publication,
        "drop_unasked",
        lambda run: [
            publication._format(run, "current", run.table("current"), kind).drop()
            for kind in publication.FORMATS
        ],
    ),
}
"""A scene that each keeps whole, and how it is taken away."""


@pytest.mark.parametrize("name", LOOSE)
def test_without_a_guard_something_of_others_is_lost(name, tmp_path, monkeypatch):
    scene, *patch = LOOSE[name]
    monkeypatch.setattr(*patch)
    assert play("loose", [scene], tmp_path).lost


@pytest.mark.parametrize("kind", SCENES)
def test_with_all_guards_nothing_is_lost(kind, tmp_path):
    left = play(kind, SCENES[kind], tmp_path)
    assert (left.lost, left.unexpected) == ([], []) and left.things > 5
