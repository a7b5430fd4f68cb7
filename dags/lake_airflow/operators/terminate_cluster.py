"""The task that ends a run's cluster, whatever became of the others."""

from __future__ import annotations

import time
from datetime import datetime, timedelta, timezone
from typing import Any

from airflow.providers.amazon.aws.operators.emr import EmrTerminateJobFlowOperator
from airflow.providers.amazon.aws.triggers.emr import EmrTerminateJobFlowTrigger

from botocore.exceptions import BotoCoreError, ClientError

from lake_airflow.compat import AirflowSkipException
from lake_airflow.emr.clusters import ClusterFinder
from lake_airflow.emr.job_flow import ENDED, ENDING, cluster_name
from lake_airflow.operators.deferral import LATE, READS_LIMIT, WaitsForEmr
from lake_airflow.operators.links import RunPageLink
from lake_airflow.planning.plan import DagPlan
from lake_airflow.reporting.cost_ledger import Ledger, entry_line
from lake_airflow.runs.ends import Ends
from lake_airflow.runs.lease import DomainLease
from lake_airflow.runs.run_tasks import run_name, task_states
from lake_airflow.runs.task_notes import (
    CLUSTER_ID,
    FirstTaskNotes,
    LastTaskNotes,
    Termination,
)
from lake_check.costs.ledger import rows
from lake_spec.layout.dag_names import CREATE_TASK
from lake_spec.model import EnvironmentSpec

END_LIMIT = timedelta(minutes=30)
QUICK_END = timedelta(seconds=15)
"""So long the task waits itself: a trigger that fires before Airflow has noted
the deferral fails the task, and a cluster without work can end that quickly."""


