"""A backfill is asked for until Airflow's database has room; what it refuses is told."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from lake_local.airflow.rest import ApiError
from lake_local.cli.commands import backfill as command
from lake_local.errors import BadRequest

ASKED = {"from_date": "2016-03-01", "to_date": "2016-03-02"}
BUSY = ApiError(503, "Database is locked.")


@pytest.fixture
def create(monkeypatch):
    """Create a backfill of an Airflow that answers so, one after the other."""
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(command.time, "monotonic", lambda: clock.now)
    monkeypatch.setattr(
        command.time, "sleep", lambda s: setattr(clock, "now", clock.now + s)
    )

    def create(*answers):
        left = list(answers)

        def backfill(dag_id, asked):
            answer = left.pop(0) if len(left) > 1 else left[0]
            if isinstance(answer, Exception):
                raise answer
            return answer

        session = SimpleNamespace(airflow=SimpleNamespace(backfill=backfill))
        return command._create(session, "sales_incremental", ASKED)

    create.clock = clock
    return create


def test_a_busy_database_is_asked_again(create):
    assert create(BUSY, BUSY, ["2016-03-01"]) == ["2016-03-01"]
    assert create.clock.now == 2


def test_one_that_stays_busy_is_told(create):
    with pytest.raises(ApiError, match="503: Database is locked"):
        create(BUSY)
    assert create.clock.now > command.BUSY_SECONDS


def test_an_error_of_airflow_is_told_at_once(create):
    with pytest.raises(ApiError, match="500"):
        create(ApiError(500, "no"))
    assert create.clock.now == 0


def test_a_dag_without_a_schedule_is_refused_with_what_to_do(create):
    with pytest.raises(BadRequest, match=r"schedules: \{incremental:"):
        create(ApiError(422, "sales_incremental has a non-periodic schedule"))


def test_another_refusal_is_told_as_it_is(create):
    with pytest.raises(
        BadRequest, match="Airflow refused the backfill: another one runs$"
    ):
        create(ApiError(409, "another one runs"))


def test_without_an_interval_it_is_refused(create):
    with pytest.raises(BadRequest, match="is left to run"):
        create([])
