"""The tasks at the end of a run that submit nothing: summary and announcement."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from datetime import datetime, timezone
from typing import Any

from airflow.sdk import BaseOperator

from lake_airflow.compat import AirflowFailException, AirflowSkipException
from lake_airflow.emr import step_status
from lake_airflow.emr.step_log import last_exception
from lake_airflow.operators.links import RunPageLink
from lake_airflow.planning.plan import DagPlan
from lake_airflow.reporting.notifier import AWS_CONNECTION, RunNotifier
from lake_airflow.reporting.reports import lacks_report, read_reports
from lake_airflow.reporting.site import write_site
from lake_airflow.reporting.summary import (
    Summary,
    summarise,
    summarise_without_cluster,
    summary_of_plan,
)
from lake_airflow.reporting.table_states import record_run
from lake_airflow.runs.covered import Covered
from lake_airflow.runs.files import RunFiles
from lake_airflow.runs.run import Run
from lake_airflow.runs.run_tasks import (
    END_TASK,
    SUMMARY_TASK,
    pinned_run,
    pinned_run_if_any,
    run_name,
    task_states,
)
from lake_airflow.runs.task_notes import FirstTaskNotes, LastTaskNotes, StageNotes
from lake_spec.layout.dag_names import CREATE_TASK
from lake_spec.model import EnvironmentSpec
from lake_spec.state.report import State
from lake_spec.state.table_states import EndedRun

_LEVELS = {"WARNING": logging.WARNING, "FAILED": logging.ERROR}
"""Levels by the first word of a line, so that Airflow's filter finds the causes."""


