"""The demo picks an artist worth looking at."""

from __future__ import annotations

import pytest

from lake_local.cli.commands.demo import TABLE, example, next_steps
from lake_local.cli.commands.scope import home_of
from lake_local.workspace.project import find
from lake_local.workspace.specs import specs_of
from lake_local.workspace.state_dir import StateDirectory


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


def test_the_next_steps_name_the_state_directory(tmp_path):
    steps = list(next_steps(StateDirectory.at(tmp_path), ""))
    commands = [each.split("   #")[0] for each in steps if "run_locally" in each]
    assert all(each.endswith(f" --state-dir {tmp_path}") for each in commands)
    assert [each.split()[1] for each in commands] == [
        "show",
        "show",
        "show",
        "up",
        "onboard",
    ]


def test_what_stays_up_is_shown_and_can_be_stopped():
    steps = "\n".join(next_steps(home_of(None), "http://127.0.0.1:1"))
    assert "  http://127.0.0.1:1/dags" in steps and "run_locally.sh down" in steps
    assert "--state-dir" not in steps
