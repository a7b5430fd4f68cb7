"""The demo picks an artist worth looking at."""

from __future__ import annotations

import pytest

from lake_local.cli.commands.demo import TABLE, example
from lake_local.workspace.project import find
from lake_local.workspace.specs import specs_of


@pytest.fixture(scope="module")
def table():
    return specs_of(find(), None).table(TABLE)


def version(key, name, begin):
    return {"constituent_id": key, "display_name": name, "begin_date": begin}


def test_the_one_who_changed_most_is_shown_with_all_versions(table):
    rows = [
        version(1, "Ana", 1900),
        version(2, "Bo", 1900),
        version(2, "Bo", 1901),
        version(3, "Cy", 1900),
        version(3, "Cyd", 1901),
    ]
    assert example(table, rows) == rows[3:]


def test_nobody_is_shown_where_nobody_changed(table):
    assert example(table, [version(1, "Ana", 1900)]) == []
