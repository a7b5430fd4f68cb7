"""The reports that a run's stages left on S3, one per table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Optional

from lake_airflow.emr.steps import selected
from lake_airflow.planning.plan import DagPlan, Stage
from lake_airflow.runs.files import RunFiles
from lake_airflow.runs.run import Run
from lake_spec.state.report import State
from lake_spec.state.state_format import refuse_newer

CLOCKS = timedelta(minutes=5)
"""Largest difference between the clocks of a cluster and EMR."""

Report = Mapping[str, Any]
Reports = Mapping[tuple[str, str], Report]  # by (stage, table)
Steps = Sequence[Mapping[str, Any]]  # name, id, state, reason and log of each


class UnreadableReport(ValueError):
    """The report of a table is damaged, or a newer release wrote it.

    Fix: Deploy the release that wrote it or a later one. If it is damaged, run the DAG
    again: a table that is done stays as it is and gets a new report.
    """


def read_reports(
    files: RunFiles, plan: DagPlan, run: Run, steps: Mapping[str, Optional[Steps]]
) -> Reports:
    """Read every report of the last steps of the stages.

    One that began before its step was handed in is of a try before: a run that was
    cleared has them.
    """
    there, found = files.names(), {}
    for stage, part, table in _reported(plan, run):
        name = f"{part.name}/{table}.json"
        if stage.name in steps and name in there:
            report = _report(files, name, where=run.name)
            if not _is_of_before(report, steps[stage.name]):
                found[part.name, table] = report
    return found


def _reported(plan: DagPlan, run: Run) -> Iterator[tuple[Stage, Stage, str]]:
    """List the step, the stage in it and the table of each report of the run."""
    for stage in plan.stages:
        for part in stage.parts if stage.writes_reports else ():
            for table in selected(part, run):
                yield stage, part, table


def lacks_report(stage: Stage, run: Run, reports: Reports) -> bool:
    """Return whether a table of the step's stages has no report of its own."""
    ended = {place for place, each in reports.items() if has_ended(each)}
    wanted = {(p.name, table) for p in stage.parts for table in selected(p, run)}
    return not stage.writes_reports or not wanted <= ended


def has_ended(report: Report) -> bool:
    """Return whether the stage finished the table, and not only a part of it."""
    return bool(report) and report.get("state") != State.RUNNING.value


def _is_of_before(report: Report, steps: Optional[Steps]) -> bool:
    began = report.get("started")
    submitted = max(
        (s["submitted"] for s in steps or () if "submitted" in s), default=""
    )
    if not began or not submitted:
        return False
    waited = datetime.fromisoformat(submitted) - datetime.fromisoformat(began)
    return waited > CLOCKS


def _report(files: RunFiles, name: str, where: str) -> Report:
    """Parse a report; one that cannot be read counts as that of a failure."""
    try:
        report = files.read(name)
        if not isinstance(report, dict):
            raise UnreadableReport(
                f"{name}: got {type(report).__name__}, not an object."
            )
        refuse_newer(report, what=f"the report {name}", where=f"<runs>/{where}/{name}")
    except ValueError as error:
        cause = {"type": UnreadableReport.__name__, "message": str(error)}
        return {"state": "failed", "error": cause}
    return report
