"""Rules on continuous runs: of the domain, its tables and its cluster."""

from __future__ import annotations

from typing import Iterator, Sequence

from lake_check.rules.rule_set import RuleSet, rule
from lake_spec.diagnostics.diagnostic import Path, Problem, got
from lake_spec.model import (
    ClusterSpec,
    Concurrency,
    DomainSpec,
    Engine,
    HistoryRuns,
    SnapshotTable,
    TableSpec,
)

CONTINUOUS = RuleSet()

SPARE_HOURS = 2
"""So much longer than a continuous run its cluster must be allowed to live: the last
micro-batch, the maintenance and its own start and end come on top."""

_NONE = "The domain has no continuous runs: add `continuous: {}`, or remove it."


@CONTINUOUS.rule("continuous", "schedules", "clusters")
def continuous_settings_need_continuous(spec: DomainSpec) -> Iterator[Problem]:
    """Refuse a schedule or cluster for continuous runs in a domain without them.

    Fix: Add `continuous: {}` to the domain, or remove the setting.
    """
    if spec.continuous is None:
        for name in ("schedules", "clusters"):
            value = getattr(spec, name).continuous
            if value is not None:
                yield got((name, "continuous"), value, _NONE)


@CONTINUOUS.rule("continuous", "schedules")
def one_schedule_ingests_changes(spec: DomainSpec) -> Iterator[Problem]:
    """Refuse a schedule of incremental runs next to one of continuous runs.

    Fix: Remove `schedules.incremental` or `schedules.continuous`.
    """
    both = spec.schedules.continuous and spec.schedules.incremental
    if spec.continuous is not None and both:
        hint = (
            "The continuous run has a schedule too and does its work, and each of its "
            "runs would stop one: remove one of the two schedules."
        )
        yield got(("schedules", "incremental"), spec.schedules.incremental, hint)


@CONTINUOUS.rule("continuous", "concurrency")
def continuous_runs_let_others_wait(spec: DomainSpec) -> Iterator[Problem]:
    """Refuse `concurrency: refuse` in a domain with continuous runs.

    Fix: Write `concurrency: wait`: other runs then start after the current micro-batch.
    """
    if spec.continuous is not None and spec.concurrency is not Concurrency.WAIT:
        hint = (
            "Every other run would be refused during a continuous run: write wait, "
            "then it starts after the current micro-batch."
        )
        yield got(("concurrency",), spec.concurrency.value, hint)


@CONTINUOUS.rule("continuous", "history_runs")
def micro_batches_update_history(spec: DomainSpec) -> Iterator[Problem]:
    """Refuse a DAG of its own for history in a domain with continuous runs.

    Fix: Write `history_runs: same_cluster`: each micro-batch updates history.
    """
    if spec.continuous is not None and spec.history_runs is HistoryRuns.OWN_DAG:
        hint = "Every micro-batch updates history: write same_cluster."
        yield got(("history_runs",), spec.history_runs.value, hint)


@rule
def tables_fit_continuous_runs(
    spec: DomainSpec, tables: Sequence[TableSpec]
) -> Iterator[Problem]:
    """Refuse tables that cannot be part of a micro-batch.

    Fix: Change the table as the message says, move it to another domain, or remove
    `continuous`.
    """
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
        if isinstance(table, SnapshotTable) and table.source.pulled_from:
            yield _unfit(
                f"table {table.name!r} has source.pulled_from",
                "Every micro-batch would pull the whole table: make it a feed with"
                " changes_from, move it to another domain, or remove `continuous`.",
            )


def _unfit(message: str, hint: str) -> Problem:
    return Problem(("continuous",), None, message, hint)


@rule
def cluster_outlasts_continuous_run(
    spec: DomainSpec, cluster: ClusterSpec, path: Path = ("continuous", "hours")
) -> Iterator[Problem]:
    """Refuse a cluster that ends before a continuous run does.

    Fix: Lower `continuous.hours`, raise the cluster's `max_hours`, or choose another
    cluster.
    """
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
