"""The tasks that submit a stage to the cluster and wait for its end."""

from __future__ import annotations

import time
from datetime import datetime, timedelta, timezone
from typing import Any

from airflow.providers.amazon.aws.operators.emr import EmrAddStepsOperator
from airflow.providers.amazon.aws.triggers.emr import EmrAddStepsTrigger

from lake_airflow import outcome
from lake_airflow.airflow_errors import AirflowFailException, AirflowSkipException
from lake_airflow.cluster import log_folder
from lake_airflow.emr import ReplyLost, SendsOnce
from lake_airflow.handover import CLUSTER_ID, STEPS_XCOM, pinned_run
from lake_airflow.plan import DagPlan, Stage
from lake_airflow.run import Run
from lake_airflow.run_files import RunFiles
from lake_airflow.steps import Step, StepError, selected, spark_step, streamer_steps
from lake_airflow.waiting import WaitsForEmr
from lake_spec.model import EnvironmentSpec

STAGE_LIMIT = timedelta(hours=8)
TRIES, BEFORE_LOOKING = 3, 10  # submissions without a reply; seconds
_TRIGGER_STEPS = 10  # ids that EMR's ListSteps takes at once


class SubmitStage(WaitsForEmr, EmrAddStepsOperator):
    """Submits a stage's steps once and waits until the last of them ended.

    A step of the same name that is still under way is followed, not repeated.
    Every end is left for the summary; a step that did not complete fails the
    task, after the others are done.
    """

    aws_hook_class = SendsOnce

    def __init__(
        self,
        *,
        plan: DagPlan,
        stage: Stage,
        environment: EnvironmentSpec,
        poll_seconds: int,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            region_name=environment.region,
            waiter_delay=poll_seconds,
            waiter_max_attempts=int(STAGE_LIMIT.total_seconds()) // poll_seconds,
            job_flow_id=CLUSTER_ID,
            wait_for_completion=False,
            deferrable=False,
            **kwargs,
        )
        self.plan = plan
        self.stage = stage
        self.environment = environment

    def wanted_steps(self, run: Run) -> list[Step]:
        """The steps of the stage for this run; none where there is nothing to do."""
        if not selected(self.stage, run):
            return []
        return [
            spark_step(self.plan, self.stage, run=run, environment=self.environment)
        ]

    def execute(self, context: Any) -> None:
        if not self.job_flow_id:
            raise AirflowSkipException("The run has no cluster.")
        wanted = self._wanted(pinned_run(context))
        if not wanted:
            context["ti"].xcom_push(key=STEPS_XCOM, value=[])
            raise AirflowSkipException(f"{self.stage.name}: nothing to do.")
        listed = self._listed()
        there = outcome.newest_by_name(listed)
        self.steps = [s for s in wanted if not outcome.is_alive(there.get(s["Name"]))]
        if self.steps:
            self._submit(context, known=_ids(listed))
        self.follow(context, may_defer=True)

    def _submit(self, context: Any, *, known: set[str]) -> None:
        """Hand the steps to EMR; where it does not confirm, look whether it has them."""
        for tries_left in reversed(range(TRIES)):
            try:
                super().execute(context)
                return
            except ReplyLost as error:
                self.log.warning("%s. Looking for the steps.", error)
                time.sleep(BEFORE_LOOKING)
                if _ids(self._listed()) - known:
                    return
                if not tries_left:
                    raise

    def _wanted(self, run: Run) -> list[Step]:
        try:
            return self.wanted_steps(run)
        except StepError as error:
            raise AirflowFailException(str(error)) from None

    def _steps(self, wanted: list[Step]) -> dict[str, Any]:
        """What EMR knows of each wanted step, by name; None if nothing."""
        newest = outcome.newest_by_name(self._listed())
        return {step["Name"]: newest.get(step["Name"]) for step in wanted}

    def _listed(self) -> list[dict[str, Any]]:
        """All steps of the cluster, the newest first."""
        pages = self.hook.conn.get_paginator("list_steps")
        listed = pages.paginate(ClusterId=self.job_flow_id)
        return [step for page in listed for step in page["Steps"]]

    def follow(self, context: Any, *, may_defer: bool) -> None:
        """Wait until no step of the stage is alive, then tell how each ended."""
        wanted = self._wanted(pinned_run(context))
        steps = self._steps(wanted)
        may_defer = may_defer and self.can_defer()
        while alive := [step for step in steps.values() if outcome.is_alive(step)]:
            self._stop_at_limit(alive)
            if may_defer:
                self._defer_until_any_end(alive)
            time.sleep(self.waiter_delay)
            steps = self._steps(wanted)
        self._end(context, steps)

    def _defer_until_any_end(self, alive: list[dict[str, Any]]) -> None:
        self.defer(
            trigger=EmrAddStepsTrigger(
                job_flow_id=self.job_flow_id,
                step_ids=[step["Id"] for step in alive[:_TRIGGER_STEPS]],
                waiter_delay=self.waiter_delay,
                waiter_max_attempts=self.waiter_max_attempts,
                aws_conn_id=self.aws_conn_id,
            ),
            method_name="execute_complete",
        )

    def _stop_at_limit(self, alive: list[dict[str, Any]]) -> None:
        oldest = min(outcome.created(step) for step in alive)
        if datetime.now(timezone.utc) - oldest > STAGE_LIMIT:
            self._cancel(alive)
            raise AirflowFailException(
                f"{self.stage.name}: not done within {STAGE_LIMIT}; cancelled."
            )

    def _cancel(self, alive: list[dict[str, Any]]) -> None:
        self.hook.conn.cancel_steps(
            ClusterId=self.job_flow_id,
            StepIds=[step["Id"] for step in alive],
            StepCancellationOption="SEND_INTERRUPT",
        )

    def _end(self, context: Any, steps: dict[str, Any]) -> None:
        run = pinned_run(context)
        logs = f"{log_folder(self.environment, run.name)}{self.job_flow_id}/"
        ends = [outcome.end_of_step(*each, log_folder=logs) for each in steps.items()]
        if any(end["state"] != "COMPLETED" for end in ends):
            self._add_end_of_cluster(ends)
        context["ti"].xcom_push(key=STEPS_XCOM, value=ends)
        for end in ends:
            self.log.info("Step %s %s %s", end.get("id"), end["name"], end["state"])
        failed = [end for end in ends if end["state"] != "COMPLETED"]
        if failed:
            raise AirflowFailException("\n".join(_told(end) for end in failed))

    def _add_end_of_cluster(self, ends: list[dict[str, Any]]) -> None:
        reply = self.hook.conn.describe_cluster(ClusterId=self.job_flow_id)
        reason = outcome.end_of_cluster(reply["Cluster"])
        for end in ends:
            if reason and end["state"] != "COMPLETED":
                end["reason"] = " ".join(filter(None, (end["reason"], reason)))

    def on_kill(self) -> None:
        """Ask EMR to cancel what this task waits for in the worker."""
        if self.job_flow_id and self.steps:
            names = [step["Name"] for step in self.steps]
            steps = self._steps([{"Name": name} for name in names])
            alive = [step for step in steps.values() if outcome.is_alive(step)]
            if alive:
                self._cancel(alive)


class SubmitStreamer(SubmitStage):
    """One HoodieStreamer step per table with new input, as the stage before it
    wrote down; without new input the task is skipped and the run goes on."""

    def wanted_steps(self, run: Run) -> list[Step]:
        files = RunFiles(self.environment, run.name, aws_conn_id=self.aws_conn_id)
        name = f"{self.stage.prepared_by}/streamer.json"
        if name not in files.names():
            return []
        return streamer_steps(self.stage, files.read(name), run=run)


def _ids(steps: list[dict[str, Any]]) -> set[str]:
    return {step["Id"] for step in steps}


def _told(end: dict[str, Any]) -> str:
    return (
        f"Step {end.get('id')} {end['name']!r} {end['state']}:"
        f" {end['reason'] or 'no reason given.'} Log: {end.get('log')}"
    )
