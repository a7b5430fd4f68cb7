"""The plan of a run: what it would request from EMR."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lake_airflow.emr.job_flow import run_job_flow_request
from lake_airflow.emr.steps import Step, selected, selected_parts, spark_step
from lake_airflow.planning.plan import DagPlan, Stage, StageKind
from lake_airflow.runs.run import Run
from lake_spec.layout.dag_names import (
    FULL_LOAD,
    INCREMENTAL,
    PRODUCTS,
    REBUILD,
    REPROCESS,
)
from lake_spec.layout.stage_tables import ERASE, MAINTENANCE, SCD2
from lake_spec.model import ClusterSpec, EnvironmentSpec
from lake_spec.model.continuous import CONTINUOUS
from lake_spec.run_options.asked import planned

_NEW = "that are not ingested yet"
_COVERS = {
    FULL_LOAD: f"all files of full loads {_NEW}",
    INCREMENTAL: f"all files {_NEW}",
    CONTINUOUS: f"all files {_NEW}, in rounds until its hours are over",
    REPROCESS: "the landing files that are chosen: retracted, and ingested again",
    SCD2: "all rows of the change log that history does not have yet",
    PRODUCTS: "all rows of inputs that the products do not have yet",
    MAINTENANCE: "no landing files: compacts, clusters and cleans the tables",
    REBUILD: "no landing files: makes current and history again from the change log",
    ERASE: "the keys that the request lists, in landing files and tables",
}
"""What a run covers, by the kind of its DAG, where nothing else is asked for."""


@dataclass(frozen=True)
class RunPlan:
    """The request for the cluster and the steps of each stage.

    The steps of a HoodieStreamer stage are not known before: there is one per table
    that has new input.
    """

    run: Run
    kind: str
    cluster: str
    request: dict[str, Any]
    steps: Mapping[str, list[Step]]
    tables: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(
        cls,
        plan: DagPlan,
        *,
        run: Run,
        cluster: ClusterSpec,
        environment: EnvironmentSpec,
    ) -> RunPlan:
        """Plan a run. Raises StepError for a step that EMR would not take."""
        return cls(
            run=run,
            kind=plan.kind,
            cluster=cluster.name,
            request=run_job_flow_request(
                plan, run=run, cluster=cluster, environment=environment
            ),
            steps={s.name: _steps(plan, s, run, environment) for s in plan.stages},
            tables={part.name: selected(part, run) for part in plan.parts},
        )

    def to_json(self) -> dict[str, Any]:
        """Return the content of `plan.json`."""
        return {
            "run": self.run.name,
            "window": self.run.window,
            "run_job_flow": self.request,
            "tables": {stage: list(tables) for stage, tables in self.tables.items()},
            "steps": self.steps,
        }

    def to_lines(self) -> Iterator[str]:
        """Format the plan for people."""
        yield f"Plan of the run {self.run.name}, release {self.run.release}"
        yield f"cluster {self.cluster}: {self.request['ReleaseLabel']}"
        yield _covers(self.kind, self.run)
        yield from planned(self.run)
        for stage, tables in self.tables.items():
            yield f"stage {stage}: {', '.join(tables) or 'nothing to do'}"
            for step in self.steps.get(stage, ()):
                yield f"  {shlex.join(step['HadoopJarStep']['Args'])}"
        yield "Nothing was created."


def _covers(kind: str, run: Run) -> str:
    if run.verify is None:
        return _COVERS[kind]
    keys = "all keys" if run.verify == 1 else f"{run.verify * 100:g}% of the keys"
    return f"no landing files: compares {keys} with the log"


def _steps(
    plan: DagPlan, stage: Stage, run: Run, environment: EnvironmentSpec
) -> list[Step]:
    if stage.kind is StageKind.STREAMER or not selected_parts(stage, run):
        return []
    return [spark_step(plan, stage, run=run, environment=environment)]
