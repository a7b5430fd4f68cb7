"""The summary of a run from its reports: what was done, and why it failed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Optional

from lake_airflow.emr.step_status import is_failed, words_of
from lake_airflow.emr.steps import selected
from lake_airflow.planning.plan import DagPlan, Stage, AlertThresholds
from lake_airflow.reporting.reports import Report, Reports, Steps, has_ended
from lake_airflow.runs.run import Run
from lake_check.messages.message_ids import help_lines
from lake_spec import VERSION
from lake_spec.diagnostics.warnings import WarningId
from lake_spec.facts.late_sources import why_late
from lake_spec.layout.stage_tables import INGESTING
from lake_spec.model import Event
from lake_spec.state.report import FAILED_TABLE

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
    ("newest event", "newest_event"),
    ("opened", "versions_opened"),
    ("closed", "versions_closed"),
    ("keys moved", "keys_moved"),
    ("seconds", "seconds"),
)


_WARNINGS = {
    Event.QUARANTINE: WarningId.HIGH_QUARANTINE_SHARE,
    Event.LATE_SOURCE: WarningId.LATE_SOURCE,
}
"""Event of a finding -> id of its warning."""


@dataclass(frozen=True)
class Finding:
    """A finding on a table although nothing failed: the event, in words."""

    event: Event
    table: str
    words: str

    @property
    def warning(self) -> str:
        """Return the words with the id of the warning."""
        return f"{_WARNINGS[self.event].value}: {self.words}"


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
    asked: tuple[str, ...] = ()
    window: Optional[str] = None
    late_sources: tuple[str, ...] = ()
    over_warn_share: tuple[str, ...] = ()

    @property
    def state(self) -> str:
        """`failed` as soon as there is one cause."""
        return FAILED if self.causes else SUCCEEDED

    def to_json(self) -> dict[str, Any]:
        """Return the content of `summary.json`."""
        return {
            "run": self.run,
            "domain": self.domain,
            "release": self.release,
            "version": VERSION,
            "dry_run": self.dry_run,
            "state": self.state,
            "tables": self.tables,
            "stages": self.stages,
            "warnings": list(self.warnings),
            "causes": list(self.causes),
            "asked": list(self.asked),
            "window": self.window,
            "late_sources": list(self.late_sources),
            "over_warn_share": list(self.over_warn_share),
        }

    def to_lines(self) -> Iterator[str]:
        """Format the run for people; the causes come last, with where they are explained."""
        yield f"Run {self.run}, release {self.release or 'none'}"
        if self.dry_run:
            yield "A dry run: nothing was written."
        yield from _table(self.tables)
        yield from _retracted(self.domain, self.tables)
        yield from (f"WARNING {warning}" for warning in self.warnings)
        yield f"The run {self.state}."
        yield from (f"FAILED {cause}" for cause in self.causes)
        yield from help_lines((*self.causes, *self.warnings))


def summarise(
    plan: DagPlan,
    run: Run,
    *,
    steps: Mapping[str, Optional[Steps]],
    reports: Reports,
    now: datetime,
) -> Summary:
    """Summarise a run whose cluster was created.

    `steps` has what each stage saw of its steps at its end, None where the
    stage never got there. Whatever is missing is a cause: no green without
    proof.
    """
    found = tuple(findings(plan, reports, now))
    causes: list[str] = []
    for stage in plan.stages:
        causes += causes_of_stage(plan, stage, run, steps.get(stage.name), reports)
    return Summary(
        run=run.name,
        domain=plan.domain,
        release=run.release,
        dry_run=run.dry_run,
        stages={s.name: _stage(steps.get(s.name)) for s in plan.stages},
        tables=_by_table(plan, reports),
        causes=tuple(causes),
        warnings=(
            *_warnings(plan, reports),
            *(f"{plan.domain}.{each.table}: {each.warning}" for each in found),
        ),
        asked=run.tables,
        window=run.window,
        late_sources=_tables_of(found, Event.LATE_SOURCE),
        over_warn_share=_tables_of(found, Event.QUARANTINE),
    )


def summarise_without_cluster(plan: DagPlan, run_name: str, cause: str) -> Summary:
    """Summarise a run that ended before it had a cluster."""
    return Summary(
        run=run_name,
        domain=plan.domain,
        release=None,
        dry_run=False,
        stages={stage.name: _stage(()) for stage in plan.stages},
        tables={},
        causes=(f"{plan.domain}: no cluster was created: {cause}",),
    )


def summary_of_plan(plan: DagPlan, run: Run) -> Summary:
    """Summarise a run that was asked for its plan only."""
    return replace(summary_of_nothing(plan, run), dry_run=True)


def summary_of_nothing(plan: DagPlan, run: Run) -> Summary:
    """Summarise a run that had nothing to do, and no cluster."""
    return Summary(
        run=run.name,
        domain=plan.domain,
        release=run.release,
        dry_run=run.dry_run,
        stages={stage.name: _stage(()) for stage in plan.stages},
        tables={},
    )


def findings(plan: DagPlan, reports: Reports, now: datetime) -> Iterator[Finding]:
    """List findings of a run's ingesting stages; empty for a dry run."""
    watched = dict(plan.watched)
    for (stage, table), report in reports.items():
        if stage not in INGESTING or report.get("state") not in ("done", "nothing_new"):
            continue
        if words := _too_many_bad(report, watched[table].warn_share):
            yield Finding(Event.QUARANTINE, table, words)
        if words := _late(report, watched[table], now):
            yield Finding(Event.LATE_SOURCE, table, words)


