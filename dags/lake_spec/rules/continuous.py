"""Rules on continuous runs: of the domain, its tables and its cluster."""

from __future__ import annotations

from typing import Iterator, Sequence

from lake_spec.diagnostics.diagnostic import Path, Problem, got
from lake_spec.model import (
    ClusterSpec,
    DomainSpec,
    Engine,
    HistoryRuns,
    Snapshot,
    TableSpec,
    Concurrency,
)
from lake_spec.rules.rule_book import RuleBook
from lake_spec.rules.table import within

CONTINUOUS = RuleBook()

SPARE_HOURS = 2
"""So much longer than a continuous run its cluster must be allowed to live: the last
micro-batch, the maintenance and its own start and end come on top."""

_NONE = "The domain has no continuous runs: add `continuous: {}`, or remove it."


@CONTINUOUS.rule("continuous")
def pace_is_in_bounds(spec: DomainSpec) -> Iterator[Problem]:
    pace, top = spec.continuous, ("continuous",)
    if pace is not None:
        yield from within((*top, "every_seconds"), pace.every_seconds, 5, 3600)
        yield from within((*top, "hours"), pace.hours, 0.01, 20)


@CONTINUOUS.rule("continuous", "schedules", "clusters")
def nothing_is_said_of_runs_that_there_are_not(spec: DomainSpec) -> Iterator[Problem]:
    if spec.continuous is None:
        for name in ("schedules", "clusters"):
            value = getattr(spec, name).continuous
            if value is not None:
                yield got((name, "continuous"), value, _NONE)


@CONTINUOUS.rule("continuous", "schedules")
def one_schedule_takes_what_has_landed(spec: DomainSpec) -> Iterator[Problem]:
    both = spec.schedules.continuous and spec.schedules.incremental
    if spec.continuous is not None and both:
        hint = (
            "The continuous run has a schedule too and does its work, and each of its "
            "runs would stop one: remove one of the two schedules."
        )
        yield got(("schedules", "incremental"), spec.schedules.incremental, hint)


@CONTINUOUS.rule("continuous", "concurrency")
def others_wait_for_a_micro_batch(spec: DomainSpec) -> Iterator[Problem]:
    if spec.continuous is not None and spec.concurrency is not Concurrency.WAIT:
        hint = (
            "Every other run would be refused during a continuous run: write wait, "
            "then it starts after the current micro-batch."
        )
        yield got(("concurrency",), spec.concurrency.value, hint)


@CONTINUOUS.rule("continuous", "history_runs")
def micro_batches_bring_history_up(spec: DomainSpec) -> Iterator[Problem]:
    if spec.continuous is not None and spec.history_runs is HistoryRuns.OWN_DAG:
        hint = "Every micro-batch updates history: write same_cluster."
        yield got(("history_runs",), spec.history_runs.value, hint)


def table_problems(spec: DomainSpec, tables: Sequence[TableSpec]) -> Iterator[Problem]:
    """List problems of tables in a domain with continuous runs."""
    if spec.continuous is None:
        return
    for table in tables:
        if table.engine is Engine.STREAMER:
            yield _unfit(
                f"table {table.name!r} has engine: streamer",
                "A HoodieStreamer step is a separate application and cannot be part "
                "of a micro-batch: set engine: pyspark on the table, or remove "
                "`continuous`.",
            )
        if isinstance(table.source, Snapshot) and table.source.pulled_from:
            yield _unfit(
                f"table {table.name!r} has source.pulled_from",
                "Every micro-batch would pull the whole table: make it a feed with"
                " changes_from, move it to another domain, or remove `continuous`.",
            )


def _unfit(message: str, hint: str) -> Problem:
    return Problem(("continuous",), None, message, hint)


def cluster_problems(
    spec: DomainSpec, cluster: ClusterSpec, path: Path = ("continuous", "hours")
) -> Iterator[Problem]:
    """List problems between the continuous runs' cluster and their hours."""
    if spec.continuous is None:
        return
    hours, most = spec.continuous.hours, cluster.max_hours - SPARE_HOURS
    if hours > most:
        message = f"continuous runs of {spec.name} take {hours:g} hours"
        hint = (
            f"The cluster {cluster.name!r} is terminated after max_hours: "
            f"{cluster.max_hours}, and needs a margin of {SPARE_HOURS} hours: choose "
            f"up to {max(most, 0)} hours, or another cluster."
        )
        yield Problem(path, hours, message, hint)
