"""The table of what a run can be asked for is what forms, runs and steps go by."""

from __future__ import annotations

import argparse

import pytest

from lake_airflow.planning.form import params
from lake_airflow.planning.plan import plan
from lake_spec.layout.dag_names import DAG_KINDS
from lake_spec.model import HistoryRuns, JdbcChanges, Scope
from lake_spec.model.continuous import Continuous
from lake_spec.run_options.asked import (
    add_arguments,
    checked,
    from_arguments,
    of_stage,
    params_of,
    planned,
    step_arguments,
)
from lake_spec.run_options.options import OPTIONS, RunOptions
from tests.unit.lake_airflow.specs import domain, product, pulled, snapshot

EVERYTHING = domain(
    snapshot("stock", Scope("region")),
    pulled("orders", JdbcChanges("shop", "orders", "at")),
    product("totals", "sales.orders", partition_by=("year",)),
    continuous=Continuous(),
    history_runs=HistoryRuns.OWN_DAG,
)


OF_STAGES = {
    "incremental": {"window", "accept_losses", "empty_scopes", "pull_from"},
    "prepare_incremental": {"window", "pull_from"},
    "scd2": {"window"},
    "reprocess": {"window", "files", "quarantined", "retract_missing"}
    | {"accept_losses", "empty_scopes"},
    "rebuild": {"window", "verify"},
    "rebuild_product": {"window", "verify"},
    "product": {"window", "partitions"},
    "rebuild_dimension": {"window"},
    "maintenance": {"window", "move_foreign_files"},
    "erase": {"window", "request"},
}
"""The options that go with a stage, next to the tables and a dry run."""

OF_KINDS = {
    "full_load": ["window_from", "window_to"],
    "incremental": ["window_from", "window_to", "accept_losses", "empty_scopes"]
    + ["pull_from"],
    "reprocess": ["window_from", "window_to", "files", "quarantined"]
    + ["retract_missing", "accept_losses", "empty_scopes"],
    "rebuild": ["verify", "sample"],
    "products": ["partitions"],
    "maintenance": ["move_foreign_files"],
    "erase": ["request"],
    "continuous": [],
    "scd2": [],
}
"""The params that go with a kind of DAG, next to the tables, `plan_only` and `dry_run`."""

DEFAULTS = {
    "tables": (["stock", "orders", "totals"], "array"),
    "window_from": (None, ["null", "string"]),
    "window_to": (None, ["null", "string"]),
    "files": (None, ["null", "array"]),
    "quarantined": (False, "boolean"),
    "retract_missing": (False, "boolean"),
    "accept_losses": (False, "boolean"),
    "empty_scopes": ([], "array"),
    "pull_from": (None, ["null", "string"]),
    "verify": (False, "boolean"),
    "sample": (1, "number"),
    "partitions": ([], "array"),
    "move_foreign_files": (False, "boolean"),
    "request": (None, ["null", "string"]),
    "plan_only": (False, "boolean"),
    "dry_run": (False, "boolean"),
}
"""Defaults and JSON types of fields. Airflow checks params again before each task: after a
rollback those that a form sent must still be valid."""

ASKED = {
    "tables": ("orders", "stock"),
    "window": "2026-01-01T00:00:00Z..2026-02-01T00:00:00Z",
    "files": ("a.csv", "-b/*.csv"),
    "quarantined": True,
    "retract_missing": True,
    "accept_losses": True,
    "empty_scopes": ("us", "{{ ds }}"),
    "pull_from": "-5",
    "verify": 0.25,
    "partitions": ("year=2026/month=1", "year=2025"),
    "move_foreign_files": True,
    "request": "gdpr-7",
    "plan_only": True,
    "dry_run": True,
}
"""A value of each option."""


def read(argv, stage):
    """What the step of a stage reads of its arguments."""
    parser = argparse.ArgumentParser(exit_on_error=False)
    add_arguments(parser)
    return from_arguments(parser, vars(parser.parse_args(argv)), stage)


