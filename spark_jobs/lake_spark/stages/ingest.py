"""full_load and incremental: landing files into the change log, then current."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Optional, Sequence, Set, Tuple

from lake_spec.model import Engine, Feed
from lake_spec.report import State
from lake_spark import catalogue, extracts, feed, redo, streamer
from lake_spark.derived import LOG_INSTANT
from lake_spark.errors import LateExtract, RefusedInput
from lake_spark.file_shape import load_globs
from lake_spark.ingest import unseen_files
from lake_spark.materialise import build_current
from lake_spark.pulls.pull import FULL_LOAD, INCREMENTAL, pull
from lake_spark.snapshot import group_extracts
from lake_spark.table_run import TableRun


def full_load(run: TableRun) -> None:
    """The first copy of a table: a feed's load files, or the first extract."""
    pull(run, FULL_LOAD)
    if not redo.finish(run):
        return end(run)
    build_current(run)
    if isinstance(run.spec.source, Feed):
        _feed(run, load_globs(run.spec))
    elif not run.taken_in().count:
        _extracts(run, first_only=True)
    end(run)


def incremental(run: TableRun) -> None:
    """What came since: a feed's change files, or every extract not taken yet."""
    pull(run, INCREMENTAL)
    if not redo.finish(run):
        return end(run)
    build_current(run)
    if isinstance(run.spec.source, Feed):
        _feed(run, [run.spec.source.changes])
    else:
        _extracts(run)
    end(run)


def _feed(run: TableRun, globs: Sequence[str]) -> None:
    if run.spec.engine is Engine.STREAMER:
        done = streamer.account(run, globs)
    else:
        taken = run.taken_in()
        files = unseen_files(run, taken, globs)
        done = bool(files) and feed.take_files(run, files, taken)
    if done:
        run.report.settle_duplicates(build_current(run))


def _extracts(run: TableRun, *, first_only: bool = False) -> None:
    """Oldest first, each as if by a run of its own.

    A late one is passed over; one that can still be taken holds back the rest,
    other scope values apart.
    """
    taken = run.taken_in()
    files = unseen_files(run, taken, [run.spec.source.files])
    held: Set[Tuple[Optional[str], ...]] = set()
    waiting = group_extracts(files, run.spec)
    for extract in waiting:
        if extract.scopes in held or (first_only and extract.at > waiting[0].at):
            continue
        try:
            if extracts.take_extract(run, extract, taken):
                build_current(run)
                taken = run.taken_in()
            else:
                held.add(extract.scopes)
        except LateExtract as late:
            extracts.set_aside(run, extract, str(late))
        except RefusedInput as refused:
            extracts.set_aside(run, extract, str(refused))
            held.add(extract.scopes)


def end(run: TableRun) -> None:
    """Settle the state of an ingesting stage; rows unaccounted for fail it."""
    unbalanced = [each.path for each in run.report.files if not each.is_balanced]
    if unbalanced:
        raise AssertionError(f"rows are unaccounted for in {', '.join(unbalanced)}")
    _tell_freshness(run)
    if run.dry_run:
        run.report.state = State.DRY_RUN.value
    elif run.report.commits:
        run.report.state = State.DONE.value
    if not run.dry_run:
        catalogue.register(run)


def _tell_freshness(run: TableRun) -> None:
    """How far current is behind: by events, by their landing, by its own commit."""
    taken = run.taken_in()
    run.report.newest_input = taken.newest
    run.report.newest_event = taken.newest_event
    built = run.current.last_instant(LOG_INSTANT)
    if built:
        moment = datetime.strptime(built[:14], "%Y%m%d%H%M%S")
        run.report.current_built = moment.replace(tzinfo=timezone.utc).isoformat()
