"""Keeps the states of a domain's tables up to date: what the page of all tables reads."""

from __future__ import annotations

import json
from typing import Any, Mapping

from lake_airflow.planning.plan import DagPlan
from lake_airflow.runs.s3_object import S3Object
from lake_spec.model import EnvironmentSpec
from lake_spec.state.state_format import FORMAT, parse_state
from lake_spec.state.table_states import EndedRun, after_run, states_uri

_ATTEMPTS = 5


class StatesBusy(RuntimeError):
    """Several runs wrote the states of a domain at once, and this one lost each time.

    Fix: Nothing; the next run of the DAG writes them.
    """


def record_run(
    plan: DagPlan,
    environment: EnvironmentSpec,
    ended: EndedRun,
    *,
    summary: Mapping[str, Any],
    minutes: Mapping[str, float],
    aws_conn_id: str,
) -> None:
    """Write a run into the states of its domain; a dry run changes nothing."""
    if summary.get("dry_run"):
        return
    states = S3Object(
        states_uri(environment.runs, plan.domain),
        region=environment.region,
        aws_conn_id=aws_conn_id,
    )
    what = f"the states of the tables of {plan.domain}"
    for _ in range(_ATTEMPTS):
        content, etag = states.read()
        before = parse_state(content or json.dumps({}), what=what, where=states.address)
        after = after_run(
            before,
            plan.domain,
            ended,
            summary=summary,
            tables=plan.tables,
            minutes=minutes,
        )
        if states.write({FORMAT: 1, **after}, etag):
            return
    raise StatesBusy(f"{states.address}: other runs wrote it at the same time.")
