"""Proves a release where it is to work: on a worker of its Airflow.

A deploy starts a run of this DAG and reads which release it ran as. It has no schedule,
begins unpaused, and several runs work side by side: neither a run of a domain nor one
that is stuck is in a proof's way.
"""

from __future__ import annotations

import runpy
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from airflow.sdk import DAG, BaseOperator

from lake_airflow.compat import AirflowFailException
from lake_airflow.operators.create_cluster import CreateCluster
from lake_airflow.operators.reaper import OWNER
from lake_airflow.runs.task_notes import ReleaseNotes
from lake_spec.layout.dag_names import PROOF, PROOF_TASK
from lake_spec.layout.run_key import run_key

START = datetime(2026, 1, 1, tzinfo=timezone.utc)
MOST_RUNS = 16
"""Runs side by side: more than deploys that could have left one stuck within LIMIT."""
LIMIT = timedelta(minutes=20)
"""Of a run: as long as a deploy waits for it."""


class ProveRelease(BaseOperator):
    """Makes every DAG of the release, and compares what each would ask of EMR with
    EMR's model. Nothing is created."""

    def __init__(self, *, dags: Path, release: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.dags = str(dags)
        self.release = release

    def execute(self, context: Any) -> None:
        """Note the release first, so that also a failure says whose it is."""
        ReleaseNotes(context, self.task_id).release = self.release
        key = run_key(context["run_id"])
        faults = [
            fault
            for file in sorted(Path(self.dags).glob("*.py"))
            for fault in self._faults(file, key)
        ]
        if faults:
            raise AirflowFailException(
                f"The release {self.release} cannot work:\n" + "\n".join(faults)
            )
        self.log.info("The release %s can work.", self.release)

    def _faults(self, file: Path, key: str) -> Iterator[str]:
        """List what is wrong with a DAG file, and with the requests of its DAGs."""
        try:
            found = runpy.run_path(str(file)).values()
        except Exception as error:  # whatever a file meets is its import error
            yield f"{file.name}: {type(error).__name__}: {error}"
            return
        for dag in found:
            for task in getattr(dag, "tasks", ()):
                if not isinstance(task, CreateCluster):
                    continue
                try:
                    task.check_plan(key)
                except Exception as error:
                    yield f"{task.plan.dag_id}: {error}"
                else:
                    self.log.info("%s: its request is valid", task.plan.dag_id)


def proof(dags: Path, release: str) -> DAG:
    """Build the DAG whose runs prove the release of a folder of DAG files."""
    with DAG(
        PROOF,
        description="Proves a release that was deployed, and creates nothing",
        doc_md=__doc__,
        schedule=None,
        start_date=START,
        catchup=False,
        is_paused_upon_creation=False,
        max_active_runs=MOST_RUNS,
        dagrun_timeout=LIMIT,
        default_args={"owner": OWNER},
        tags=["lake", "proof"],
    ) as dag:
        ProveRelease(task_id=PROOF_TASK, dags=dags, release=release)
    return dag