@pytest.mark.parametrize("stage", OF_STAGES)
def test_a_step_reads_what_its_run_was_asked_for(stage):
    asked = RunOptions(**ASKED)
    assert read(step_arguments(stage, asked), stage) == of_stage(asked, stage)


@pytest.mark.parametrize("option", OPTIONS, ids=lambda each: each.name)
def test_a_stage_refuses_the_argument_of_another(option, capsys):
    argv = option.value.to_arguments(option.argument, ASKED[option.name])
    for stage in OF_STAGES:
        if option.stages == ():
            with pytest.raises(SystemExit):
                read([option.argument], stage)
            assert "unrecognized arguments" in capsys.readouterr().err
        elif not option.goes_to(stage):
            with pytest.raises(SystemExit):
                read(argv, stage)
            words = f"{option.argument} goes with --stage {' or '.join(option.stages)}"
            assert words in capsys.readouterr().err


@pytest.mark.parametrize("option", OPTIONS, ids=lambda each: each.name)
def test_a_plan_says_what_a_run_was_asked_for(option):
    said = list(planned(RunOptions(**{option.name: ASKED[option.name]})))
    is_said_otherwise = option.name in ("tables", "verify", "plan_only")
    assert len(said) == (0 if is_said_otherwise else 1)


def test_each_option_has_a_value_here():
    assert list(ASKED) == [option.name for option in OPTIONS]


@pytest.mark.parametrize("kind", DAG_KINDS)
def test_runs_of_a_kind_take_what_goes_with_it(kind):
    found = list(params_of(EVERYTHING, kind))
    assert found == ["tables", *OF_KINDS[kind], "plan_only", "dry_run"]


@pytest.mark.parametrize("kind", DAG_KINDS)
def test_fields_have_the_defaults_and_types_of_earlier_releases(kind):
    (found,) = [each for each in plan(EVERYTHING) if each.kind == kind]
    for name, param in params(found).items():
        default, type_ = DEFAULTS[name]
        value = list(found.tables) if name == "tables" else default
        assert (param.value, param.schema["type"]) == (value, type_), name


@pytest.mark.parametrize("option", OPTIONS, ids=lambda each: each.name)
def test_a_kind_that_takes_an_option_has_a_stage_for_it(option):
    """Else a run would accept it, say so in its plan, and do nothing about it."""
    for each in plan(EVERYTHING):
        if option.stages and option.is_of(EVERYTHING, each.kind):
            assert any(option.goes_to(part.name) for part in each.parts), each.kind


@pytest.mark.parametrize("kind", DAG_KINDS)
def test_the_defaults_of_a_form_ask_for_nothing_but_all_tables(kind):
    (found,) = [each for each in plan(EVERYTHING) if each.kind == kind]
    values = {name: param.value for name, param in params(found).items()}
    values.update({"reprocess": {"quarantined": True}}.get(kind, {}))
    values.update({"erase": {"request": "r"}}.get(kind, {}))
    faults: list[str] = []
    options = checked(found, values, faults)
    assert faults == []
    asked = {option.name for option in OPTIONS if option.is_asked(options)}
    needed = {"reprocess": {"quarantined"}, "erase": {"request"}}.get(kind, set())
    assert asked == {"tables"} | needed


@pytest.mark.parametrize("kind", DAG_KINDS)
def test_the_form_of_a_dag_shows_what_its_runs_take(kind):
    (found,) = [each for each in plan(EVERYTHING) if each.kind == kind]
    assert tuple(params(found)) == found.params == tuple(params_of(EVERYTHING, kind))


@pytest.mark.parametrize(
    "stage, names",
    OF_STAGES.items(),
)
def test_a_stage_gets_what_goes_with_it(stage, names):
    found = {option.name for option in OPTIONS if option.goes_to(stage)}
    assert found == {"tables", "dry_run"} | names


def test_what_was_not_asked_for_is_no_argument():
    assert step_arguments("reprocess", RunOptions()) == []
    assert step_arguments("reprocess", RunOptions(dry_run=True)) == ["--dry-run"]
