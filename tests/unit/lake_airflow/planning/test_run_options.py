"""The table of what a run can be asked for is what forms, runs and steps go by."""

from __future__ import annotations

import ast
from dataclasses import fields
from pathlib import Path

import pytest

from lake_airflow.planning.form import params
from lake_airflow.planning.plan import plan
from lake_airflow.runs.run import Run
from lake_spec.contract.dag_names import DAG_KINDS
from lake_spec.contract.run_options import OPTIONS, params_of, step_arguments
from lake_spec.model import HistoryRuns, JdbcChanges, Scope
from lake_spec.model.continuous import Continuous
from tests.unit.lake_airflow.specs import domain, product, pulled, snapshot

PARSER = Path(__file__).parents[4] / "spark_jobs/lake_spark/step/arguments.py"
EVERYTHING = domain(
    snapshot("stock", Scope("region")),
    pulled("orders", JdbcChanges("shop", "orders", "at")),
    product("totals", "sales.orders", partition_by=("year",)),
    continuous=Continuous(),
    history_runs=HistoryRuns.OWN_DAG,
)


def parsed_arguments():
    """What `--x` the parser of a step knows, as its source says."""
    calls = [n for n in ast.walk(ast.parse(PARSER.read_text())) if type(n) is ast.Call]
    return {
        call.args[0].value
        for call in calls
        if isinstance(call.func, ast.Attribute) and call.func.attr == "add_argument"
    }


def test_a_step_knows_each_argument_and_takes_no_other_from_a_run():
    always = {
        "--release",
        "--sha256",
        "--region",
        "--domain",
        "--stage",
        "--then",
        "--run",
        "--lease-token",
    }
    assert {o.argument for o in OPTIONS if o.argument} == parsed_arguments() - always


def test_a_checked_run_has_each_option():
    assert {option.name for option in OPTIONS} <= {each.name for each in fields(Run)}


@pytest.mark.parametrize("kind", DAG_KINDS)
def test_the_form_of_a_dag_shows_what_its_runs_take(kind):
    (planned,) = [each for each in plan(EVERYTHING) if each.kind == kind]
    assert (
        tuple(params(planned)) == planned.params == tuple(params_of(EVERYTHING, kind))
    )


@pytest.mark.parametrize(
    "stage, names",
    [
        ("incremental", {"window", "accept_losses", "empty_scopes", "pull_from"}),
        ("prepare_incremental", {"window", "pull_from"}),
        ("scd2", {"window"}),
        (
            "reprocess",
            {"window", "files", "quarantined", "retract_missing"}
            | {"accept_losses", "empty_scopes"},
        ),
        ("rebuild", {"window", "verify"}),
        ("rebuild_product", {"window", "verify"}),
        ("product", {"window", "partitions"}),
        ("rebuild_dimension", {"window"}),
        ("maintenance", {"window", "move_foreign_files"}),
        ("erase", {"window", "request"}),
    ],
)
def test_a_stage_gets_what_goes_with_it(stage, names):
    found = {option.name for option in OPTIONS if option.goes_to(stage)}
    assert found == {"tables", "dry_run"} | names


def test_what_was_not_asked_for_is_no_argument():
    nothing = {option.name: None for option in OPTIONS}
    assert step_arguments("reprocess", nothing) == []
    asked = {**nothing, "files": (), "quarantined": False, "dry_run": True}
    assert step_arguments("reprocess", asked) == ["--dry-run"]