class EndTask(BaseOperator):
    """A task that knows the plan of its DAG, and where it runs."""

    operator_extra_links = (RunPageLink(),)

    def __init__(
        self, *, plan: DagPlan, environment: EnvironmentSpec, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.plan = plan
        self.environment = environment

    def _summary(self, context: Any) -> Summary:
        first, run = FirstTaskNotes.of_run(context), pinned_run_if_any(context)
        if run and run.plan_only:
            return summary_of_plan(self.plan, run)
        if run and first.cluster_id is not None:
            return self._of_stages(context, run)
        cause = first.cause or f"see the log of the task {CREATE_TASK}."
        return summarise_without_cluster(self.plan, run_name(self.plan, context), cause)

    def _of_stages(self, context: Any, run: Run) -> Summary:
        steps = {
            stage.name: StageNotes(context, stage.name).steps
            for stage in self.plan.stages
        }
        reports = read_reports(self._files(run.name), self.plan, run, steps)
        for stage in self.plan.stages:
            if lacks_report(stage, run, reports):
                self._look_into_logs(steps[stage.name] or ())
        now = datetime.now(timezone.utc)
        return summarise(self.plan, run, steps=steps, reports=reports, now=now)

    def _look_into_logs(self, ends: Iterable[dict[str, Any]]) -> None:
        """Add why steps without a report failed: EMR puts their logs on S3 late."""
        region = self.environment.region
        for end in ends:
            if step_status.is_failed(end) and end.get("log"):
                said = last_exception(
                    end["log"], region=region, aws_conn_id=AWS_CONNECTION
                )
                step_status.add_reason(end, said)

    def _files(self, run_name: str) -> RunFiles:
        return RunFiles(self.environment, run_name, aws_conn_id=AWS_CONNECTION)


class SummariseRun(EndTask):
    """Reports the run in its log and in `summary.json`; fails unless all is proven.

    Runs whatever happened to the stages before it. It fails when a step failed, a table
    failed, a file was set aside or a report is missing, naming each.
    """

    def execute(self, context: Any) -> str:
        summary = self._summary(context)
        address = self._files(summary.run).write("summary.json", summary.to_json())
        for line in summary.to_lines():
            self.log.log(_level(line), line)
        if summary.causes:
            raise AirflowFailException("\n".join(summary.causes))
        return address


class RunResult(EndTask):
    """Red unless the summary found no cause and the cluster is gone.

    A teardown, and the only one that the run's state goes by: Airflow runs it also
    after somebody marked the run as failed, which would end as a success without it,
    and where there was no cluster. A run that only planned skips it.
    It writes the states of the run's tables, notifies the domain's topic, and last, as it
    takes longest, writes the run's pages of the catalogue; where one of them fails, its log
    says so, and the run is as it was.
    """

    def execute(self, context: Any) -> None:
        notifier = RunNotifier(self.plan, self.environment, context)
        # What a task returned says nothing: it outlives that the task is cleared.
        stages = [stage.name for stage in self.plan.stages]
        ours = (CREATE_TASK, *stages, SUMMARY_TASK, END_TASK)
        states = task_states(context, self.plan, *ours)
        if states.get(CREATE_TASK) == "skipped" and _only_planned(context):
            raise AirflowSkipException("Plan only: there is nothing to finish.")
        if (
            states.get(CREATE_TASK) == "skipped"
            and FirstTaskNotes.of_run(context).no_news
        ):
            raise AirflowSkipException("Nothing new: there is nothing to finish.")
        lacking = _lacking(states, stages)
        if lacking and states.get(SUMMARY_TASK) == "failed":
            self._look_again(context)
        if not lacking:
            self._note_covered(context)
            self._record(context)
            self._notify(notifier.succeeded)
            self._write_pages(context)
            return
        words = (
            f"The run failed, or was ended manually: {' and '.join(lacking)} did not "
            "succeed; see the log of that task."
        )
        # The summary's own causes say more than that it failed.
        also = () if _is_reported(context, lacking) else (words,)
        self._record(context, failed=True, causes=also)
        self._notify(notifier.failed, also)
        self._write_pages(context)
        raise AirflowFailException(words)

    def _note_covered(self, context: Any) -> None:
        """Note that the run took all there was; a failure leaves the run as it was."""
        if not self.plan.after:
            return
        try:
            covered = Covered(self.plan, self.environment, aws_conn_id=AWS_CONNECTION)
            covered.note(pinned_run(context))
        except Exception:
            self.log.exception("A second run for the same update will do it again.")

    def _look_again(self, context: Any) -> None:
        """Write the summary again: logs of steps exist when the cluster is gone."""
        try:
            summary = self._summary(context)
            self._files(summary.run).write("summary.json", summary.to_json())
        except Exception:
            self.log.exception("The summary is unchanged.")

    def _write_pages(self, context: Any) -> None:
        """Write the pages that the run changed; the ledger has its cluster by now."""
        try:
            name = run_name(self.plan, context)
            written = write_site(
                self.plan, self.environment, name, aws_conn_id=AWS_CONNECTION
            )
            self.log.info("%d files of the catalogue were written.", written)
        except Exception as error:
            self.log.warning(
                "The catalogue's pages of this run were not written: %s. The next run of"
                " the domain writes its pages again.",
                error,
                exc_info=True,
            )

    def _record(
        self, context: Any, *, failed: bool = False, causes: tuple[str, ...] = ()
    ) -> None:
        """Write the states of the run's tables; a failure leaves the run as it was."""
        name = run_name(self.plan, context)
        now = datetime.now(timezone.utc).isoformat(timespec="seconds")
        ended = EndedRun(self.plan.dag_id, name, context["run_id"], now, failed, causes)
        try:
            record_run(
                self.plan,
                self.environment,
                ended,
                summary=self._written_summary(name),
                minutes=LastTaskNotes(context, END_TASK).minutes,
                aws_conn_id=AWS_CONNECTION,
            )
        except Exception:
            self.log.exception("The states of %s are unchanged.", self.plan.domain)

    def _written_summary(self, name: str) -> dict[str, Any]:
        """Return the run's summary; {} where it ended without one."""
        files = self._files(name)
        return files.read("summary.json") if "summary.json" in files.names() else {}

    def _notify(self, notify: Callable[..., None], *args: Any) -> None:
        try:
            notify(*args)
        except Exception as error:
            topic = self.plan.notifications.topic
            self.log.warning("%s was not notified: %s", topic, error, exc_info=True)


class AnnounceChanges(EndTask):
    """Updates an asset once the cluster is gone, if the run wrote rows of a table: of the
    change logs, or of the domain's tables.

    Else the runs that wait for it would be started for nothing, each with a cluster.
    """

    def execute(self, context: Any) -> None:
        if pinned_run(context).dry_run:
            raise AirflowSkipException("A dry run changes nothing.")
        reports = self._summary(context).tables.values()
        states = {report["state"] for stages in reports for report in stages.values()}
        if State.DONE.value not in states:
            raise AirflowSkipException("The run changed no table.")


def _lacking(states: dict[str, str], stages: list[str]) -> list[str]:
    """List the tasks that keep the run from success, without those skipped for the
    first one.

    A summary that is green next to a failed stage is of before the stage was cleared.
    """
    if states.get(CREATE_TASK) == "success":
        wanted = (SUMMARY_TASK, END_TASK)
        lacking = [task for task in wanted if states.get(task) != "success"]
        failed = [s for s in stages if states.get(s) in ("failed", "upstream_failed")]
        return lacking if SUMMARY_TASK in lacking else failed + lacking
    has_none = states.get(END_TASK) in ("success", "skipped")
    return [CREATE_TASK] if has_none else [CREATE_TASK, END_TASK]


def _is_reported(context: Any, lacking: list[str]) -> bool:
    """Return whether the run's summary has the causes of what is lacking."""
    if lacking == [CREATE_TASK]:
        return bool(FirstTaskNotes.of_run(context).cause)
    return lacking == [SUMMARY_TASK]


def _only_planned(context: Any) -> bool:
    """Return whether the run was a plan, and logged it."""
    run = pinned_run_if_any(context)
    return run is not None and run.plan_only


def _level(line: str) -> int:
    return _LEVELS.get(line.partition(" ")[0], logging.INFO)
