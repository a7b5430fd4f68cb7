"""Whole tables of databases: a feed's full load, and repeated snapshots.

Decision 030.
"""

from __future__ import annotations

from typing import Optional

from lake_spec.facts.pull_folders import SNAPSHOTS, LOAD
from lake_spec.model import JdbcChanges, JdbcTable
from lake_spec.text.globs import glob_pattern
from lake_spark.formats.inference import all_globs, load_globs
from lake_spark.landing.files import list_landing
from lake_spark.sources import jdbc_incremental
from lake_spark.sources.database import SourceColumn
from lake_spark.sources.jdbc_tables import OpenTable, opened, opened_later
from lake_spark.sources.staging_folder import discard_unfinished, pulled_before
from lake_spark.sources.write_files import land
from lake_spark.tables.table_run import FileRun


def pull_load(run: FileRun, pull: JdbcTable) -> None:
    """Pull the table as the full load, once: not where one was landed or ingested."""
    discard_unfinished(run)
    if pulled_before(run, LOAD) or _has_files(run, load=True):
        run.say("nothing to pull: the full load is landed")
        return
    changes = _same_table(run, pull)
    with opened(run, pull) as table:
        path, facts = f"{LOAD}/{table.opened.at}", {}
        if changes is not None:
            facts = jdbc_incremental.facts_of_load(table, changes, path)
        rows = table.in_ranges(_first_key(table), pull.parallel)
        land(table, path, rows, facts)
        if changes is not None:
            jdbc_incremental.remember_load(run, changes, facts)


def _same_table(run: FileRun, pull: JdbcTable) -> Optional[JdbcChanges]:
    """Return the changes by a cursor that go on from the load's end, if there are such."""
    changes = run.spec.changes_from
    if isinstance(changes, JdbcChanges):
        if (changes.connection, changes.table) == (pull.connection, pull.table):
            return changes
    return None


def pull_first_snapshot(run: FileRun, pull: JdbcTable) -> None:
    """Pull a snapshot, where the table has none yet."""
    discard_unfinished(run)
    if _has_files(run, load=False):
        run.say("nothing to pull: a snapshot is landed")
        return
    _snapshot(run, pull)


def pull_snapshot(run: FileRun, pull: JdbcTable) -> None:
    """Pull the table as it is now, as one more snapshot."""
    discard_unfinished(run)
    _snapshot(run, pull)


def _snapshot(run: FileRun, pull: JdbcTable) -> None:
    with opened_later(run, pull, pulled_before(run, SNAPSHOTS)) as table:
        rows = table.in_ranges(_first_key(table), pull.parallel)
        land(table, f"{SNAPSHOTS}/{table.opened.at}", rows, keep_empty=True)


def _has_files(run: FileRun, *, load: bool) -> bool:
    """Return whether files of the load, or any, are in landing or were ingested."""
    globs = load_globs(run.spec) if load else all_globs(run.spec)
    if list_landing(run.store, run.landing, globs):
        return True
    patterns = [glob_pattern(each) for each in globs]
    return any(
        p.fullmatch(path) for path in run.ingested_files().paths for p in patterns
    )


def _first_key(table: OpenTable) -> Optional[SourceColumn]:
    """Return the source's column of the first key column."""
    spec = table.run.spec
    key = spec.key[0]
    declared = dict(spec.columns).get(key)
    names = (declared.source if declared else ()) or (key,)
    found = [table.column(name) for name in names]
    return next((each for each in found if each is not None), None)
