"""What to know about specs that have no fault: notes and warnings of `validate`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Iterator, Sequence

from lake_check.messages.parsing_ids import ParsingId
from lake_check.parsing.discovery import DOMAIN_FILE, ENDING, read_document, Survey
from lake_spec.diagnostics.diagnostic import Diagnostic, Problem
from lake_spec.facts.clock_times import clock_columns, dates_by_clock
from lake_spec.model import DomainSpec, FeedTable, FileTable, SnapshotTable, TableSpec
from lake_spec.model.checks import Unique
from lake_spec.text.clocks import goes_back


@dataclass(frozen=True)
class Note:
    """What to know about a spec that has no fault."""

    file: str
    text: str
    kind: str = "note"
    """`note`, or `warning` for what should be changed."""

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


def notes_of(domains: Sequence[DomainSpec], tables: Path) -> Iterator[Note]:
    """List what to know about the specs of a folder, each rule's notes together."""
    specs = [each for domain in domains for each in domain.tables]
    yield from _of_schedules(domains, tables)
    yield from _keys_that_may_change(specs, tables)
    yield from _clocks_that_go_back(specs, tables)


def file_of(full_name: str, tables: Path) -> Path:
    """Return the file of a table's spec."""
    domain, _, name = full_name.partition(".")
    return tables / domain / f"{name}{ENDING}"


def in_spec(file: Path, problem: Problem) -> Diagnostic:
    """Return the problem with its place in the spec's file."""
    root = read_document(Survey(), file).root
    assert root is not None  # the spec was read from it
    return root.diagnostic(problem)


def warning_of(table: str, problem: Problem, tables: Path) -> Note:
    """Return a warning about a table, `domain.table`, at its place in the spec."""
    file = file_of(table, tables)
    return Note(str(file), str(in_spec(file, problem)), "warning")


def _of_schedules(domains: Sequence[DomainSpec], tables: Path) -> Iterator[Note]:
    """Warn of schedules by which tables grow without an end, or nothing runs."""
    for domain in domains:
        times = domain.schedules
        file = str(tables / domain.name / DOMAIN_FILE)
        if not domain.tables:
            yield Note(file, f"{domain.name} has no table, and so no DAGs.")
        elif (times.incremental or times.full_load) and not (
            times.maintenance or times.continuous
        ):
            text = (
                f"{domain.name} runs by a schedule, and its maintenance does not: files and "
                "metadata that each commit leaves behind stay for ever, and each run reads "
                'more of them. Add a schedule, as in `maintenance: "0 3 * * 0"`.'
            )
            yield Note(file, text, "warning")


def _keys_that_may_change(specs: Sequence[TableSpec], tables: Path) -> Iterator[Note]:
    """Warn of keys that changes of rows may change unseen: contract section 6.

    A spec says so where other columns identify its rows too.
    """
    for spec in specs:
        if not isinstance(spec, FeedTable) or spec.envelope is not None:
            continue
        if spec.operation and spec.operation.before:
            continue
        others = [
            each.columns
            for each in spec.checks
            if isinstance(each, Unique) and not {*each.columns} & {*spec.key}
        ]
        if others:
            message = (
                f"rows are unique by {', '.join(others[0])} too, so one may get another"
                " key, and the feed does not say which it had: both would live"
            )
            hint = (
                "Choose the key that never changes, or name the values before updates "
                "(source.operation.before)."
            )
            rule = ParsingId.KEY_MAY_CHANGE.value
            found = Problem(("key",), list(spec.key), message, hint, rule)
            yield warning_of(spec.full_name, found, tables)


def _clocks_that_go_back(specs: Sequence[TableSpec], tables: Path) -> Iterator[Note]:
    """Warn where an hour that clocks show twice puts rows into another order.

    Contract 2.2: the position decides within it, and times of its second pass are taken
    for those of the first.
    """
    now = datetime.now(timezone.utc)
    for spec in specs:
        if isinstance(spec, FileTable) and goes_back(spec.source.timezone, now):
            for problem in _by_clock(spec, spec.source.timezone):
                yield warning_of(spec.full_name, problem, tables)


def _by_clock(spec: FileTable, zone: str) -> Iterator[Problem]:
    rule = ParsingId.CLOCK_GOES_BACK.value
    why = f"clocks in {zone}, which show one hour of the year twice"
    utc = "Have the source send UTC, or the offset with each time"
    order = clock_columns(spec, spec.order_by)
    if order and order == spec.order_by:
        message = (
            f"{', '.join(order)} has times of {why}: within it the files' order decides"
        )
        hint = f"{utc}, or add a column that always grows."
        yield Problem(("order_by",), list(order), message, hint, rule)
    if spec.effective_at and clock_columns(spec, (spec.effective_at,)):
        then = "versions that begin in it may have no length"
        message = f"{spec.effective_at} has times of {why}: {then}"
        yield Problem(("effective_at",), spec.effective_at, message, f"{utc}.", rule)
    if isinstance(spec, SnapshotTable) and dates_by_clock(spec):
        path = ("source", "snapshot_time", "format")
        form = spec.source.snapshot_time.format
        then = "a snapshot of it counts as one of the first pass"
        message = f"{form!r} gives times of {why}: {then}"
        hint = "Name them in UTC, or with the offset (%z)."
        yield Problem(path, form, message, hint, rule)
