"""A run told from its reports: who did what, and why it is red where it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

from lake_airflow.plan import DagPlan, Stage
from lake_airflow.run import Run
from lake_airflow.steps import selected

Report = Mapping[str, Any]
Reports = Mapping[tuple[str, str], Report]  # by (stage, table)
Steps = Sequence[Mapping[str, Any]]  # name, id, state, reason and log of each

SUCCEEDED, FAILED, SKIPPED = "succeeded", "failed", "skipped"
_COLUMNS = (
    ("stage", "stage"),
    ("table", "table"),
    ("state", "state"),
    ("rows in", "rows_in"),
    ("accepted", "accepted"),
    ("unchanged", "unchanged"),
    ("duplicates", "duplicates"),
    ("quarantined", "quarantined"),
    ("deletes", "derived_deletes"),
    ("current", "current_rows"),
    ("opened", "versions_opened"),
    ("closed", "versions_closed"),
    ("keys moved", "keys_moved"),
    ("seconds", "seconds"),
)


@dataclass(frozen=True)
class Summary:
    """The end of a run: green without causes, red with them."""

    run: str
    domain: str
    release: Optional[str]
    dry_run: bool
    stages: Mapping[str, Any]
    tables: Mapping[str, Mapping[str, Report]]
    causes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def state(self) -> str:
        """`failed` as soon as there is one cause."""
        return FAILED if self.causes else SUCCEEDED

    def to_json(self) -> dict[str, Any]:
        """What `summary.json` holds."""
        return {
            "run": self.run,
            "domain": self.domain,
            "release": self.release,
            "dry_run": self.dry_run,
            "state": self.state,
            "tables": self.tables,
            "stages": self.stages,
            "warnings": list(self.warnings),
            "causes": list(self.causes),
        }

    def to_lines(self) -> Iterator[str]:
        """The run as a person reads it, the causes last."""
        yield f"Run {self.run}, release {self.release or 'none'}"
        if self.dry_run:
            yield "A dry run: nothing was written."
        yield from _table(self.tables)
        yield from _withdrawn(self.domain, self.tables)
        yield from (f"WARNING {warning}" for warning in self.warnings)
        yield f"The run {self.state}."
        yield from (f"FAILED {cause}" for cause in self.causes)


def summarise(
    plan: DagPlan, run: Run, *, steps: Mapping[str, Optional[Steps]], reports: Reports
) -> Summary:
    """The summary of a run whose cluster was made.

    `steps` has what each stage saw of its steps at its end, None where the
    stage never got there. Whatever is missing is a cause: no green without
    proof.
    """
    causes: list[str] = []
    for stage in plan.stages:
        causes += _causes_of_steps(plan, stage, steps.get(stage.name))
        causes += _causes_of_tables(plan, stage, run, reports)
    return Summary(
        run=run.name,
        domain=plan.domain,
        release=run.release,
        dry_run=run.dry_run,
        stages={s.name: _stage(steps.get(s.name)) for s in plan.stages},
        tables=_by_table(plan, reports),
        causes=tuple(causes),
        warnings=tuple(_warnings(plan, reports)),
    )


def summarise_without_cluster(plan: DagPlan, run_name: str, cause: str) -> Summary:
    """The summary of a run that ended before it had a cluster."""
    return Summary(
        run=run_name,
        domain=plan.domain,
        release=None,
        dry_run=False,
        stages={stage.name: _stage(()) for stage in plan.stages},
        tables={},
        causes=(f"{plan.domain}: no cluster was created: {cause}",),
    )


def _causes_of_steps(
    plan: DagPlan, stage: Stage, steps: Optional[Steps]
) -> Iterator[str]:
    if steps is None:
        yield f"{plan.domain} {stage.name}: did not end; see the log of its task."
    for step in steps or ():
        if step["state"] != "COMPLETED":
            reason = step.get("reason") or "no reason given"
            yield (
                f"{plan.domain} {stage.name}: step {step.get('id')} {step['name']!r}"
                f" {step['state']}: {reason} Log: {step.get('log')}"
            )


def _causes_of_tables(
    plan: DagPlan, stage: Stage, run: Run, reports: Reports
) -> Iterator[str]:
    if not stage.writes_reports:
        return
    for table in selected(stage, run):
        where = f"{plan.domain}.{table} {stage.name}"
        report = reports.get((stage.name, table))
        yield from (f"{where}: {cause}" for cause in _causes_of_report(report))


def _causes_of_report(report: Optional[Report]) -> Iterator[str]:
    if report is None:
        yield "no report: the stage did not get to the end of this table."
        return
    told = ""
    if report.get("state") not in ("done", "nothing_new", "dry_run"):
        error = report.get("error") or {}
        told = error.get("message", "no message")
        yield f"{error.get('type', 'Error')}: {told}"
    for file in report.get("set_aside") or ():
        cause = f"{file.get('path')}: {file.get('reason')}"
        if not told.startswith(cause):
            yield f"set aside {cause}"


def _warnings(plan: DagPlan, reports: Reports) -> Iterator[str]:
    for (stage, table), report in reports.items():
        for warning in report.get("warnings") or ():
            yield f"{plan.domain}.{table} {stage}: {warning}"


def _stage(steps: Optional[Steps]) -> dict[str, Any]:
    if steps is None:
        return {"state": FAILED, "steps": []}
    if not steps:
        return {"state": SKIPPED, "steps": []}
    complete = all(step["state"] == "COMPLETED" for step in steps)
    state = SUCCEEDED if complete else FAILED
    return {"state": state, "steps": [dict(step) for step in steps]}


def _by_table(plan: DagPlan, reports: Reports) -> dict[str, dict[str, Report]]:
    tables: dict[str, dict[str, Report]] = {}
    for stage in plan.stages:
        for table in stage.tables:
            if (stage.name, table) in reports:
                found = reports[stage.name, table]
                tables.setdefault(table, {})[stage.name] = found
    return tables


def _withdrawn(
    domain: str, tables: Mapping[str, Mapping[str, Report]]
) -> Iterator[str]:
    """A line per table whose files a redo withdrew: how many, and the first of them."""
    for table, stages in tables.items():
        for stage, report in stages.items():
            paths = report.get("withdrawn") or ()
            if paths:
                first = ", ".join(paths[:3]) + (", ..." if len(paths) > 3 else "")
                count = f"{len(paths)} file(s)"
                yield f"WITHDRAWN {domain}.{table} {stage}: {count}: {first}"


def _table(tables: Mapping[str, Mapping[str, Report]]) -> Iterator[str]:
    """The reports as lines of aligned columns, numbers to the right."""
    rows = [
        tuple(_cells({**report, "stage": stage, "table": table}))
        for table, stages in tables.items()
        for stage, report in stages.items()
    ]
    if rows:
        yield from _aligned((tuple(head for head, _ in _COLUMNS), *rows))


def _cells(report: Report) -> Iterator[str]:
    for _, key in _COLUMNS:
        value = report.get(key)
        if value is None:
            yield "-"
        elif isinstance(value, float):
            yield f"{value:.1f}"
        elif isinstance(value, int):
            yield f"{value:,}"
        else:
            yield str(value)


def _aligned(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(_COLUMNS))]
    for row in rows:
        cells = (
            cell.ljust(width) if i < 3 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths))
        )
        yield "  ".join(cells).rstrip()
