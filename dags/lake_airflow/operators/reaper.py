"""Terminates an environment's orphaned clusters.

A run ends its own cluster. What is left over is of runs that could not: their
tasks were killed, marked or deleted while the cluster was starting or working, or
wait for good, as those of a paused DAG do.
"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

from airflow.providers.amazon.aws.hooks.emr import EmrHook
from airflow.sdk import DAG, BaseOperator
from botocore.exceptions import BotoCoreError, ClientError

from lake_airflow.emr.clusters import (
    ClusterFinder,
    created,
    idle,
    is_of_this_airflow,
    is_over,
    run_of,
    tags_of,
)
from lake_airflow.reporting.cost_ledger import Ledger
from lake_airflow.reporting.notifier import alarm_notifier
from lake_airflow.runs.ends import Ends
from lake_spec.layout.dag_names import REAPER
from lake_spec.model import EnvironmentSpec

OWNER = "data-platform"
YOUNG = timedelta(minutes=10)
"""Age up to which a cluster is left alone, whatever its run does."""

START = datetime(2026, 1, 1, tzinfo=timezone.utc)


class LeftOver(RuntimeError):
    """Orphaned clusters could not be terminated.

    Fix: Terminate the clusters in the message in the EMR console: they cost money until
    then. Then check the rights of the Airflow role.
    """


class TerminateOrphans(BaseOperator):
    """Ends clusters of the environment whose run is over or left alone, or that are
    too old.

    Their tags have their run and their age limit. Of the runs of
    another Airflow this one knows nothing: their clusters are ended by age alone.
    """

    def __init__(
        self,
        *,
        environment: EnvironmentSpec,
        aws_conn_id: str | None = "aws_default",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.environment = environment
        self.aws_conn_id = aws_conn_id

    def execute(self, context: Any) -> list[str]:
        """Terminate orphaned clusters and return their ids."""
        region = self.environment.region
        client = EmrHook(aws_conn_id=self.aws_conn_id, region_name=region).conn
        ended, failed = [], []
        for cluster in ClusterFinder(client, self.environment).living():
            words = f"{cluster['Id']} {cluster['Name']!r}"
            try:
                why = self._why(client, cluster, context["ti"])
                if why is None:
                    continue
                words = f"{words}: {why}"
                self._note_end(cluster, why)
                client.terminate_job_flows(JobFlowIds=[cluster["Id"]])
            except (BotoCoreError, ClientError) as error:
                failed.append(f"{words}. {error}")
                continue
            self.log.warning("Terminating cluster %s", words)
            ended.append(cluster["Id"])
        self._note_costs()
        if failed:
            causes = "\n".join(failed)
            raise LeftOver(
                f"Terminate these clusters manually; they keep accruing cost:\n{causes}"
            )
        return ended

    def _note_end(self, cluster: dict[str, Any], why: str) -> None:
        """Tell the run who ended it, where a tag has the run."""
        if (run := run_of(cluster)) != cluster["Id"]:
            ends = Ends(self.environment, run, aws_conn_id=self.aws_conn_id)
            ends.note(cluster["Id"], by=REAPER, why=why)

    def _note_costs(self) -> None:
        """Add clusters to the ledger that ended without the task of their run."""
        try:
            ledger = Ledger(self.environment, aws_conn_id=self.aws_conn_id)
            for each in ledger.note_missing():
                self.log.info("%s was added to the ledger.", each)
        except Exception:  # what is about money is that they end
            self.log.exception("The ledger could not be updated.")

    def _why(self, client: Any, cluster: dict[str, Any], ti: Any) -> str | None:
        """Return why no run needs it; None if one may."""
        tags = tags_of(cluster)
        now = datetime.now(timezone.utc)
        age = now - created(cluster)
        hours = tags.get("lake:max-hours", "")
        if hours.isdigit() and age > timedelta(hours=int(hours)):
            return f"it is older than {hours} h"
        if age < YOUNG or "lake:dag" not in tags or not is_of_this_airflow(cluster):
            return None
        return is_over(cluster, ti) or idle(client, cluster, now, ti)


def reaper(environment: EnvironmentSpec) -> DAG:
    """Build the DAG that terminates orphaned clusters periodically."""
    with DAG(
        REAPER,
        description=f"Terminates clusters of {environment.name} that no run needs",
        doc_md=__doc__,
        schedule=environment.reaper_schedule,
        start_date=START,
        catchup=False,
        max_active_runs=1,
        dagrun_timeout=timedelta(minutes=30),
        default_args={"owner": OWNER},
        tags=["lake", "reaper"],
        on_failure_callback=alarm_notifier(REAPER, environment.alarm_topic),
    ) as dag:
        TerminateOrphans(
            task_id="end_leftovers",
            environment=environment,
            retries=3,
            retry_delay=timedelta(minutes=2),
        )
    return dag
