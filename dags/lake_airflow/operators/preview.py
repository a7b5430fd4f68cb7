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
from lake_spec.model import ClusterSpec, EnvironmentSpec


@dataclass(frozen=True)
class Preview:
    """The request for the cluster and the steps of each stage.

    The steps of a HoodieStreamer stage are not known before: there is one per table
    that has new input.
    """

    run: Run
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
    ) -> Preview:
        """Plan a run. Raises StepError for a step that EMR would not take."""
        return cls(
            run=run,
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
        yield "all files that are not ingested yet"
        for stage, tables in self.tables.items():
            yield f"stage {stage}: {', '.join(tables) or 'nothing to do'}"
            for step in self.steps.get(stage, ()):
                yield f"  {shlex.join(step['HadoopJarStep']['Args'])}"
        yield "Nothing was created."


def _steps(
    plan: DagPlan, stage: Stage, run: Run, environment: EnvironmentSpec
) -> list[Step]:
    if stage.kind is StageKind.STREAMER or not selected_parts(stage, run):
        return []
    return [spark_step(plan, stage, run=run, environment=environment)]