class TerminateCluster(WaitsForEmr, EmrTerminateJobFlowOperator):  # type: ignore[misc]
    """Ends the cluster, returns when EMR says that it is gone, and so is the lease.

    Runs also where the first task did not succeed: one that is marked as failed while
    it waits for EMR's reply leaves a cluster that only its name identifies. Skips where the
    run has none.
    """

    operator_extra_links = (  # type: ignore[assignment]
        *EmrTerminateJobFlowOperator.operator_extra_links,
        RunPageLink(),
    )

    def __init__(
        self,
        *,
        plan: DagPlan,
        environment: EnvironmentSpec,
        poll_seconds: int,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            region_name=environment.region,
            waiter_delay=poll_seconds,
            waiter_max_attempts=int(END_LIMIT.total_seconds()) // poll_seconds,
            job_flow_id=CLUSTER_ID,
            deferrable=False,
            **kwargs,
        )
        self.plan = plan
        self.environment = environment

    def notes(self, context: Any) -> LastTaskNotes:
        """Return what this task has noted in this run."""
        return LastTaskNotes(context, self.task_id)

    def clusters(self) -> ClusterFinder:
        """Make a finder of the environment's clusters."""
        return ClusterFinder(self.hook.conn, self.environment)

    def execute(self, context: Any) -> str:  # type: ignore[override]
        self.begins(context)
        try:
            return self._end(context)
        except (BotoCoreError, ClientError) as error:
            self.after_failed_read(context, error, READS_LIMIT, "execute_again")

    def _end(self, context: Any) -> str:
        self.job_flow_id = self.job_flow_id or self.unreported_cluster(context)
        if not self.job_flow_id:
            self._give_back_lease(context)
            raise AirflowSkipException("The run has no cluster.")
        self._note_end(context, self.job_flow_id)
        super().execute(context)
        requested = Termination(self.job_flow_id, datetime.now(timezone.utc))
        self.notes(context).termination = requested
        if self._ended_within(QUICK_END, every=1):
            return self._gone(context)
        return self.follow(context, may_defer=True)

    def unreported_cluster(self, context: Any) -> str:
        """Return the cluster of the run's name that no task reported; "" without
        one."""
        name, clusters = cluster_name(run_name(self.plan, context)), self.clusters()
        look = clusters.look_for if self._may_come_yet(context) else clusters.find
        if living := look(name):
            self.log.warning("Terminating %s, which no task reported.", living[0])
            return living[0]
        return next(iter(clusters.find(name, ENDING)), "")

    def _may_come_yet(self, context: Any) -> bool:
        """Return whether a cluster may still appear: the first task was marked while
        it worked, or its worker died, and its request to EMR may be on its way."""
        state = task_states(context, self.plan, CREATE_TASK).get(CREATE_TASK)
        return (
            state in ("failed", "success") and not FirstTaskNotes.of_run(context).cause
        )

    def _defer_until_gone(self) -> None:
        self.defer(
            trigger=EmrTerminateJobFlowTrigger(
                job_flow_id=self.job_flow_id,
                waiter_delay=self.waiter_delay,
                waiter_max_attempts=self.waiter_max_attempts,
                aws_conn_id=self.aws_conn_id,
            ),
            method_name="execute_complete",
            timeout=END_LIMIT + LATE,
        )

    def has_begun(self, context: Any) -> bool:
        """Return whether termination of the cluster was requested."""
        return self.notes(context).termination is not None

    def follow(self, context: Any, *, may_defer: bool) -> str:
        """Wait until the cluster is gone; how it ended does not concern this task."""
        requested = self.notes(context).termination
        assert requested, "who follows an end has requested it"
        self.job_flow_id = requested.cluster  # also if found by its name alone
        try:
            if self.clusters().state(self.job_flow_id) in ENDED:
                return self._gone(context)
        except (BotoCoreError, ClientError) as error:
            self.after_failed_read(context, error, READS_LIMIT, "follow_again")
        self.reads_succeed(context)
        if datetime.now(timezone.utc) - requested.since > END_LIMIT:
            raise self._lives_on()
        if may_defer and self.can_defer():
            self._defer_until_gone()
        self.poll_again()
        raise AssertionError("a deferral ends the method")

    def _gone(self, context: Any) -> str:
        """Release the run's lease and return the id of the cluster."""
        self._end_others(context)
        self._give_back_lease(context)
        if entry := self._note_cost():
            costs = rows([entry], "table")[:-1]  # the last one is the total
            minutes = {row["table"]: round(row["minutes"], 3) for row in costs}
            self.notes(context).minutes = minutes
        return self.job_flow_id

    def _give_back_lease(self, context: Any) -> None:
        """Release the lease; a failure is no error, as it expires by itself."""
        domain, aws_conn_id = self.plan.domain, self.aws_conn_id
        lease = DomainLease(self.environment, domain, aws_conn_id=aws_conn_id)
        lease.give_back(run_name(self.plan, context))

    def _end_others(self, context: Any) -> None:
        """Terminate all other clusters of the run's name: two tries at once create
        two."""
        own_id, name = self.job_flow_id, cluster_name(run_name(self.plan, context))
        if others := self.clusters().find(name):
            self.log.warning("Terminating %s more of %r.", len(others), name)
            self._note_end(context, *others)
            self.hook.conn.terminate_job_flows(JobFlowIds=others)
        for self.job_flow_id in others:
            if not self._ended_within(END_LIMIT, every=self.waiter_delay):
                raise self._lives_on()
            self._note_cost()
        self.job_flow_id = own_id

    def _note_end(self, context: Any, *clusters: str) -> None:
        name = run_name(self.plan, context)
        ends = Ends(self.environment, name, aws_conn_id=self.aws_conn_id)
        ends.note(*clusters, by=self.task_id, why="the run was over, or was ended.")

    def _lives_on(self) -> TimeoutError:
        return TimeoutError(
            f"Cluster {self.job_flow_id} is still running {END_LIMIT} after "
            "termination was requested. Terminate it manually; it keeps accruing cost."
        )

    def _note_cost(self) -> dict[str, Any] | None:
        """Add it to the ledger and return the entry; what cannot be written now is
        left to the reaper."""
        try:
            ledger = Ledger(self.environment, aws_conn_id=self.aws_conn_id)
            if entry := ledger.note(self.job_flow_id):
                self.log.info("%s", entry_line(entry))
            return entry
        except Exception:
            self.log.exception("%s could not be added to the ledger.", self.job_flow_id)
            return None

    def _ended_within(self, limit: timedelta, *, every: int) -> bool:
        clusters = self.clusters()
        for _ in range(int(limit.total_seconds()) // every):
            if (state := clusters.state(self.job_flow_id)) in ENDED:
                self.log.info("Cluster %s is %s", self.job_flow_id, state)
                return True
            time.sleep(every)
        return False
