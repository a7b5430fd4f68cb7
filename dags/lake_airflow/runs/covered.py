"""Whether an earlier run of a DAG did already what the update of an asset asked for.

Two schedulers may start a run each for one update. The later one has nothing to do, for a
run takes all that is there when it begins: it needs no cluster if it was asked for before
the last one that succeeded on all tables began.
"""

from __future__ import annotations

import json
import logging
from datetime import datetime
from typing import Any

from lake_airflow.planning.plan import DagPlan
from lake_airflow.runs.lease import granted_at
from lake_airflow.runs.run import Run
from lake_airflow.runs.s3_object import S3Object
from lake_spec.model import EnvironmentSpec

log = logging.getLogger(__name__)

_BY_ASSET = "asset_triggered"  # Airflow's run type


class Covered:
    """The note of the last run of a DAG that took all there was."""

    def __init__(
        self, plan: DagPlan, environment: EnvironmentSpec, *, aws_conn_id: str | None
    ) -> None:
        self.plan = plan
        address = f"{environment.runs}/covered/{plan.dag_id}.json"
        region = environment.region
        self._object = S3Object(address, region=region, aws_conn_id=aws_conn_id)

    def by(self, dag_run: Any) -> str | None:
        """Return the run that did what this one was started for; else None.

        A run that somebody started or cleared is wanted, whatever there is to do.
        """
        asked = getattr(dag_run, "run_after", None)
        is_wanted = dag_run.run_type != _BY_ASSET or getattr(dag_run, "clear_number", 0)
        if is_wanted or asked is None:
            return None
        content, _ = self._object.read()
        try:
            noted = json.loads(content or "null")
            is_covered = noted and asked < datetime.fromisoformat(noted["began"])
            return str(noted["run"]) if is_covered else None
        except (ValueError, TypeError, KeyError):
            log.warning(
                "%s is no note of a run, and says nothing.", self._object.address
            )
            return None

    def note(self, run: Run) -> None:
        """Note a run that succeeded, and when it began, if it was to take all.

        It began when it was granted the lease, also where its first task was tried again.
        """
        if run.token and run.tables == self.plan.tables and not run.dry_run:
            began = granted_at(run.token).isoformat()
            self._object.replace({"run": run.name, "began": began})
