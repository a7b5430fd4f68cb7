"""Airflow's callback when a run is over: does what the tasks at its end were to do.

They may never have run: who marks a stage with *Downstream* marks them too (Airflow up to
3.2), and the run is over within seconds, green or red, beside a living cluster.
"""

from __future__ import annotations

import logging
from datetime import datetime
from typing import Any

from airflow.providers.amazon.aws.hooks.emr import EmrHook

from lake_airflow.emr import step_status
from lake_airflow.emr.clusters import ClusterFinder, ClusterSteps, is_of_this_airflow
from lake_airflow.emr.job_flow import ALIVE, ENDING, cluster_name
from lake_airflow.planning.plan import DagPlan
from lake_airflow.reporting.notifier import (
    AWS_CONNECTION,
    UNREPORTED,
    FailureCallback,
    notifier_after,
)
from lake_airflow.reporting.summary import FAILED
from lake_airflow.runs.ends import Ends
from lake_airflow.runs.files import RunFiles
from lake_airflow.runs.lease import DomainLease
from lake_airflow.runs.run_tasks import END_TASK
from lake_spec.model import EnvironmentSpec

SUMMARY, PLAN = "summary.json", "plan.json"
"""Files of which each run that ended by its own tasks left one."""

log = logging.getLogger(__name__)


class RunOver:
    """Ends the clusters that a run left, gives its lease back, and tells its topic."""

    def __init__(self, plan: DagPlan, environment: EnvironmentSpec) -> None:
        self.plan = plan
        self.environment = environment

    def __call__(self, context: Any) -> None:
        """Look after a run that is over, as `reason` and `dag_run` of it say."""
        notifier = notifier_after(self.plan, self.environment, context)
        left: tuple[str, ...] = ()
        failed = None
        try:
            left = self._end_left(notifier.run, context.get("dag_run"))
        except Exception as error:  # what there is to tell is told first
            failed = error
        if context.get("reason") != "success":
            FailureCallback(self.plan, self.environment)(context, left)
        elif left or not self._is_told(notifier.run):
            notifier.failed((UNREPORTED, *left))
        if failed:
            raise failed

    def _end_left(self, run: str, dag_run: Any) -> tuple[str, ...]:
        """End the run's clusters that live; return a sentence about each."""
        region = self.environment.region
        client = EmrHook(aws_conn_id=AWS_CONNECTION, region_name=region).conn
        finder, name = ClusterFinder(client, self.environment), cluster_name(run)
        lease = DomainLease(
            self.environment, self.plan.domain, aws_conn_id=AWS_CONNECTION
        )
        found = [each for each in finder.living(name) if is_of_this_airflow(each)]
        taken = lease.since(run)
        if _goes_on(taken, dag_run):
            return ()
        told = []
        for cluster in found:
            why = _words(client, cluster["Id"])
            log.warning("Terminating it: %s", why)
            ends = Ends(self.environment, run, aws_conn_id=AWS_CONNECTION)
            ends.note(cluster["Id"], by="the callback of the run's end", why=why)
            client.terminate_job_flows(JobFlowIds=[cluster["Id"]])
            told.append(why)
        lease.give_back(
            run, unless=lambda _: bool(finder.find(name, (*ALIVE, *ENDING)))
        )
        return tuple(told)

    def _is_told(self, run: str) -> bool:
        """Return whether a green run reported that it succeeded, or told that it failed."""
        files = RunFiles(self.environment, run, aws_conn_id=AWS_CONNECTION)
        names = files.names()
        if SUMMARY in names and files.read(SUMMARY).get("state") == FAILED:
            return any(name.startswith("notifications/failure") for name in names)
        return bool(names & {SUMMARY, PLAN})


def _goes_on(taken: datetime | None, dag_run: Any) -> bool:
    """Return whether the run took its lease after it was over: it was cleared since.

    Airflow calls back later, 3.0 also again and again. It may also not say when the run
    was over; then the reaper, or the next run, sees to what is left.
    """
    over = getattr(dag_run, "end_date", None)
    return taken is not None and (over is None or taken > over)


def _words(client: Any, cluster: str) -> str:
    alive = filter(step_status.is_alive, ClusterSteps(client, cluster).listed())
    names = ", ".join(step["Name"] for step in alive) or "none"
    return (
        f"Cluster {cluster} still lived when the run was over, and was terminated; steps "
        f"that were pending or running: {names}. {END_TASK} did not end it: in Airflow "
        "before 3.3 a mark with Downstream takes that task along."
    )
