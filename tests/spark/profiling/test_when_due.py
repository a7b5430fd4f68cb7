"""When a table is measured, and that no failure of it fails a run; nothing is read."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from types import SimpleNamespace

import pytest

from lake_spec.model import Profile, Sensitivity
from lake_spec.state.report import Report
from lake_spec.state.table_profile import (
    ColumnProfile,
    TableProfile,
    profile_text,
    read_profile,
)
from lake_check.parsing.loader import load_domain
from lake_spark.errors import LeaseLost
from lake_spark.profiling import profile as module
from lake_spark.storage.object_store import FolderStore
from lake_spark.tables.table_run import TableRun
from tests.spark.lake import environment_in
from tests.unit.lake_check.spec_files import SpecFiles

COMMIT = "20261126120000000"
STATUS = ColumnProfile("status", "string", 0, 1, top=(("new", 7),))


class FakeCurrent:
    """A current that was committed once."""

    instant = COMMIT

    def has_data(self):
        return self.instant is not None

    def last_commit(self):
        return SimpleNamespace(instant=self.instant)


class FakeRun(TableRun):
    """A run whose current is not there to be read."""

    current = FakeCurrent()


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A run of maintenance that would measure seven rows."""
    (spec,) = load_domain("sales", SpecFiles(tmp_path).tables).tables
    report = Report("r/1", "rel", "sales", "orders", "maintenance", "pyspark")
    monkeypatch.setattr(module, "living", lambda run: None)
    monkeypatch.setattr(module, "measure", lambda rows, may_show: (7, (STATUS,)))
    monkeypatch.setattr(FakeCurrent, "instant", COMMIT)
    return FakeRun(None, FolderStore(), spec, environment_in(tmp_path), report)


def put(run, *, days, instant=COMMIT, column=STATUS):
    at = (datetime.now(timezone.utc) - timedelta(days=days)).isoformat()
    found = TableProfile("sales", "orders", "r/0", at, instant, 3, (column,))
    run.store.write(module.uri_of(run), profile_text(found).encode())


def rows(run):
    """The rows of the stored profile; None without one."""
    try:
        uri = module.uri_of(run)
        return read_profile(run.store.read(uri), uri).rows
    except KeyError:
        return None


def test_maintenance_measures_a_table_without_a_profile(run):
    module.profile_where_due(run)
    assert rows(run) == 7 and run.report.warnings == []


@pytest.mark.parametrize(
    ("days", "instant", "measured"),
    [(5, "older", 3), (6.5, "older", 7), (6.5, COMMIT, 3), (400, COMMIT, 3)],
)
def test_one_is_replaced_when_it_is_old_and_the_table_changed(
    run, days, instant, measured
):
    put(run, days=days, instant=instant)
    module.profile_where_due(run)
    assert rows(run) == measured


def test_a_damaged_one_is_replaced(run):
    run.store.write(module.uri_of(run), b"{")
    module.profile_where_due(run)
    assert rows(run) == 7


@pytest.mark.parametrize(("counts_only", "measured"), [(False, 7), (True, 3)])
def test_one_with_values_of_a_personal_column_is_replaced_at_once(
    run, counts_only, measured
):
    columns = dict(run.spec.columns)
    columns["status"] = replace(columns["status"], sensitivity=Sensitivity.PERSONAL)
    run.spec = replace(run.spec, columns=tuple(columns.items()))
    put(run, days=0, column=replace(STATUS, counts_only=counts_only))
    module.profile_where_due(run)
    assert rows(run) == measured


def test_a_load_is_measured_at_once_if_it_committed(run):
    put(run, days=0)
    module.profile_loaded(run)
    assert rows(run) == 3
    run.report.commits["current"] = COMMIT
    module.profile_loaded(run)
    assert rows(run) == 7


def test_a_table_without_commits_and_a_dry_run_measure_nothing(run, monkeypatch):
    module.profile_where_due(replace(run, dry_run=True))
    monkeypatch.setattr(FakeCurrent, "instant", None)
    module.profile_where_due(run)
    assert rows(run) is None


def test_never_removes_it_with_older_versions(run, monkeypatch):
    cleared = []
    monkeypatch.setattr(run.store, "delete_old_versions", cleared.append)
    put(run, days=0)
    run.spec = replace(run.spec, profile=Profile.NEVER)
    for _ in range(2):
        module.profile_where_due(run)
        assert rows(run) is None
    assert cleared == [module.uri_of(run)]


def test_a_failure_is_a_warning_and_leaves_the_last_one(run, monkeypatch):
    put(run, days=9, instant="older")
    monkeypatch.setattr(module, "measure", lambda *_: 1 / 0)
    module.profile_where_due(run)
    assert rows(run) == 3
    assert run.report.warnings == [
        "NoProfile: the table was not measured: ZeroDivisionError: division by zero"
    ]


def test_a_lost_lease_ends_the_stage(run, monkeypatch):
    def lost(*_):
        raise LeaseLost("another run has it")

    monkeypatch.setattr(module, "measure", lost)
    with pytest.raises(LeaseLost):
        module.profile_where_due(run)
