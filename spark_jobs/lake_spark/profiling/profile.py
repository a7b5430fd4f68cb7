"""The stored profile of a table: measured after a full load and weekly, removed by an erase.

It is never needed: whatever fails here is a warning.
"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from functools import partial
from typing import Optional

from pyspark.sql import DataFrame

from lake_spec.diagnostics.warnings import WarningId
from lake_spec.model import Profile
from lake_spec.model.names import RESERVED_PREFIXES
from lake_spec.state.state_format import UnreadableState
from lake_spec.state.table_profile import (
    TableProfile,
    profile_text,
    profile_uri,
    read_profile,
)
from lake_spark.errors import LeaseLost, first_line
from lake_spark.profiling.measure import measure
from lake_spark.scd2.current import mark_of, not_deleted
from lake_spark.storage.commit_values import CommitValue
from lake_spark.storage.hudi_table import without_hudi_columns
from lake_spark.storage.session import session_for
from lake_spark.tables.table_run import TableRun

OLD_AFTER = timedelta(days=6)
"""Age after which a profile is measured again, so that a weekly run always does."""


def profile_loaded(run: TableRun) -> None:
    """Measure the table after a stage that loaded it, if it changed anything."""
    if run.report.commits:
        _quietly(run, weekly=False)


def profile_where_due(run: TableRun) -> None:
    """Measure the table if it has no profile, or an old one of other rows."""
    _quietly(run, weekly=True)


def uri_of(run: TableRun) -> str:
    """Return where the profile of the table is."""
    return profile_uri(run.environment.runs, run.spec.stored_as)


def remove(run: TableRun) -> None:
    """Remove the profile of the table, with what a store keeps of older ones."""
    uri = uri_of(run)
    run.store.delete(uri)
    run.store.delete_old_versions(uri)


def _quietly(run: TableRun, *, weekly: bool) -> None:
    if run.dry_run:
        return
    try:
        _profile(run, weekly)
    except LeaseLost:
        raise
    except Exception as error:
        words = f"the table was not measured: {type(error).__name__}: "
        run.warn(WarningId.NO_PROFILE, words + first_line(error))


def _profile(run: TableRun, weekly: bool) -> None:
    stored = _stored(run)
    if run.spec.profile is Profile.NEVER:
        if stored is not None:
            remove(run)
        return
    commit = run.current.last_commit() if run.current.has_data() else None
    if commit is None:
        return
    if weekly and not _is_due(run, stored, commit.instant):
        return
    count, columns = measure(living(run), partial(run.sensitivity.may_show, run.spec))
    profile = TableProfile(
        domain=run.spec.domain,
        table=run.spec.name,
        run=run.report.run,
        at=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        instant=commit.instant,
        rows=count,
        columns=columns,
    )
    text = profile_text(profile, run.report.release)
    run.store.write(uri_of(run), text.encode())
    run.say(f"profile of {count:,} rows, {len(columns)} columns")


def _stored(run: TableRun) -> Optional[TableProfile]:
    """Return the stored profile; None if there is none that can be read."""
    uri = uri_of(run)
    try:
        return read_profile(run.store.read(uri), uri)
    except (KeyError, UnreadableState):
        return None


def _is_due(run: TableRun, stored: Optional[TableProfile], instant: str) -> bool:
    if stored is None:
        return True
    if not all(run.sensitivity.may_show(run.spec, name) for name in stored.shown):
        return True  # a column became personal since
    age = datetime.now(timezone.utc) - datetime.fromisoformat(stored.at)
    return stored.instant != instant and age >= OLD_AFTER


def living(run: TableRun) -> DataFrame:
    """Return the rows of current that are not deleted, without columns of ours."""
    session = session_for(run.spark, rows=run.current.last_count(CommitValue.ROWS))
    rows = without_hudi_columns(run.current.read(session))
    mark = mark_of(run.spec)
    rows = not_deleted(rows, mark).drop(mark)
    ours = [name for name in rows.columns if name.startswith(RESERVED_PREFIXES)]
    return rows.drop(*ours)
