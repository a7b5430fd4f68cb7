"""Steps note how long tables took; a note that cannot be read is none."""

from __future__ import annotations

import json

import pytest

from lake_spec.state.report import Report
from lake_spark.step import durations

RUNS, NOTED = "s3://lake/runs", "s3://lake/runs/timings/sales.json"


class Store:
    """A store of one object, or of none."""

    def __init__(self, content=None):
        self.objects = {} if content is None else {NOTED: content}

    def read(self, uri, *, limit=None):
        return self.objects[uri]

    def write(self, uri, content):
        self.objects[uri] = content


def report(table, seconds, *, stage="incremental", state="done"):
    return Report(
        run="sales_incremental/1",
        release="r",
        domain="sales",
        table=table,
        stage=stage,
        engine="pyspark",
        state=state,
        seconds=seconds,
    )


def test_a_step_finds_what_the_steps_before_it_noted():
    store = Store()
    durations.note(store, RUNS, [report("orders", 8.0), report("items", 40.0)])
    durations.note(store, RUNS, [report("orders", 4.0, state="nothing_new")])
    durations.note(store, RUNS, [report("orders", 2.0, stage="scd2")])
    assert durations.read(store, RUNS, "sales") == {
        "incremental": {"orders": 6.0, "items": 40.0},
        "scd2": {"orders": 2.0},
    }


@pytest.mark.parametrize("state", ["failed", "dry_run"])
def test_what_did_not_do_the_work_says_nothing(state):
    store = Store(json.dumps({"incremental": {"orders": 8.0}}).encode())
    durations.note(store, RUNS, [report("orders", 0.1, state=state)])
    assert durations.read(store, RUNS, "sales") == {"incremental": {"orders": 8.0}}


@pytest.mark.parametrize(
    "content", [None, b"", b"[]", b'{"scd2": 1}', b'{"scd2": {"orders": "long"}}']
)
def test_without_a_note_nothing_is_expected(content):
    store = Store(content)
    assert durations.read(store, RUNS, "sales") == {}
    durations.note(store, RUNS, [report("orders", 8.0)])
    assert durations.read(store, RUNS, "sales") == {"incremental": {"orders": 8.0}}


class Refusing:
    """A store that grants nothing."""

    def read(self, uri, *, limit=None):
        raise PermissionError("403\nForbidden")

    def write(self, uri, content):
        raise PermissionError("403\nForbidden")


class ReadOnly(Store):
    """A store that grants no writing."""

    write = Refusing.write


@pytest.mark.parametrize("store", [Refusing(), ReadOnly()], ids=["all", "writing"])
def test_what_is_refused_is_told_in_one_line_and_fails_nothing(store, capsys):
    assert durations.read(store, RUNS, "sales") == {}
    capsys.readouterr()
    durations.note(store, RUNS, [report("orders", 8.0)])
    told = f"LAKE sales: the timings {NOTED} were not noted: PermissionError: 403\n"
    assert capsys.readouterr().out == told


def test_timings_that_may_not_be_read_are_told_and_none(capsys):
    assert durations.read(Refusing(), RUNS, "sales") == {}
    told = f"LAKE sales: the timings {NOTED} were not read: PermissionError: 403\n"
    assert capsys.readouterr().out == told
