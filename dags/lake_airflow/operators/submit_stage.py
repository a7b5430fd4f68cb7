"""The tasks that submit a stage to the cluster and wait for its end."""

from __future__ import annotations

import time
from datetime import datetime, timedelta, timezone
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, cast

from airflow.providers.amazon.aws.operators.emr import EmrAddStepsOperator
from airflow.providers.amazon.aws.triggers.emr import EmrAddStepsTrigger
from botocore.exceptions import BotoCoreError, ClientError

from lake_airflow.compat import AirflowFailException, AirflowSkipException
from lake_airflow.emr import step_status
from lake_airflow.emr.clusters import ClusterFinder, ClusterSteps, created
from lake_airflow.emr.hook import NonRetryingEmrHook, ReplyLost, is_passing
from lake_airflow.emr.job_flow import ENDED, log_folder
from lake_airflow.emr.step_log import last_exception
from lake_airflow.emr.steps import (
    Step,
    StepError,
    selected_parts,
    spark_step,
    streamer_steps,
)
from lake_airflow.operators.deferral import (
    LONGEST_SLEEP,
    OTHERS_LOOKS,
    SHORTEST_PAUSE,
    WaitsForEmr,
)
from lake_airflow.operators.links import RunPageLink, StepLogLink
from lake_airflow.planning.plan import DagPlan, Stage
from lake_airflow.reporting.reports import Reports, lacks_report, read_reports
from lake_airflow.reporting.summary import causes_of_stage
from lake_airflow.runs.ends import NOBODY, Ends
from lake_airflow.runs.files import RunFiles
from lake_airflow.runs.run import Run
from lake_airflow.runs.run_tasks import pinned_run
from lake_airflow.runs.task_notes import CLUSTER_ID, StageNotes
from lake_spec.model import DomainSpec, EnvironmentSpec

TRIES, BEFORE_LOOKING = 3, 10  # submissions without a reply; seconds
_TRIGGER_STEPS = 10  # ids that EMR's ListSteps takes at once

FORCE_AFTER, GIVE_UP_AFTER = timedelta(minutes=5), timedelta(minutes=20)
"""Times after its interrupt at which a step is killed, and at which the task stops waiting
for its end. Its processes may still run in the cluster, which is given up."""

_GIVEN_UP = "The cluster is given up and terminated; start the run again."
_FAILED_READS = (BotoCoreError, ClientError)