def _too_many_bad(report: Report, limit: Optional[float]) -> Optional[str]:
    bad, rows = report.get("quarantined", 0), report.get("rows_in", 0)
    if limit is None or bad <= limit * rows:
        return None
    return (
        f"{bad:,} of {rows:,} rows are in the quarantine ({bad / rows:.2%}, limit"
        f" {limit:.2%}, quarantine.warn_share). Fix the rows in the source."
    )


def _late(report: Report, watched: AlertThresholds, now: datetime) -> Optional[str]:
    if "newest_input" not in report:
        return None
    newest = report["newest_input"]
    landed = datetime.fromisoformat(newest) if newest else None
    why = why_late(watched.late_after_hours, landed, now)
    return f"source is late: {why}. Check the source." if why else None


def _tables_of(found: Sequence[Finding], event: Event) -> tuple[str, ...]:
    return tuple(each.table for each in found if each.event is event)


def causes_of_stage(
    plan: DagPlan, stage: Stage, run: Run, steps: Optional[Steps], reports: Reports
) -> Iterator[str]:
    """List why a stage failed: its tables first, its steps with their logs last."""
    told = [
        cause
        for part in stage.parts
        for cause in _causes_of_tables(plan, part, run, reports)
    ]
    yield from told
    yield from _causes_of_steps(plan, stage, steps, told)


def _causes_of_steps(
    plan: DagPlan, stage: Stage, steps: Optional[Steps], told: Sequence[str]
) -> Iterator[str]:
    if steps is None:
        yield f"{plan.domain} {stage.name}: did not end; see the log of its task."
    for step in steps or ():
        if is_failed(step):
            end = {**step, "reason": _without_told(step.get("reason") or "", told)}
            yield f"{plan.domain} {stage.name}: {words_of(end)}"


def _without_told(reason: str, told: Sequence[str]) -> str:
    """Return why a step failed without the causes that its tables gave already.

    EMR may cut the last one that the step says.
    """
    first, *said = reason.split(FAILED_TABLE)
    causes = [each.rstrip("; ") for each in said]
    is_told = all(any(cause.startswith(each) for cause in told) for each in causes)
    return first.rstrip(": ") if causes and is_told else reason


def _causes_of_tables(
    plan: DagPlan, stage: Stage, run: Run, reports: Reports
) -> Iterator[str]:
    if not stage.writes_reports:
        return
    names = {table: f"{plan.domain}.{table}" for table in selected(stage, run)}
    found = {table: reports.get((stage.name, table), {}) for table in names}
    for table, name in names.items():
        for cause in _causes_of_report(found[table]):
            yield f"{name} {stage.name}: {cause}"
    if lacking := [name for t, name in names.items() if not has_ended(found[t])]:
        # One line, or a crash with many tables would hide its own cause.
        what = "this table" if len(lacking) == 1 else "these tables"
        yield (
            f"{', '.join(lacking)} {stage.name}: no report: the stage did not finish "
            f"{what}."
        )


def _causes_of_report(report: Report) -> Iterator[str]:
    reported = ""
    if report and report.get("state") not in (
        "done",
        "nothing_new",
        "dry_run",
        "running",
    ):
        error = report.get("error") or {}
        reported = error.get("message", "no message")
        yield f"{error.get('type', 'Error')}: {reported}"
    for file in report.get("set_aside") or ():
        cause = f"{file.get('path')}: {file.get('reason')}"
        if not reported.startswith(cause):
            yield f"set aside: {file.get('type', 'BadFile')}: {cause}"


def _warnings(plan: DagPlan, reports: Reports) -> Iterator[str]:
    for (stage, table), report in reports.items():
        for warning in report.get("warnings") or ():
            yield f"{plan.domain}.{table} {stage}: {warning}"


def _stage(steps: Optional[Steps]) -> dict[str, Any]:
    if steps is None:
        return {"state": FAILED, "steps": []}
    if not steps:
        return {"state": SKIPPED, "steps": []}
    state = FAILED if any(map(is_failed, steps)) else SUCCEEDED
    return {"state": state, "steps": [dict(step) for step in steps]}


def _by_table(plan: DagPlan, reports: Reports) -> dict[str, dict[str, Report]]:
    tables: dict[str, dict[str, Report]] = {}
    for stage in plan.parts:
        for table in stage.tables:
            if (stage.name, table) in reports:
                found = reports[stage.name, table]
                tables.setdefault(table, {})[stage.name] = found
    return tables


def _retracted(
    domain: str, tables: Mapping[str, Mapping[str, Report]]
) -> Iterator[str]:
    """Format a line per table whose files a reprocess retracted: the number and the
    first ones."""
    for table, stages in tables.items():
        for stage, report in stages.items():
            paths = report.get("retracted") or ()
            if paths:
                first = ", ".join(paths[:3]) + (", ..." if len(paths) > 3 else "")
                count = f"{len(paths)} file(s)"
                yield f"RETRACTED {domain}.{table} {stage}: {count}: {first}"


def _table(tables: Mapping[str, Mapping[str, Report]]) -> Iterator[str]:
    """Format the reports as aligned columns, numbers to the right."""
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
        elif key == "newest_event":
            yield str(value)[:19]
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
