"""One step ingests and builds the history; each stage still reports for itself."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from lake_airflow.emr.steps import spark_step
from lake_airflow.planning.plan import DagPlan, Stage, StageKind
from lake_airflow.reporting.reports import lacks_report, read_reports
from lake_airflow.reporting.summary import causes_of_stage, summarise
from lake_spec.model import DomainSpec, Engine, HistoryRuns
from tests.unit.lake_airflow.specs import (
    ENVIRONMENT,
    dag_plan,
    dimension,
    domain,
    run,
    table,
)

FILES, DIMS = ("orders", "clicks"), ("dim",)
SHOP = (table("orders"), table("clicks"), dimension("dim", "orders", "clicks"))
NOW = datetime(2026, 11, 26, tzinfo=timezone.utc)
ENDED = [{"name": "incremental manual-1", "id": "s-1", "state": "COMPLETED"}]


def shared(*tables, **settings) -> DomainSpec:
    return domain(*(tables or SHOP), step_per_stage=False, **settings)


def arguments(plan: DagPlan, **changes) -> list[str]:
    (stage,) = plan.stages
    asked = run(plan, **changes)
    step = spark_step(plan, stage, run=asked, environment=ENVIRONMENT)
    argv = step["HadoopJarStep"]["Args"]
    return argv[argv.index("--stage") :]


class Files:
    """The reports of a run, by name."""

    def __init__(self, **states: str) -> None:
        self.states = {
            name.replace("__", "/") + ".json": s for name, s in states.items()
        }

    def names(self):
        return set(self.states)

    def read(self, name):
        return {"state": self.states[name]}


@pytest.mark.parametrize("kind", ["full_load", "incremental", "reprocess"])
def test_the_history_follows_in_the_step_that_ingests(kind):
    (stage,) = dag_plan(kind, shared(stage_hours=3)).stages
    assert (stage.name, stage.tables, stage.hours) == (kind, FILES, 9)
    assert [(part.name, part.tables) for part in stage.then] == [
        ("scd2", FILES),
        ("dimension", DIMS),
    ]


def test_unless_the_domain_wants_a_step_for_each_stage():
    assert DomainSpec.step_per_stage is False
    plan = dag_plan("incremental", domain(*SHOP, step_per_stage=True))
    assert [each.name for each in plan.stages] == ["incremental", "scd2", "dimension"]
    assert all(each.parts == (each,) for each in plan.stages)


def test_what_is_streamed_is_prepared_by_a_step_of_its_own():
    spec = shared(table("orders"), table("clicks", Engine.STREAMER))
    prepare, streamer, ingest = dag_plan("incremental", spec).stages
    assert prepare.parts == (Stage("prepare_incremental", ("clicks",)),)
    assert (streamer.kind, streamer.then) == (StageKind.STREAMER, ())
    assert [part.name for part in ingest.parts] == ["incremental", "scd2"]


def test_a_history_in_its_own_dag_stays_there():
    spec = shared(history_runs=HistoryRuns.OWN_DAG)
    (stage,) = dag_plan("incremental", spec).stages
    assert stage.then == ()
    (stage,) = dag_plan("scd2", spec).stages
    assert [part.name for part in stage.parts] == ["scd2", "dimension"]


def test_the_step_is_asked_for_its_stages_in_their_order():
    plan = dag_plan("incremental", shared())
    assert arguments(plan)[:4] == [
        *("--stage", "incremental"),
        *("--then", "scd2,dimension"),
    ]
    assert "--tables" not in arguments(plan)
    chosen = arguments(plan, tables=("orders", "dim"))
    assert chosen[chosen.index("--tables") + 1] == "orders,dim"


def test_a_stage_without_a_table_of_the_run_is_left_out():
    plan = dag_plan("incremental", shared())
    assert "dimension" not in " ".join(arguments(plan, tables=("orders",)))
    assert arguments(plan, tables=("dim",))[:2] == ["--stage", "dimension"]
    verified = arguments(dag_plan("rebuild", shared()), verify=1.0)
    assert verified[:2] == ["--stage", "rebuild"] and "--then" not in verified


def test_each_stage_of_the_step_owes_a_report_of_each_table():
    plan = dag_plan("incremental", shared())
    (stage,), asked = plan.stages, run(plan)
    done = {f"{s}__{t}": "done" for s in ("incremental", "scd2") for t in FILES}
    files = Files(**done)
    reports = read_reports(files, plan, asked, {stage.name: ENDED})
    assert lacks_report(stage, asked, reports)
    causes = list(causes_of_stage(plan, stage, asked, ENDED, reports))
    assert causes == [
        "sales.dim dimension: no report: the stage did not finish this table."
    ]
    files.states["dimension/dim.json"] = "nothing_new"
    reports = read_reports(files, plan, asked, {stage.name: ENDED})
    assert not lacks_report(stage, asked, reports)
    steps = {stage.name: ENDED}
    found = summarise(plan, asked, steps=steps, reports=reports, now=NOW)
    assert found.causes == ()
    assert list(found.stages) == ["incremental"]
    assert list(found.tables["orders"]) == ["incremental", "scd2"]
