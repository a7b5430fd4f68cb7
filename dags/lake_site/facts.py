"""What is known of a domain and its tables, from specs, summaries and the ledger."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta, timezone
from functools import cached_property, partial
from typing import Any, Optional

from lake_check.costs import ledger
from lake_check.costs.prices import Prices
from lake_spec.facts.late_sources import late_from, why_late
from lake_spec.layout.stage_tables import INGESTING
from lake_spec.lineage.columns import FOLDERS, Edge, layers_of, lineage_of
from lake_spec.lineage.sensitivity import ColumnSensitivity
from lake_spec.model import DomainSpec, FileTable, TableSpec
from lake_spec.state.table_profile import TableProfile

from lake_site.guard import Guard

DAYS = 30
"""Days that charts and costs cover."""

_KEPT = (
    *("state", "started", "seconds", "rows_in", "accepted", "quarantined", "error"),
    *("versions_opened", "versions_closed", "versions", "current_rows", "samples"),
    *("newest_input", "newest_event", "upserted", "warnings", "files"),
    *("rules", "maintained", "checks", "commits", "guarded"),
)
"""Fields of reports that pages show; large runs have large reports."""

_NO_FILE = "newest_input"
"""The field that says something by having no value: the stage found no file."""

_LISTED = 50
"""Entries of a report's lists that are kept."""

_NAME = re.compile(r"[A-Za-z0-9_]+/[A-Za-z0-9_.-]+")
"""Names of runs become paths of pages."""

_SUMMED = ("accepted", "quarantined", "versions_opened", "upserted")
"""Counts of reports that are summed by day, in the order of `Day`."""

_EMPTY_STATES = ("nothing_new", "dry_run")
_LOOKED = ("done", "nothing_new")
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Run:
    """A run that has ended, from its `summary.json`."""

    name: str
    state: str
    release: str
    dry_run: bool
    started: Optional[datetime]
    ended: Optional[datetime]
    tables: Mapping[str, Mapping[str, Mapping[str, Any]]]
    causes: tuple[str, ...]
    warnings: tuple[str, ...]
    over_warn_share: tuple[str, ...] = ()

    @property
    def dag_id(self) -> str:
        """The DAG of the run."""
        return self.name.partition("/")[0]

    @property
    def key(self) -> str:
        """The key of the run, unique in its DAG."""
        return self.name.partition("/")[2]

    @property
    def seconds(self) -> float:
        """Seconds from the first report's start to the last one's end."""
        if self.started is None or self.ended is None:
            return 0.0
        return (self.ended - self.started).total_seconds()


def run_of(summary: Mapping[str, Any]) -> Run:
    """Return the run of a summary. Raises ValueError or TypeError for one that is damaged."""
    tables = {
        table: {stage: _kept(report) for stage, report in stages.items()}
        for table, stages in (summary.get("tables") or {}).items()
    }
    reports = [report for stages in tables.values() for report in stages.values()]
    starts = [began for each in reports if (began := time_of(each.get("started")))]
    ends = [
        began + timedelta(seconds=float(each.get("seconds") or 0))
        for each in reports
        if (began := time_of(each.get("started")))
    ]
    if not _NAME.fullmatch(str(summary["run"])) or ".." in summary["run"]:
        raise ValueError(f"not the name of a run: {str(summary['run'])[:100]!r}")
    return Run(
        name=str(summary["run"]),
        state=str(summary.get("state")),
        release=str(summary.get("release") or ""),
        dry_run=bool(summary.get("dry_run")),
        started=min(starts, default=None),
        ended=max(ends, default=None),
        tables=tables,
        causes=tuple(map(str, summary.get("causes") or ())),
        warnings=tuple(map(str, summary.get("warnings") or ())),
        over_warn_share=tuple(summary.get("over_warn_share") or ()),
    )


def _kept(report: Mapping[str, Any]) -> dict[str, Any]:
    known = {
        name: report[name]
        for name in _KEPT
        if report.get(name) is not None or (name == _NO_FILE and name in report)
    }
    return {n: v[-_LISTED:] if isinstance(v, list) else v for n, v in known.items()}


def runs_of(summaries: Iterable[Mapping[str, Any]]) -> tuple[Run, ...]:
    """Return the runs of summaries, the newest first; a damaged one is logged and left out."""
    found = []
    for summary in summaries:
        try:
            found.append(run_of(summary))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            log.warning("a summary is left out of the site: %r", error)
    first = datetime.min.replace(tzinfo=timezone.utc)
    return tuple(sorted(found, key=lambda run: run.started or first, reverse=True))


