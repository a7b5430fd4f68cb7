"""The tasks at the end of a run that submit nothing: summary and announcement."""

from __future__ import annotations

from typing import Any

from airflow.sdk import BaseOperator

from lake_airflow.airflow_errors import AirflowFailException, AirflowSkipException
from lake_airflow.handover import (
    CAUSE_XCOM,
    CREATE_TASK,
    RUN_XCOM,
    END_TASK,
    STEPS_XCOM,
    SUMMARY_TASK,
    pinned_run,
    run_name,
)
from lake_airflow.plan import DagPlan
from lake_airflow.run import Run
from lake_airflow.run_files import RunFiles
from lake_airflow.steps import selected
from lake_airflow.summary import Summary, summarise, summarise_without_cluster
from lake_spec.model import EnvironmentSpec

AWS_CONNECTION = "aws_default"


class SummariseRun(BaseOperator):
    """Tells the run in its log and in `summary.json`; red unless all is proven.

    Runs whatever happened to the stages before it. It fails when a step failed, a table
    failed, a file was set aside or a report is missing, naming each.
    """

    def __init__(
        self, *, plan: DagPlan, environment: EnvironmentSpec, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.plan = plan
        self.environment = environment

    def execute(self, context: Any) -> str:
        summary = self._summary(context)
        address = self._files(summary.run).write("summary.json", summary.to_json())
        for line in summary.to_lines():
            self.log.info(line)
        if summary.causes:
            raise AirflowFailException("\n".join(summary.causes))
        return address

    def _summary(self, context: Any) -> Summary:
        ti = context["ti"]
        if ti.xcom_pull(task_ids=CREATE_TASK) is None:
            cause = ti.xcom_pull(task_ids=CREATE_TASK, key=CAUSE_XCOM)
            name = run_name(self.plan, context)
            unknown = f"see the log of the task {CREATE_TASK}."
            return summarise_without_cluster(self.plan, name, cause or unknown)
        run = Run.from_xcom(ti.xcom_pull(task_ids=CREATE_TASK, key=RUN_XCOM))
        steps = {
            stage.name: ti.xcom_pull(task_ids=stage.name, key=STEPS_XCOM)
            for stage in self.plan.stages
        }
        return summarise(self.plan, run, steps=steps, reports=self._reports(run))

    def _reports(self, run: Run) -> dict[tuple[str, str], Any]:
        names = {
            f"{stage.name}/{table}.json": (stage.name, table)
            for stage in self.plan.stages
            if stage.writes_reports
            for table in selected(stage, run)
        }
        files = self._files(run.name)
        there = files.names()
        return {at: _report(files, n) for n, at in names.items() if n in there}

    def _files(self, run_name: str) -> RunFiles:
        return RunFiles(self.environment, run_name, aws_conn_id=AWS_CONNECTION)


class Verdict(BaseOperator):
    """Red unless the summary found no cause and the cluster is gone.

    A teardown, and the only one that the run's state goes by: Airflow runs it also
    after somebody marked the run as failed, which would end as a success without it.
    """

    def execute(self, context: Any) -> None:
        ti = context["ti"]
        lacking = [
            task
            for task in (SUMMARY_TASK, END_TASK)
            if ti.xcom_pull(task_ids=task) is None
        ]
        if lacking:
            raise AirflowFailException(
                f"The run failed, or was ended by hand: {' and '.join(lacking)} did not"
                " succeed, see there."
            )


class AnnounceChanges(BaseOperator):
    """Tells who waits for the change logs that the cluster that wrote them is
    gone; a dry run wrote nothing and tells nothing."""

    def execute(self, context: Any) -> None:
        if pinned_run(context).dry_run:
            raise AirflowSkipException("A dry run changes nothing.")


def _report(files: RunFiles, name: str) -> Any:
    """The report; one that cannot be read counts as that of a failure."""
    try:
        report = files.read(name)
        if not isinstance(report, dict):
            raise ValueError(f"{name}: got {type(report).__name__}, not an object.")
    except ValueError as error:
        cause = {"type": "UnreadableReport", "message": str(error)}
        return {"state": "failed", "error": cause}
    return report
