"""From a plan to an Airflow DAG: the only place that makes operators."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from functools import partial
from typing import Any

from airflow.configuration import conf
from airflow.sdk import DAG, Asset, AssetAny, BaseOperator, chain
from airflow.timetables.interval import CronDataIntervalTimetable

from lake_airflow.operators.create_cluster import CreateCluster, LONGEST_WAIT
from lake_airflow.operators.finish_run import (
    AnnounceChanges,
    RunResult,
    SummariseRun,
)
from lake_airflow.operators.run_over import RunOver
from lake_airflow.operators.submit_stage import SubmitStage, SubmitStreamer
from lake_airflow.operators.terminate_cluster import END_LIMIT, TerminateCluster
from lake_airflow.planning.form import params
from lake_airflow.planning.plan import DagPlan, Stage, StageKind
from lake_airflow.runs.run_tasks import END_TASK, SUMMARY_TASK
from lake_spec.layout.dag_names import CREATE_TASK
from lake_spec.model import ClusterSpec, DomainSpec, EnvironmentSpec

START = datetime(2000, 1, 1, tzinfo=timezone.utc)
"""Airflow leaves every task of an earlier interval waiting, also those of a backfill."""
_SUBMITS = {StageKind.SPARK: SubmitStage, StageKind.STREAMER: SubmitStreamer}


class Renderer:
    """Makes the DAGs of one domain, in one environment, of one release."""

    def __init__(
        self,
        domain: DomainSpec,
        *,
        cluster: ClusterSpec,
        environment: EnvironmentSpec,
        release: str,
        poll_seconds: int,
        sha256: str = "",
    ) -> None:
        self.domain = domain
        self.cluster = cluster
        self.environment = environment
        self.release = release
        self.sha256 = sha256
        self.poll_seconds = poll_seconds

    def dag(self, plan: DagPlan) -> DAG:
        """Build the DAG of a plan.

        `done` is the only leaf that counts: green when the summary and the
        end of the cluster are, whatever else happened on the way. It is a
        teardown, for all other tasks are skipped when a run is marked as failed.
        """
        with self._empty_dag(plan) as dag:
            create = self._create(plan)
            stages = [self._stage(plan, stage) for stage in plan.stages]
            summary = self._summary(plan)
            terminate = self._terminate(plan, create)
            done = RunResult(
                task_id="done", plan=plan, environment=self.environment, retries=2
            )
            chain(create, *stages, summary, terminate)
            stages >> summary
            # Also where a stage is cleared alone: the cluster made again is for it.
            stages >> terminate
            [summary, terminate] >> done
            _ends(done, create, on_failure_fail_dagrun=True)
            self._announce(plan, terminate)
        # Not before: Airflow copies Params that are there into every task.
        dag.params.update(params(plan))
        return dag

    def _empty_dag(self, plan: DagPlan) -> DAG:
        over = RunOver(plan, self.environment)
        return DAG(
            plan.dag_id,
            description=plan.description,
            doc_md=_documentation(plan, self.domain),
            schedule=_schedule(plan),
            start_date=START,
            catchup=False,
            max_active_runs=1,
            dagrun_timeout=LONGEST_WAIT + _hours_of_stages(plan) + 4 * END_LIMIT,
            default_args={
                "owner": plan.owner,
                "retries": 0,
                "retry_delay": timedelta(seconds=30),
            },
            tags=list(plan.tags),
            on_success_callback=None if _callbacks_hide_dags() else over,
            on_failure_callback=over,
        )

    def _create(self, plan: DagPlan) -> CreateCluster:
        create = CreateCluster(
            task_id=CREATE_TASK,
            plan=plan,
            cluster=self.cluster,
            environment=self.environment,
            release=self.release,
            sha256=self.sha256,
            poll_seconds=self.poll_seconds,
            retries=2,  # a second try finds what the first one created
        )
        create.as_setup()  # type: ignore[no-untyped-call]
        return create

    def _stage(self, plan: DagPlan, stage: Stage) -> SubmitStage:
        """Add a stage; its failure does not stop the next one for the other tables."""
        is_first = stage is plan.stages[0]
        return _SUBMITS[stage.kind](
            task_id=stage.name,
            plan=plan,
            stage=stage,
            domain=self.domain,
            environment=self.environment,
            start_minutes=self.cluster.start_minutes,
            poll_seconds=self.poll_seconds,
            trigger_rule="all_success" if is_first else "all_done",
            retries=3,  # another try follows what the one before submitted
        )

    def _summary(self, plan: DagPlan) -> SummariseRun:
        return SummariseRun(
            task_id=SUMMARY_TASK,
            plan=plan,
            environment=self.environment,
            trigger_rule="all_done",
            retries=2,
        )

    def _terminate(self, plan: DagPlan, create: CreateCluster) -> TerminateCluster:
        terminate = TerminateCluster(
            task_id=END_TASK,
            plan=plan,
            environment=self.environment,
            poll_seconds=self.poll_seconds,
            retries=3,
        )
        _ends(terminate, create)
        return terminate

    def _announce(self, plan: DagPlan, terminate: BaseOperator) -> None:
        assets = {"announce_changes": plan.updates, "announce_tables": plan.built}
        for task_id, asset in assets.items():
            if asset:
                terminate >> AnnounceChanges(
                    task_id=task_id,
                    plan=plan,
                    environment=self.environment,
                    outlets=[Asset(asset)],
                    retries=3,
                )


def _ends(task: BaseOperator, setup: BaseOperator, **more: bool) -> None:
    """Make the task a teardown that runs whatever the state of the setup.

    Bound to it, so that who clears a stage, and with it the setup, clears this too. By
    its own rule a teardown is left out where its setup failed, also where that was
    marked as failed while it created a cluster.
    """
    task.as_teardown(setups=setup, **more)
    task.trigger_rule = "all_done"  # type: ignore[assignment]


def _callbacks_hide_dags() -> bool:
    """Return whether a callback may make all DAGs stale until they are parsed again.

    Airflow 3.0 takes a callback for a parse that did not find them. One for each run that
    succeeded would be too many; failures are worth it.
    """
    seconds = partial(conf.getint, "dag_processor")
    return seconds("min_file_process_interval") > seconds("stale_dag_threshold")


def _schedule(plan: DagPlan) -> Any:
    """Return the DAG's schedule; if runs take a window, each has an interval.

    Of a cron text alone Airflow makes intervals without length, which is no window
    for the runs of a backfill.
    """
    if plan.after:  # any of them: a list means all
        assets = [Asset(each) for each in plan.after]
        return AssetAny(*assets) if len(assets) > 1 else assets
    if plan.schedule and plan.takes_window:
        return CronDataIntervalTimetable(plan.schedule, timezone="UTC")
    return plan.schedule


def _hours_of_stages(plan: DagPlan) -> timedelta:
    return timedelta(hours=sum(stage.hours for stage in plan.stages))


def _documentation(plan: DagPlan, domain: DomainSpec) -> str:
    """Describe the DAG: what it does and for which tables."""
    stages = ", then ".join(
        " with ".join(f"`{part.name}`" for part in stage.parts) for stage in plan.stages
    )
    rows = [
        f"| `{table.full_name}` | {_cell(table.description)} | {_cell(table.owner)}"
        f" | {table.engine.value} |"
        for table in domain.tables
    ]
    return "\n".join(
        [
            f"### {plan.description}",
            _cell(domain.description),
            "",
            f"One EMR cluster per run: {stages}. The log of the task `summary` lists "
            "every table's figures and, at its end, the causes of a failure.",
            "",
            "| table | description | owner | engine |",
            "| --- | --- | --- | --- |",
            *rows,
        ]
    )


def _cell(text: Any) -> str:
    return str(text).replace("|", "\\|").replace("\n", " ")
