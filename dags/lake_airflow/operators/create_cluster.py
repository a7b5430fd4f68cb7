"""The first task of a run: it checks the run, takes lease and slot, creates the cluster."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any, NoReturn

from airflow.providers.amazon.aws.operators.emr import EmrCreateJobFlowOperator

from lake_airflow.compat import AirflowFailException, AirflowSkipException
from lake_airflow.emr.clusters import (
    ClusterFinder,
    idle,
    is_of_this_airflow,
    is_over,
    run_of,
)
from lake_airflow.emr.hook import NonRetryingEmrHook, ReplyLost
from lake_airflow.emr.job_flow import ALIVE, ENDING, cluster_name, request_problems
from lake_airflow.emr.steps import StepError
from lake_airflow.operators.deferral import (
    OTHERS_LOOKS,
    READS_LIMIT,
    OutlivesTriggers,
)
from lake_airflow.operators.links import RunPageLink
from lake_airflow.operators.preview import RunPlan
from lake_airflow.planning.plan import DagPlan
from lake_airflow.reporting.summary import (
    summarise_without_cluster,
    summary_of_nothing,
)
from lake_airflow.runs.cluster_slots import ClusterSlots
from lake_airflow.runs.covered import Covered
from lake_airflow.runs.ends import Ends
from lake_airflow.runs.files import RunFiles
from lake_airflow.runs.lease import DomainLease
from lake_airflow.runs.run import Run, RunRefused, check_run
from lake_airflow.runs.run_tasks import run_name
from lake_airflow.runs.task_notes import FirstTaskNotes
from lake_airflow.runs.unloaded import is_unloaded, what_to_do
from lake_airflow.runs.window import earlier_run, interval_of
from lake_spec.layout.stage_tables import MAINTENANCE
from lake_spec.model import ClusterSpec, EnvironmentSpec, Concurrency

LONGEST_WAIT = timedelta(hours=12)
"""For other runs of the domain. The limit of the whole run counts this too, so that no
run has its cluster taken from it, and the tasks that end it, in mid-work."""


class CreateCluster(OutlivesTriggers, EmrCreateJobFlowOperator):
    """Checks the run, takes its domain's lease, then finds its cluster or, with a slot of
    the environment, creates it.

    Returns the cluster's id at once: EMR queues steps while it starts. A
    cluster that was created before this task failed is ended again.
    """

    aws_hook_class = NonRetryingEmrHook
    operator_extra_links = (  # type: ignore[assignment]
        *EmrCreateJobFlowOperator.operator_extra_links,
        RunPageLink(),
    )
    _job_flow_id: str | None = None  # the provider reads it before it sets it

    def __init__(
        self,
        *,
        plan: DagPlan,
        cluster: ClusterSpec,
        environment: EnvironmentSpec,
        release: str,
        poll_seconds: int,
        sha256: str = "",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            emr_conn_id=None,
            region_name=environment.region,
            deferrable=False,
            **kwargs,
        )
        self.plan = plan
        self.cluster = cluster
        self.environment = environment
        self.release = release
        self.sha256 = sha256
        self.poll_seconds = poll_seconds

    def notes(self, context: Any) -> FirstTaskNotes:
        """Return what this task has noted in this run."""
        return FirstTaskNotes(context, self.task_id)

    def clusters(self) -> ClusterFinder:
        """Make a finder of the environment's clusters."""
        return ClusterFinder(self.hook.conn, self.environment)

    def lease(self) -> DomainLease:
        """Make the lease of the run's domain."""
        return DomainLease(
            self.environment, self.plan.domain, aws_conn_id=self.aws_conn_id
        )

    def execute(self, context: Any) -> str:
        self.begins(context)
        try:
            planned = self._planned(context)
            if planned.run.plan_only:
                self._show_plan(context, planned)
            self._end_unloaded(context, planned.run)
            self._wait_for_earlier(context, planned)
            token = self._take_lease(context, planned.run)
            granted = replace(planned, run=replace(planned.run, token=token))
            return self._find_or_create(context, granted)
        except AirflowSkipException:
            raise
        except Exception as error:
            is_made = bool(self._job_flow_id)
            if not is_made and self.may_ask_again(context, error, READS_LIMIT):
                self.reschedule(OTHERS_LOOKS * self.poll_seconds)
            try:
                name = run_name(self.plan, context)
                self._end_what_was_created(name)
                self.lease().give_back(name, unless=self._lives)
            finally:
                self._tell(context, str(error) or type(error).__name__)
            raise

    def without_trigger(self, context: Any) -> str:
        """Look again whether it is this run's turn."""
        return self.execute(context)

    def _show_plan(self, context: Any, planned: RunPlan) -> NoReturn:
        """Log the request and end: without a cluster there is no stage."""
        run = planned.run
        for line in planned.to_lines():
            self.log.info(line)
        files = RunFiles(self.environment, run.name, aws_conn_id=self.aws_conn_id)
        address = files.write("plan.json", planned.to_json())
        notes = self.notes(context)
        notes.run, notes.release = run.to_xcom(), self.release
        raise AirflowSkipException(f"Plan only, nothing is created: {address}")

    def _end_unloaded(self, context: Any, run: Run) -> None:
        """End before the lease where the full load is to come first.

        Maintenance has nothing to do then, and is no run that anybody misses.
        """
        if not is_unloaded(self.plan, self.lease(), context):
            return
        if self.plan.kind != MAINTENANCE:
            raise AirflowFailException(f"The run is refused: {what_to_do(self.plan)}")
        self.notes(context).run = run.to_xcom()
        words = f"nothing of {self.plan.domain} has been loaded yet"
        self._end_for_nothing(context, run, words)
        raise AirflowSkipException(f"Nothing to do: {words}.")

    def _wait_for_earlier(self, context: Any, planned: RunPlan) -> None:
        """Defer a backfill's run until the runs before it have ended.

        One that has its cluster goes on: the earlier one may wait for its lease.
        """
        run_id = earlier_run(context)
        if run_id and not self.clusters().find(planned.request["Name"]):
            self.log.info("Waiting for the earlier run %s to end.", run_id)
            self._wait(context, looks=OTHERS_LOOKS)

    def _take_lease(self, context: Any, run: Run) -> int:
        """Take the lease and return its token; while another run has it, wait or
        refuse."""
        of_domain = self.lease()
        lease = of_domain.take(run.name, self._lives)
        if lease.holder == run.name:
            return lease.token
        words = (
            f"{self.plan.domain} is busy: the run {lease.holder} has held its lease "
            f"since {lease.since[:19].replace('T', ' ')} UTC"
        )
        self._end_idle(str(lease.holder), context["ti"], run)
        if self.plan.concurrency is Concurrency.REFUSE:
            raise AirflowFailException(
                f"The run is refused: {words}. Start it again when that run has ended."
            )
        self.log.info("%s. Waiting for it to end.", words)
        of_domain.ask_to_stop(str(lease.holder), run.name)
        self._wait(context)

    def _end_idle(self, holder: str, ti: Any, run: Run) -> None:
        """Terminate clusters of the holder that it does not use: no other task may.

        Airflow starts no task of a paused DAG, also not those that end a cluster, nor of
        a run that is over. No error, for EMR ends an idle cluster too, but later.
        """
        try:
            client = self.hook.conn
            for cluster in self.clusters().living(cluster_name(holder)):
                if not is_of_this_airflow(cluster):
                    continue
                now = datetime.now(timezone.utc)
                if why := idle(client, cluster, now, ti) or is_over(cluster, ti):
                    self.log.warning("Terminating cluster %s: %s", cluster["Id"], why)
                    self._note_end(cluster["Id"], why, of=holder, by=run.name)
                    client.terminate_job_flows(JobFlowIds=[cluster["Id"]])
        except Exception:
            self.log.exception("It is unknown whether %s uses its cluster.", holder)

    def _wait(self, context: Any, *, looks: int = 1) -> NoReturn:
        """Defer for so many times the pause between two looks at EMR.

        The time of waiting is the task's own: a run that is cleared keeps its start.
        """
        notes, now = self.notes(context), datetime.now(timezone.utc)
        since = notes.waits_since
        if since is None:
            notes.waits_since = since = now
        if now - since > LONGEST_WAIT:
            raise AirflowFailException(
                f"The run waited {LONGEST_WAIT} for other runs to end. Start it "
                "again when they have ended."
            )
        self.reads_succeed(context)
        self.reschedule(looks * self.poll_seconds)

    def _lives(self, holder: str) -> bool:
        """Return whether that run has a cluster, also one that is ending: it may
        still write."""
        return bool(self.clusters().find(cluster_name(holder), (*ALIVE, *ENDING)))

    def _tell(self, context: Any, cause: str) -> None:
        """Write the run's summary: without a cluster its own task never runs."""
        notes = self.notes(context)
        notes.cause, notes.release = cause, self.release
        name = run_name(self.plan, context)
        summary = summarise_without_cluster(self.plan, name, cause)
        try:
            files = RunFiles(self.environment, name, aws_conn_id=self.aws_conn_id)
            files.write("summary.json", summary.to_json())
        except Exception:  # the cause is what the reader of the log is after
            self.log.exception("The run's summary could not be written.")

    def _find_or_create(self, context: Any, planned: RunPlan) -> str:
        self.notes(context).run = planned.run.to_xcom()
        request = planned.request
        if found := self.clusters().find(request["Name"]):
            self.log.info("The run has a cluster already: %s", found[0])
            return found[0]
        self._skip_without_news(context, planned.run)
        self._take_slot(context, planned.run)
        self.job_flow_overrides = request
        try:
            created = super().execute(context)
        except ReplyLost as error:
            return self._made_all_the_same(request["Name"], error)
        assert created is not None, "EMR's reply has the cluster's id"
        return created

    def _skip_without_news(self, context: Any, run: Run) -> None:
        """End without a cluster where an earlier run did what this one is for."""
        if not self.plan.after:
            return
        covered = Covered(self.plan, self.environment, aws_conn_id=self.aws_conn_id)
        if by := covered.by(context["dag_run"]):
            self._end_for_nothing(context, run, by)
            self.lease().give_back(run.name)
            raise AirflowSkipException(f"Nothing new: {by} took what there was.")

    def _end_for_nothing(self, context: Any, run: Run, why: str) -> None:
        """Note why the run has nothing to do, and write its summary."""
        self.notes(context).no_news = why
        files = RunFiles(self.environment, run.name, aws_conn_id=self.aws_conn_id)
        files.write("summary.json", summary_of_nothing(self.plan, run).to_json())

    def _take_slot(self, context: Any, run: Run) -> None:
        """Wait until the environment may have one more cluster, and it is this run's turn.

        The run has its domain's lease: of each domain one run waits here.
        """
        slots = ClusterSlots(self.environment, aws_conn_id=self.aws_conn_id)
        if waits_for := slots.take(run.name, self._runs_with_clusters):
            where = self.environment.name
            self.log.info("%s: %s Waiting for a cluster to end.", where, waits_for)
            self._wait(context, looks=OTHERS_LOOKS)

    def _runs_with_clusters(self) -> list[str]:
        return list(map(run_of, self.clusters().living(states=(*ALIVE, *ENDING))))

    def _made_all_the_same(self, name: str, error: ReplyLost) -> str:
        """Return the cluster whose creation EMR did not confirm. Raises ReplyLost
        without one."""
        self.log.warning("%s. Looking for the cluster.", error)
        if found := self.clusters().look_for(name):
            return found[0]
        raise error

    def _planned(self, context: Any) -> RunPlan:
        """Plan the run; refuse steps and clusters that EMR would refuse."""
        try:
            run = check_run(
                self.plan,
                run_id=context["run_id"],
                params=context["params"],
                release=self.release,
                sha256=self.sha256,
                interval=interval_of(context),
            )
            planned = RunPlan.of(
                self.plan, run=run, cluster=self.cluster, environment=self.environment
            )
            self._check_request(planned.request)
            return planned
        except (RunRefused, StepError) as refused:
            raise AirflowFailException(f"The run is refused: {refused}") from None

    def check_plan(self, key: str) -> None:
        """Plan a run of all tables and compare its request with EMR's model.

        Raises RunRefused or StepError where EMR would refuse it; nothing is created.
        """
        run = Run(
            dag_id=self.plan.dag_id,
            key=key,
            release=self.release,
            tables=self.plan.tables,
            plan_only=True,
            sha256=self.sha256,
        )
        planned = RunPlan.of(
            self.plan, run=run, cluster=self.cluster, environment=self.environment
        )
        self._check_request(planned.request)

    def _check_request(self, request: dict[str, Any]) -> None:
        if problems := request_problems(request, self.hook.conn.meta.service_model):
            raise RunRefused(
                [
                    f"the cluster {self.cluster.name} cannot be created: {problems} "
                    "Fix its file in clusters/ or that of the environment."
                ]
            )

    def on_kill(self) -> None:
        """Let the cluster live: Airflow ends processes also where nothing is wrong.

        Another try finds the cluster by its name, and so does the end of the run.
        """

    def _end_what_was_created(self, run: str) -> None:
        if not self._job_flow_id:
            return
        self.log.warning("Terminating cluster %s: the task failed.", self._job_flow_id)
        self._note_end(self._job_flow_id, "the task that made it failed.", of=run)
        self.hook.conn.terminate_job_flows(JobFlowIds=[self._job_flow_id])

    def _note_end(self, cluster: str, why: str, *, of: str, by: str = "") -> None:
        who = f"{self.task_id} of {by}" if by else self.task_id
        ends = Ends(self.environment, of, aws_conn_id=self.aws_conn_id)
        ends.note(cluster, by=who, why=why)
