"""The demo picks an artist worth looking at."""

from __future__ import annotations

import pytest

from lake_local.cli.commands.demo import (
    CHECKED,
    STEPS,
    TABLE,
    as_shown,
    checked,
    example,
    next_steps,
)
from lake_local.cli.commands.scope import home_of
from lake_local.runs.dag_runs import Ended
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
        "sql",
        "up",
        "onboard",
    ]


def test_an_artists_versions_are_printed_as_show_prints_them():
    row = {"id": 4359, "begin_date": None, "from": "2016-03-03T00:00:00Z", "to": None}
    head = ("id", "begin_date", "from", "to")
    shown = as_shown(row, head, ("from", "to"))
    assert shown == ["4359", "null", "2016-03-03 00:00:00", "null"]


def test_what_stays_up_is_shown_and_can_be_stopped():
    steps = "\n".join(next_steps(home_of(None), "http://127.0.0.1:1"))
    assert "  http://127.0.0.1:1/dags" in steps and "run_locally.sh down" in steps
    assert "--state-dir" not in steps


def ended(**report):
    """A run with one report of the second table."""
    summary = {"tables": {"loans": {"stage": {"table": "loans", **report}}}}
    return Ended("moma_incremental", "cli__1", "success", 1.0, summary)


def test_bad_rows_rules_that_warned_and_compactions_are_shown():
    bad = {"path": "loans_2016-05-12.csv", "record": 12, "reason": "below 0"}
    before, after = {"files": 2, "bytes": 20_000}, {"files": 1, "bytes": 15_000}
    sizes = {"before": before, "after": after}
    compacted = {"layer": "current", "done": ["compaction"], **sizes}
    shown = "\n".join(
        checked(
            [
                ended(
                    samples=[bad],
                    warnings=[
                        "QuarantinedRows: 1 of 34 rows are bad",
                        "FailedQualityRule: quality: venue has no value: 1 row(s)",
                    ],
                ),
                ended(
                    maintained=[compacted, {"layer": "history", "done": [], **sizes}]
                ),
            ]
        )
    )
    words = " ".join(shown.split())
    assert "loans loans_2016-05-12.csv 12 below 0" in words
    assert "Rules that warned: venue has no value: 1 row(s)" in words
    assert "loans current 2 1 20,000 15,000" in words and "history" not in words


def test_nothing_is_shown_where_all_rows_are_good():
    assert list(checked([ended()])) == []


def test_the_demos_files_are_those_of_its_tables():
    """Each landed file is one that the spec of its folder's table reads."""
    root = find().root
    for _, files in STEPS:
        for name, folder in files:
            assert (root / "data" / "moma" / name).is_file()
            spec = specs_of(find(), None).table(f"moma.{folder.split('/')[0]}")
            assert spec.source.path == f"moma/{spec.name}"
    rows = (root / "data/moma/loans_2016-05-12.csv").read_text().splitlines()[1:]
    values = [row.split(",") for row in rows]
    assert [n for n, row in enumerate(values, 1) if row[4].startswith("-")] == [12]
    updated = [n for n, row in enumerate(values, 1) if row[0] != "D" and not row[3]]
    assert updated == [21]
    assert specs_of(find(), None).table(CHECKED).maintenance.compact_after == 1
