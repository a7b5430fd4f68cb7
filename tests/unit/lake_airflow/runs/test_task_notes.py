"""What tasks note is read as any release wrote it, and by one module alone.

A run is under way while a release arrives: a task that an older release put to sleep is
woken by the newer one.
"""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

import pytest

from lake_airflow.runs import task_notes
from lake_airflow.runs.task_notes import (
    FirstTaskNotes,
    LastTaskNotes,
    ReleaseNotes,
    StageNotes,
    TaskNotes,
    Termination,
)

DAGS = Path(__file__).parents[4] / "dags"
AT = datetime(2026, 11, 26, 12, 0, 1, 500, tzinfo=timezone.utc)
ISO = "2026-11-26T12:00:01.000500+00:00"

# What releases up to now wrote into XComs: (class, attribute, key, in JSON, value).
WRITTEN = [
    (TaskNotes, "try_number", "try", 2, 2),
    (TaskNotes, "reads_fail_since", "reads_fail_since", ISO, AT),
    (ReleaseNotes, "release", "release", "r1", "r1"),
    (FirstTaskNotes, "run", "run", {"key": "k"}, {"key": "k"}),
    (FirstTaskNotes, "cause", "cause", "busy", "busy"),
    (FirstTaskNotes, "no_news", "no_news", "manual-1", "manual-1"),
    (FirstTaskNotes, "waits_since", "waits_since", ISO, AT),
    (StageNotes, "follows", "follows", True, True),
    (StageNotes, "known", "known", ["s-1", "s-2"], {"s-1", "s-2"}),
    (StageNotes, "known", "known", [], set()),
    (StageNotes, "cancelled", "cancelled", {"s-1": ISO}, {"s-1": AT}),
    (StageNotes, "forced_on", "forced", "j-1", "j-1"),
    (StageNotes, "steps", "steps", [{"id": "s-1"}], [{"id": "s-1"}]),
    (
        *(LastTaskNotes, "termination", "ends"),
        *({"cluster": "j-1", "since": ISO}, Termination("j-1", AT)),
    ),
    (LastTaskNotes, "minutes", "minutes", {"a.b": 1.5}, {"a.b": 1.5}),
]
MISSING = {"follows": False, "cancelled": {}, "minutes": {}}


@pytest.mark.parametrize("kind, attribute, key, stored, value", WRITTEN)
def test_a_note_is_read_and_written_as_ever(
    runner, kind, attribute, key, stored, value
):
    notes = kind(runner.context("task"), "task")
    assert getattr(notes, attribute) == MISSING.get(attribute)
    runner.xcoms["task", key] = stored
    assert getattr(notes, attribute) == value
    runner.xcoms.clear()
    setattr(notes, attribute, value)
    assert runner.xcoms == {("task", key): stored}


def test_the_list_above_has_every_note():
    kinds = (FirstTaskNotes, StageNotes, LastTaskNotes)
    keys = {key for kind in kinds for key in kind.keys()}
    assert keys == {key for _, _, key, _, _ in WRITTEN}


def test_another_try_begins_without_notes_and_the_same_one_with_them(runner):
    notes = StageNotes(runner.context("scd2"), "scd2")
    notes.begin_try(1)
    notes.follows, notes.reads_fail_since = True, AT
    notes.begin_try(1)
    assert notes.follows and notes.reads_fail_since == AT
    notes.begin_try(2)
    assert not notes.follows and notes.reads_fail_since is None
    assert notes.known is None and notes.try_number == 2


def test_a_task_notes_nothing_in_the_name_of_another(runner):
    notes = FirstTaskNotes.of_run(runner.context("summary"))
    with pytest.raises(ValueError, match="summary cannot note it for create_cluster"):
        notes.cause = "mine"
    assert runner.xcoms == {}


def test_no_other_module_pushes_or_pulls_an_xcom():
    here = Path(task_notes.__file__)
    calls = ("xcom_push", "xcom_pull")
    assert [
        file.relative_to(DAGS)
        for file in DAGS.rglob("*.py")
        if file.resolve() != here and any(each in file.read_text() for each in calls)
    ] == []