def time_of(text: Any) -> Optional[datetime]:
    """Parse a time of a report; None for none. Raises ValueError for another text."""
    if not text:
        return None
    found = datetime.fromisoformat(str(text).replace("Z", "+00:00"))
    return found if found.tzinfo else found.replace(tzinfo=timezone.utc)


def began_at(run: Run, report: Mapping[str, Any]) -> Optional[datetime]:
    """Return when a stage of a run began; of one whose report lacks it, when the run did."""
    return time_of(report.get("started")) or run.started


@dataclass(frozen=True)
class Day:
    """What a table's runs of one day did, in rows."""

    day: date
    accepted: int = 0
    bad: int = 0
    opened: int = 0
    upserted: int = 0


@dataclass(frozen=True)
class Problem:
    """What is wrong with a table: `failed`, `late` or `warning`, in words.

    `run` is the run that says so; None for what no run says.
    """

    kind: str
    words: str
    run: Optional[Run] = None


@dataclass(frozen=True)
class DomainFacts:
    """A domain with its runs, costs and lineage, at one moment.

    `sensitivity` knows the columns of all domains that its products read; without it those
    tables count as personal. `prices` is what costs are given by;
    without them there are minutes only.
    """

    spec: DomainSpec
    runs: tuple[Run, ...]
    now: datetime
    entries: Sequence[ledger.Entry] = ()
    sensitivity: Optional[ColumnSensitivity] = None
    prices: Optional[Prices] = None
    profiles: Mapping[str, TableProfile] = field(default_factory=dict)
    """By name of a table."""

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        """Column lineage of its tables."""
        return lineage_of(self.spec)

    @cached_property
    def edges_of(self) -> Mapping[str, tuple[Edge, ...]]:
        """The edges into and out of each table, by full name."""
        found: dict[str, dict[Edge, None]] = {}
        for edge in self.edges:
            found.setdefault(edge.target.table, {})[edge] = None
            found.setdefault(edge.source.table, {})[edge] = None
        return {name: tuple(edges) for name, edges in found.items()}

    @cached_property
    def guard(self) -> Guard:
        """What of its runs may be shown."""
        return Guard(self.spec, self.sensitivity)

    @cached_property
    def costs(self) -> Mapping[str, Mapping[str, Any]]:
        """A row of the ledger by full name of a table, and `all`."""
        found = ledger.rows(self.entries, "table", prices=self.prices)
        return {row["table"]: row for row in found}

    @cached_property
    def runs_by_table(self) -> Mapping[str, tuple[Run, ...]]:
        """The runs that have reports of a table, the newest first."""
        found: dict[str, list[Run]] = {}
        for run in self.runs:
            for table in run.tables:
                found.setdefault(table, []).append(run)
        return {table: tuple(runs) for table, runs in found.items()}

    @cached_property
    def specs(self) -> Mapping[str, TableSpec]:
        """The specs of its tables by full name."""
        return {table.full_name: table for table in self.spec.tables}

    @cached_property
    def tables(self) -> tuple[TableFacts, ...]:
        """Its tables by name."""
        ordered = sorted(self.spec.tables, key=lambda table: table.name)
        return tuple(TableFacts(table, self) for table in ordered)


