"""A DAG is waited for while Airflow may still read it, and refused once it has not."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from lake_local.airflow.rest import ApiError
from lake_local.errors import BadRequest
from lake_local.runs import dag_runs


class Reading:
    """An Airflow that reads the DAGs of one more file at each given question."""

    def __init__(self, *read: list[str]) -> None:
        self._left = list(read)
        self._known: list[str] = []

    def _ask(self) -> None:
        if self._left:
            self._known = self._known + self._left.pop(0)

    def dag(self, dag_id):
        self._ask()
        if dag_id not in self._known:
            raise ApiError(404, "not found")
        return {"dag_id": dag_id}

    def dag_ids(self):
        self._ask()
        return self._known

    def import_errors(self):
        return []


@pytest.fixture
def wait_for(monkeypatch):
    """Wait for a DAG of the domains `sales` and `days`, with a clock that only counts."""
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(dag_runs.time, "monotonic", lambda: clock.now)
    monkeypatch.setattr(
        dag_runs.time, "sleep", lambda s: setattr(clock, "now", clock.now + s)
    )
    domains = [SimpleNamespace(name=name) for name in ("days", "sales")]

    def wait_for(dag_id, airflow):
        session = SimpleNamespace(
            airflow=airflow, specs=SimpleNamespace(domains=lambda: domains)
        )
        dag_runs._wait_until_known(session, dag_id)
        return clock.now

    return wait_for


SALES = ["sales_incremental", "sales_full_load"]
DAYS = ["days_incremental"]


def test_one_that_is_known_is_not_waited_for(wait_for):
    assert wait_for("days_incremental", Reading(DAYS)) == 0


def test_one_that_is_read_later_is_waited_for(wait_for):
    assert wait_for("days_incremental", Reading(SALES, [], [], [], DAYS)) == 1


def test_one_that_is_read_between_two_questions_is_no_unknown_one(wait_for):
    assert wait_for("days_incremental", Reading(SALES, DAYS)) == 0.5


def test_one_that_its_domain_does_not_have_is_refused_at_once(wait_for):
    with pytest.raises(BadRequest, match="Did you mean 'days_incremental'"):
        wait_for("days_incremenal", Reading(DAYS))


def test_one_of_a_domain_that_is_never_read_is_refused_in_the_end(wait_for):
    with pytest.raises(BadRequest, match="no DAG 'days_incremental'"):
        wait_for("days_incremental", Reading(SALES))
