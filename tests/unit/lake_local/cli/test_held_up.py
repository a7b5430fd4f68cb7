"""A run that waits says which other run has the lease of its domain."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from lake_spec.layout.run_key import run_key

from lake_local.runs.dag_runs import what_holds_up

RUN = "manual__2026-01-01"


@pytest.fixture
def told(s3):
    """What is said of a run of `sales_incremental`, by the holder of the lease."""
    environment = SimpleNamespace(runs="s3://lake/runs")
    domains = SimpleNamespace(
        domain_names=lambda: ["sales", "shop"], environment=environment
    )
    session = SimpleNamespace(specs=domains, aws=lambda service: s3)

    def told(holder):
        if holder is not NONE:
            content = json.dumps({"holder": holder, "token": 1}).encode()
            s3.put_object(Bucket="lake", Key="runs/leases/sales.json", Body=content)
        return what_holds_up(session, "sales_incremental", RUN)

    return told


NONE = object()


@pytest.mark.parametrize(
    "holder",
    [NONE, None, f"sales_incremental/{run_key(RUN)}"],
    ids=["no-object", "given-back", "itself"],
)
def test_nothing_is_said_where_no_other_run_has_it(told, holder):
    assert told(holder) == ""


def test_another_run_that_has_it_is_named(told):
    words = "waits: the run sales_maintenance/m1 has the domain's lease"
    assert told("sales_maintenance/m1") == words