@dataclass(frozen=True)
class TableFacts:
    """A table and what its runs say of it."""

    spec: TableSpec
    domain: DomainFacts

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """Runs with reports of it, the newest first."""
        return self.domain.runs_by_table.get(self.spec.name, ())

    @cached_property
    def reports(self) -> tuple[tuple[Run, Mapping[str, Any]], ...]:
        """Reports of runs that were no dry runs, the newest first."""
        return tuple(
            (run, report)
            for run in self.runs
            if not run.dry_run
            for report in reversed(list(run.tables[self.spec.name].values()))
        )

    def newest(self, name: str) -> Any:
        """Return the newest reported value of a figure; None if no report has it."""
        known = (report.get(name) for _, report in self.reports)
        return next((value for value in known if value is not None), None)

    @cached_property
    def checks(self) -> tuple[Mapping[str, Any], ...]:
        """The newest result of each check of whole tables, where its spec has checks."""
        declared = {(each.layer.value, each.title) for each in self.spec.checks}
        found: dict[tuple[str, str], Mapping[str, Any]] = {}
        for _, report in self.reports:
            for each in report.get("checks") or ():
                found.setdefault((each["layer"], each["check"]), each)
        return tuple(found[each] for each in sorted(declared & found.keys()))

    @cached_property
    def last_ingest(self) -> Optional[tuple[Run, Mapping[str, Any]]]:
        """The newest report that ingested rows."""
        return next((pair for pair in self.reports if pair[1].get("rows_in")), None)

    @cached_property
    def newest_input(self) -> Optional[datetime]:
        """When its newest file landed; for a table without files, when it was built."""
        if isinstance(self.spec, FileTable):
            return time_of(self.newest("newest_input"))
        # Maintenance's commits have other names, and a verification makes none.
        rows = {FOLDERS[layer] for layer in layers_of(self.spec)}
        built = (
            each for _, each in self.reports if rows & set(each.get("commits", ()))
        )
        return time_of(next(built, {}).get("started"))

    @cached_property
    def newest_event(self) -> Optional[datetime]:
        """The newest time of an event, by the source's own clock."""
        return time_of(self.newest("newest_event"))

    @property
    def late_from(self) -> Optional[datetime]:
        """When its source is late; None if there is no limit or no file."""
        return late_from(self.spec.late_after_hours, self.newest_input)

    @property
    def why_late(self) -> Optional[str]:
        """Why its source is late, in words; None before a run looked for its files."""
        looked = (
            "newest_input" in report and report.get("state") in _LOOKED
            for stage in INGESTING
            for _, report in self._reports_by_stage.get(stage, ())
        )
        if self.newest_input is None and not any(looked):
            return None
        return why_late(self.spec.late_after_hours, self.newest_input, self.domain.now)

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with it now, the worst first.

        The newest report of each stage says it: a maintenance that is green hides no bad
        row. A run without new rows takes back a failure, but no warning about rows.
        """
        found, warned = [], []
        for stage, reports in self._reports_by_stage.items():
            found += self._failures(stage, *reports[0])
            with_work = [r for r in reports if r[1].get("state") not in _EMPTY_STATES]
            for run, report in with_work[:1]:
                warned += self._warnings(stage, run, report)
        if why := self.why_late:
            found.append(Problem("late", why))
        last = self.last_ingest and self.last_ingest[0]
        if last and self.spec.name in last.over_warn_share:
            words = "more bad rows than quarantine.warn_share"
            found.append(Problem("warning", words, last))
        return (*found, *warned)

    @cached_property
    def _reports_by_stage(self) -> Mapping[str, list[tuple[Run, Mapping[str, Any]]]]:
        """Its reports of runs that were no dry runs, the newest first."""
        found: dict[str, list[tuple[Run, Mapping[str, Any]]]] = {}
        for run in self.runs:
            if not run.dry_run:
                for stage, report in run.tables[self.spec.name].items():
                    found.setdefault(stage, []).append((run, report))
        return found

    @property
    def state(self) -> str:
        """`failed`, `late`, `warning`, `ok`, or `empty` before the first run."""
        if self.problems:
            return self.problems[0].kind
        return "ok" if self.reports else "empty"

    @cached_property
    def days(self) -> tuple[Day, ...]:
        """Its rows by day, the oldest first, each day of the last 30."""
        sums: dict[date, list[int]] = {}
        for run, report in self.reports:
            began = began_at(run, report)
            if began is not None:
                of = sums.setdefault(began.astimezone(timezone.utc).date(), [0] * 4)
                for i, name in enumerate(_SUMMED):
                    of[i] += int(report.get(name) or 0)
        today = self.domain.now.date()
        days = (today - timedelta(days=ago) for ago in reversed(range(DAYS)))
        return tuple(Day(day, *sums.get(day, (0, 0, 0, 0))) for day in days)

    @cached_property
    def profile(self) -> Optional[TableProfile]:
        """What its columns had when they were last measured; None if they never were.

        Values that the spec of today does not show are left out.
        """
        found = self.domain.profiles.get(self.spec.name)
        return found and found.redacted(partial(self.domain.guard.may_show, self.spec))

    @property
    def profile_is_older(self) -> bool:
        """Whether a run ingested rows after its columns were measured."""
        if self.profile is None or self.last_ingest is None:
            return False
        began, measured = began_at(*self.last_ingest), time_of(self.profile.at)
        return began is not None and measured is not None and measured < began

    @property
    def cost(self) -> Optional[Mapping[str, Any]]:
        """Its row of the ledger; None if no cluster worked for it."""
        return self.domain.costs.get(self.spec.full_name)

    def _failures(
        self, stage: str, run: Run, report: Mapping[str, Any]
    ) -> list[Problem]:
        if report.get("state") in ("done", "running", *_EMPTY_STATES):
            return []
        error = report.get("error") or {}
        words = f"{error.get('type', 'Error')}: {error.get('message', 'no message')}"
        shown = self.domain.guard.words(self.spec.full_name, words, report)
        return [Problem("failed", f"{stage}: {shown}", run)]

    def _warnings(
        self, stage: str, run: Run, report: Mapping[str, Any]
    ) -> list[Problem]:
        guard, name = self.domain.guard, self.spec.full_name
        return [
            Problem("warning", f"{stage}: {guard.words(name, str(each), report)}", run)
            for each in report.get("warnings") or ()
        ]