class SubmitStage(WaitsForEmr, EmrAddStepsOperator):  # type: ignore[misc]
    """Submits a stage's steps once and waits until the last of them ended.

    A step of the same name that is still under way is followed, not repeated, and so
    is what an earlier try of this task submitted, also where it has ended meanwhile.
    Every end is left for the summary; a step that did not complete fails the
    task, after the others are done. A read of EMR that fails is asked again.
    """

    aws_hook_class = NonRetryingEmrHook
    operator_extra_links = (  # type: ignore[assignment]
        *EmrAddStepsOperator.operator_extra_links,
        RunPageLink(),
        StepLogLink(),
    )

    def __init__(
        self,
        *,
        plan: DagPlan,
        stage: Stage,
        environment: EnvironmentSpec,
        start_minutes: int,
        poll_seconds: int,
        domain: DomainSpec | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            region_name=environment.region,
            waiter_delay=poll_seconds,
            waiter_max_attempts=int(stage.hours * 3600) // poll_seconds,
            job_flow_id=CLUSTER_ID,
            execution_role_arn=environment.runtime_role_of(plan.domain),
            wait_for_completion=False,
            deferrable=False,
            **kwargs,
        )
        self.plan = plan
        self.stage = stage
        self.environment = environment
        self.start_limit = timedelta(minutes=start_minutes)
        self.limit = timedelta(hours=stage.hours)
        self.domain = domain
        self.ends: list[dict[str, Any]] = []  # how its steps ended
        self.ended: Run | None = None  # the run whose steps ended

    def notes(self, context: Any) -> StageNotes:
        """Return what this task has noted in this run."""
        return StageNotes(context, self.task_id)

    @property
    def cluster_id(self) -> str:
        """The run's cluster; `execute` skips a run without one."""
        assert self.job_flow_id, "a run without a cluster has no stage to follow"
        return self.job_flow_id

    def cluster_steps(self) -> ClusterSteps:
        """Return a client that lists and cancels the steps of the run's cluster."""
        return ClusterSteps(self.hook.conn, self.cluster_id)

    def wanted_steps(self, run: Run) -> list[Step]:
        """Return the steps of the stage for this run; empty if there is nothing to
        do."""
        if not selected_parts(self.stage, run):
            return []
        return [
            spark_step(self.plan, self.stage, run=run, environment=self.environment)
        ]

    def execute(self, context: Any) -> None:  # type: ignore[override]
        if not self.job_flow_id:
            raise AirflowSkipException("The run has no cluster.")
        self.begins(context)
        self.notes(context).follows = False
        try:
            self._begin(context)
        except _FAILED_READS as error:
            self.after_failed_read(context, error, self.start_limit, "execute_again")
        self.notes(context).follows = True
        self.follow(context, may_defer=True)

    def _begin(self, context: Any) -> None:
        """Submit the steps unless EMR has them."""
        wanted = self._wanted(context)
        if not wanted:
            self.notes(context).steps = []
            raise AirflowSkipException(f"{self.stage.name}: nothing to do.")
        listed = self.cluster_steps().listed()
        there = step_status.newest_by_name(listed)
        ours = self._submitted_before(context, listed)
        self.steps = [s for s in wanted if not _is_ours(there.get(s["Name"]), ours)]
        if self.steps:
            self._refuse_lost_cluster(context)
            self._wait_for_others(context, wanted, listed)
            self._note_submission(context, before=_ids(listed) - ours)
            self._submit(context, known=_ids(listed))

    def _submitted_before(self, context: Any, listed: list[dict[str, Any]]) -> set[str]:
        """Return the ids of steps submitted since this task noted its submission.

        By this try, or by an earlier one: not one of before the task was cleared, for
        Airflow counts its tries on from there.
        """
        ti, before = context["ti"], self.notes(context).known
        if before is None and getattr(ti, "try_number", 1) > 1:
            files = self._files(pinned_run(context))
            if self._submission in files.names():
                noted = files.read(self._submission)
                if noted["max_tries"] == getattr(ti, "max_tries", None):
                    before = set(noted["before"])
        return set() if before is None else _ids(listed) - before

    def _note_submission(self, context: Any, *, before: set[str]) -> None:
        """Note the ids of the steps that are there, before others are submitted.

        A worker that is killed right after it submitted its steps, which end before the
        next try looks, leaves nothing else by which that try could know them.
        """
        max_tries = getattr(context["ti"], "max_tries", None)
        note = {"max_tries": max_tries, "before": sorted(before)}
        self._files(pinned_run(context)).write(self._submission, note)
        self.notes(context).known = before

    @property
    def _submission(self) -> str:
        """The file of the run that says what was there before this task submitted."""
        return f"submitted_{self.stage.name}.json"

    def _files(self, run: Run) -> RunFiles:
        return RunFiles(self.environment, run.name, aws_conn_id=self.aws_conn_id)

    def has_begun(self, context: Any) -> bool:
        """Return whether this try submitted its steps, or found those to follow.

        A step of the name that the run left before it was cleared is not this try's: to
        follow that one would be green without any work.
        """
        return self.notes(context).follows

    def _wait_for_others(
        self, context: Any, wanted: list[Step], listed: list[dict[str, Any]]
    ) -> None:
        """Wait for steps of other stages: each is the only writer of its tables.

        Such a step works on where its task was killed or marked. A cluster that runs
        one step at a time lets the next one wait by itself. One that ignores its end
        is ended by force, and then no other stage comes on this cluster, whether that
        helped or not.
        """
        names = {step["Name"] for step in wanted}
        alive = [
            s for s in listed if step_status.is_alive(s) and s["Name"] not in names
        ]
        forced_by = self._forced_by(context)
        if forced_by and not (alive and forced_by == {self.task_id}):
            self._give_up(
                context,
                "a step did not end when it was cancelled, and was killed; its "
                f"processes may still run. {_GIVEN_UP}",
            )
        if not alive:
            return
        self.log.info("Waiting for %s to end.", alive[0]["Name"])
        if self._over_limit(alive) > timedelta(0):
            self._end_others(context, alive)
        self.reads_succeed(context)
        self.reschedule(OTHERS_LOOKS * self.waiter_delay)

    def _end_others(self, context: Any, alive: list[dict[str, Any]]) -> None:
        """Interrupt steps, then kill them, then give up waiting for them."""
        notes, now = self.notes(context), datetime.now(timezone.utc)
        cancelled = notes.cancelled
        since = {step["Id"]: cancelled.get(step["Id"], now) for step in alive}
        notes.cancelled = since
        waited = now - min(since.values())
        by_force = waited >= FORCE_AFTER
        if by_force:
            notes.forced_on = self.job_flow_id
        why = f"it was over its limit of {self.limit}, and no task followed it."
        refused = self._cancel(context, alive, why, by_force=by_force)
        if waited >= GIVE_UP_AFTER:
            self._give_up(
                context,
                f"{alive[0]['Name']} ({alive[0]['Id']}) is still running {waited} "
                f"after it was cancelled.{refused} {_GIVEN_UP}",
            )

    def _cancel(
        self,
        context: Any,
        alive: list[dict[str, Any]],
        why: str,
        *,
        by_force: bool = False,
    ) -> str:
        """Note why, then ask EMR to cancel steps; return its refusals."""
        ids = [step["Id"] for step in alive]
        self._noted_ends(context).note(*ids, by=self.task_id, why=why)
        return self.cluster_steps().cancel(alive, by_force=by_force)

    def _noted_ends(self, context: Any) -> Ends:
        name = pinned_run(context).name
        return Ends(self.environment, name, aws_conn_id=self.aws_conn_id)

    def _forced_by(self, context: Any) -> set[str]:
        """Return the stages of the run that killed a step of this cluster."""
        names = (stage.name for stage in self.plan.stages)
        return {
            name
            for name in names
            if StageNotes(context, name).forced_on == self.job_flow_id
        }

    def _over_limit(self, alive: list[dict[str, Any]]) -> timedelta:
        now = datetime.now(timezone.utc)
        return step_status.over_limit(alive, now=now, limit=self.limit)

    def _submit(self, context: Any, *, known: set[str]) -> None:
        """Submit the steps; if EMR does not confirm, look whether it has them."""
        for tries_left in reversed(range(TRIES)):
            try:
                super().execute(context)
                return
            except ReplyLost as error:
                self.log.warning("%s. Looking for the steps.", error)
                time.sleep(BEFORE_LOOKING)
                if _ids(self.cluster_steps().listed()) - known:
                    return
                if not tries_left:
                    self._give_up(context, str(error))
            except ClientError as error:
                if is_passing(error):
                    raise
                why = self._end_of_cluster(context, self._cluster())
                self._give_up(context, " ".join(filter(None, (str(error), why))))

    def _refuse_lost_cluster(self, context: Any) -> None:
        """Refuse to submit to a cluster that is gone or does not start."""
        cluster = self._cluster()
        if why := self._end_of_cluster(context, cluster) or self._overdue(cluster):
            self._give_up(context, why)

    def _end_of_cluster(self, context: Any, cluster: dict[str, Any]) -> str | None:
        """Return why it has ended or is ending, by EMR and by who ended it; else None."""
        said = step_status.end_of_cluster(cluster)
        noted = self._noted_ends(context).why(cluster["Id"]) if said else None
        return " ".join(filter(None, (said, noted))) or None

    def _give_up(self, context: Any, why: str) -> NoReturn:
        """Record steps that EMR does not have, and fail."""
        steps = cast("list[Step]", self.steps)
        self._leave_unsubmitted(context, [step["Name"] for step in steps], why)

    def _leave_unsubmitted(
        self, context: Any, names: Sequence[str], why: str
    ) -> NoReturn:
        self._leave(context, [step_status.not_submitted(name, why) for name in names])
        raise AssertionError("a step that was not submitted is a failure")

    def _wanted(self, context: Any) -> list[Step]:
        try:
            return self.wanted_steps(pinned_run(context))
        except StepError as error:
            self._leave_unsubmitted(context, [self.stage.name], str(error))

    def _steps(self, wanted: list[Step]) -> dict[str, Any]:
        """Return EMR's state of each wanted step, by name; None without one."""
        newest = step_status.newest_by_name(self.cluster_steps().listed())
        return {step["Name"]: newest.get(step["Name"]) for step in wanted}

    def follow(self, context: Any, *, may_defer: bool) -> None:
        """Wait until no step of the stage is alive, then report how each ended."""
        why = None
        try:
            wanted = self._wanted(context)
            steps = self._steps(wanted)
            alive = [step for step in steps.values() if step_status.is_alive(step)]
            if alive:
                cluster = self._cluster()
                why = self._why_no_longer(context, alive, cluster)
        except _FAILED_READS as error:
            self.after_failed_read(context, error, self.limit, "follow_again")
        self.reads_succeed(context)
        if not alive or why:
            self._end(context, steps, why)
            return
        if may_defer and self.can_defer():
            self._defer_until_any_end(alive, cluster)
        self.poll_again()

    def _cluster(self) -> dict[str, Any]:
        clusters = ClusterFinder(self.hook.conn, self.environment)
        return clusters.describe(self.cluster_id)

    def _overdue(self, cluster: dict[str, Any]) -> str | None:
        file = f"clusters/{self.plan.cluster}.yml"
        now = datetime.now(timezone.utc)
        return step_status.overdue(cluster, now=now, limit=self.start_limit, file=file)

    def _defer_until_any_end(
        self, alive: list[dict[str, Any]], cluster: dict[str, Any]
    ) -> None:
        """Defer until a step ends, the limit of the start or stage, or a look."""
        self.defer(
            trigger=EmrAddStepsTrigger(
                job_flow_id=self.cluster_id,
                step_ids=[step["Id"] for step in alive[:_TRIGGER_STEPS]],
                waiter_delay=self.waiter_delay,
                waiter_max_attempts=self.waiter_max_attempts,
                aws_conn_id=self.aws_conn_id,
            ),
            method_name="execute_complete",
            timeout=self._longest_sleep(alive, cluster),
        )

    def _longest_sleep(
        self, alive: list[dict[str, Any]], cluster: dict[str, Any]
    ) -> timedelta:
        left = LONGEST_SLEEP
        if cluster["Status"]["State"] in step_status.STARTING:
            left = created(cluster) + self.start_limit - datetime.now(timezone.utc)
        elif any(step_status.started(step) for step in alive):
            left = -self._over_limit(alive)
        return max(min(left, LONGEST_SLEEP), timedelta(seconds=SHORTEST_PAUSE))

    def _why_no_longer(
        self, context: Any, alive: list[dict[str, Any]], cluster: dict[str, Any]
    ) -> str | None:
        """Return why to stop waiting for steps; None while they may yet end."""
        if cluster["Status"]["State"] in ENDED:
            return self._end_of_cluster(context, cluster)
        if self._over_limit(alive) > timedelta(0):
            why = f"not finished within {self.limit} of its start"
            return f"{why}; cancelled.{self._cancel(context, alive, f'{why}.')}"
        return self._overdue(cluster)

    def _end(self, context: Any, steps: dict[str, Any], why: str | None = None) -> None:
        """Report how each step ended, with all that is known of why."""
        run = pinned_run(context)
        logs = f"{log_folder(self.environment, run.name)}{self.job_flow_id}/"
        ends = [
            step_status.end_of_step(*each, log_folder=logs) for each in steps.items()
        ]
        failed = [end for end in ends if step_status.is_failed(end)]
        if failed and not why:
            try:
                why = self._end_of_cluster(context, self._cluster())
                for end in failed:
                    noted = self._noted_ends(context).why(end.get("id", ""))
                    step_status.add_reason(end, noted)
            except _FAILED_READS as error:
                self.after_failed_read(context, error, self.limit, "follow_again")
        for end in failed:
            step_status.add_reason(end, why)
            if step_status.is_cancelled(end) and not end["reason"]:
                step_status.add_reason(end, NOBODY)
        self._leave(context, ends)

    def _leave(self, context: Any, ends: list[dict[str, Any]]) -> None:
        """Pass the ends on to the summary; fail with their causes, if there are any."""
        run, failed = pinned_run(context), [e for e in ends if step_status.is_failed(e)]
        reports = self._reports(run, ends) if failed else {}
        for end in failed:
            if end.get("log") and lacks_report(self.stage, run, reports):
                step_status.add_reason(end, self._exception(end["log"]))
        self.ends, self.ended = ends, run
        self.notes(context).steps = ends
        for end in ends:
            self.log.info("Step %s %s %s", end.get("id"), end["name"], end["state"])
        if failed:
            causes = causes_of_stage(self.plan, self.stage, run, ends, reports)
            raise AirflowFailException("\n".join(causes))

    def _reports(self, run: Run, ends: list[dict[str, Any]]) -> Reports:
        """Return the reports of the stage's tables; empty if they cannot be read
        now."""
        try:
            return read_reports(
                self._files(run), self.plan, run, {self.stage.name: ends}
            )
        except (BotoCoreError, ClientError):
            self.log.exception("The reports of %s could not be read.", run.name)
            return {}

    def _exception(self, log: str) -> str | None:
        region = self.environment.region
        return last_exception(log, region=region, aws_conn_id=self.aws_conn_id)

    def get_openlineage_facets_on_complete(self, task_instance: Any) -> Any:
        """Return what the stage read and wrote; None where it did not.

        Airflow's OpenLineage provider asks for it, if there is one, after the task.
        """
        if self.domain is None or self.ended is None or self.ended.dry_run:
            return None
        from lake_airflow.reporting.lineage_facets import StageLineage

        run = self.ended
        steps = {self.stage.name: self.ends}
        return StageLineage(
            domain=self.domain,
            environment=self.environment,
            stage=self.stage,
            run=run,
            cluster=self.cluster_id,
            reports=read_reports(self._files(run), self.plan, run, steps),
        ).facets()

    def on_kill(self) -> None:
        """Let the step go on: Airflow ends processes also where nothing is wrong.

        Another try follows the step. One that nobody follows any more is waited for by
        the next stage, which ends it at its limit, and ends with its cluster.
        """


class SubmitStreamer(SubmitStage):
    """One HoodieStreamer step per table with new input, as the stage before it
    wrote down; without new input the task is skipped and the run goes on."""

    def wanted_steps(self, run: Run) -> list[Step]:
        files = self._files(run)
        name = f"{self.stage.prepared_by}/streamer.json"
        if name not in files.names():
            return []
        return streamer_steps(self.stage, files.read(name), run=run)


def _is_ours(step: Mapping[str, Any] | None, ours: set[str]) -> bool:
    """Return whether there is nothing to submit: it is alive, or of an earlier try."""
    return step_status.is_alive(step) or (step is not None and step["Id"] in ours)


def _ids(steps: list[dict[str, Any]]) -> set[str]:
    return {step["Id"] for step in steps}
