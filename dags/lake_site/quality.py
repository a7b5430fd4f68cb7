"""What runs say of a table's rules, its bad rows, and its files around maintenance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Optional

from lake_spec.layout.stage_tables import MAINTENANCE
from lake_spec.model import Rule

from lake_site import pictures
from lake_site.facts import DomainFacts, Run, TableFacts, began_at

RUNS = 30
"""Runs that a chart of a rule covers."""
MOST_CHARTS = 12
BAD_RUNS = 10
"""Runs with bad rows that a page lists."""


@dataclass(frozen=True)
class RuleResult:
    """A rule and the rows that broke it, in the last runs that counted them."""

    rule: Rule
    counts: tuple[tuple[str, int], ...] = ()
    """Start of a run and rows, the oldest first."""

    @property
    def last(self) -> Optional[int]:
        """Rows that broke it in the last run; None if no run counted them."""
        return self.counts[-1][1] if self.counts else None

    @property
    def broken_in(self) -> Sequence[str]:
        """Starts of the runs in which rows broke it, the oldest first."""
        return [start for start, count in self.counts if count]

    @property
    def total(self) -> int:
        """Rows that broke it in all of these runs."""
        return sum(count for _, count in self.counts)


@dataclass(frozen=True)
class BadRun:
    """A run with bad rows, and some of them as they may be shown."""

    run: Run
    bad: int
    rows: int
    samples: Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class MaintainedLayer:
    """What a maintenance run did to a layer of a table."""

    run: Run
    table: str
    layer: str
    done: tuple[str, ...]
    before: Mapping[str, int]
    after: Mapping[str, int]


def rule_results(table: TableFacts) -> tuple[RuleResult, ...]:
    """Return each rule of a table with its results, in the order of the spec."""
    found: dict[str, list[tuple[str, int]]] = {}
    for run, report in reversed(table.reports):
        began = began_at(run, report)
        label = f"{began:%Y-%m-%d %H:%M}" if began else run.key
        for words, count in (report.get("rules") or {}).items():
            found.setdefault(words, []).append((label, int(count)))
    return tuple(
        RuleResult(rule, tuple(found.get(rule.broken, ())[-RUNS:]))
        for rule in table.spec.quality
    )


def rule_charts(results: Sequence[RuleResult]) -> list[dict[str, Any]]:
    """Return a chart for each rule that rows broke, a bar for each run."""
    return [
        pictures.chart(each.rule.broken, "bad", each.counts, per="run")
        for each in results
        if each.total
    ][:MOST_CHARTS]


def bad_runs(table: TableFacts) -> tuple[BadRun, ...]:
    """Return the newest runs with bad rows of a table."""
    guard = table.domain.guard
    found = (
        BadRun(
            run,
            int(report["quarantined"]),
            int(report.get("rows_in") or 0),
            guard.samples(table.spec, report),
        )
        for run, report in table.reports
        if report.get("quarantined") or report.get("samples")
    )
    return tuple(islice(found, BAD_RUNS))


def maintained(table: TableFacts) -> tuple[MaintainedLayer, ...]:
    """Return what maintenance did to a table, the newest first."""
    return tuple(
        each
        for run, report in table.reports
        for each in _maintained(run, table.spec.name, report)
    )


def last_maintained(table: TableFacts) -> Optional[Run]:
    """Return the newest known run that maintained a table; None for none."""
    for run in table.runs:
        report = run.tables[table.spec.name].get(MAINTENANCE)
        if report and not run.dry_run and not report.get("error"):
            return run
    return None


def samples_of_run(facts: DomainFacts, run: Run) -> list[Mapping[str, Any]]:
    """Return bad rows of a run as they may be shown, each with its table."""
    specs = {table.name: table for table in facts.spec.tables}
    return [
        {"table": name, **sample}
        for name, stages in run.tables.items()
        if name in specs
        for report in stages.values()
        for sample in facts.guard.samples(specs[name], report)
    ]


def maintained_in_run(run: Run) -> list[MaintainedLayer]:
    """Return what a run's maintenance did to its tables."""
    return [
        each
        for name, stages in run.tables.items()
        for report in stages.values()
        for each in _maintained(run, name, report)
    ]


def _maintained(
    run: Run, table: str, report: Mapping[str, Any]
) -> list[MaintainedLayer]:
    """List the layers to which something was done."""
    return [
        MaintainedLayer(
            run,
            table,
            str(each["layer"]),
            tuple(map(str, each["done"])),
            each["before"],
            each["after"],
        )
        for each in report.get("maintained") or ()
        if each["done"]
    ]
