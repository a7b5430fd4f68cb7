"""Rules on tables that pull their landing files themselves."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Iterator, List, Set, Tuple

from lake_check.rules.rule_set import RuleSet
from lake_spec.diagnostics.diagnostic import Path, Problem, got
from lake_spec.facts.pull_folders import (
    CHANGES,
    SNAPSHOTS,
    LOAD,
    TIMESTAMP,
    Pull,
    pulls_of,
)
from lake_spec.model import (
    Csv,
    FeedTable,
    FileTable,
    JdbcChanges,
    KafkaTopic,
    NewColumns,
    SnapshotTable,
)
from lake_spec.text.globs import glob_pattern

PULLS = RuleSet()
FEED_PULLS = RuleSet()
SNAPSHOT_PULLS = RuleSet()

_SAMPLE = datetime(2001, 2, 3, 4, 5, 6)
_FILE = f"{_SAMPLE.strftime(TIMESTAMP)}/part-00000-c000.snappy.parquet"
_DEEP_FILE = "topic/0/00000000000000000000.json"


def _each(spec: FileTable) -> Iterator[Tuple[Path, Pull]]:
    for name, pull in pulls_of(spec):
        yield ("source", name), pull


@PULLS.rule("source", "source.format")
def pulled_rows_keep_their_types(spec: FileTable) -> Iterator[Problem]:
    """Refuse CSV for pulled rows: it would lose their types.

    Fix: Write the format parquet, avro, orc or json.
    """
    is_csv = isinstance(spec.source.format, Csv)
    if is_csv and any(not isinstance(p, KafkaTopic) for _, p in pulls_of(spec)):
        hint = (
            "CSV has no types, and rows are pulled with theirs: choose parquet, avro, "
            "orc or json."
        )
        yield got(("source", "format", "type"), Csv.type, hint)


@PULLS.rule("source")
def globs_match_pulled_files(spec: FileTable) -> Iterator[Problem]:
    """Refuse a glob that does not match pulled files: nobody would read them.

    Fix: Write the glob that the message names, as in changes/**.
    """
    for name, folder, file in _written(spec):
        glob = getattr(spec.source, name)
        if not glob_pattern(glob).fullmatch(file):
            hint = (
                f"Files are pulled to folders below {folder}/, which it does not "
                f"match: write {folder}/**."
            )
            yield got(("source", name), glob, hint)


@FEED_PULLS.rule("source")
def pulled_files_have_one_glob(spec: FeedTable) -> Iterator[Problem]:
    """Refuse globs of `load` and `changes` that match the same pulled files.

    Fix: Write load/** and changes/**.
    """
    source = spec.source
    others = {"load": source.changes, "changes": source.load}
    for name, folder, file in _written(spec):
        if glob_pattern(others[name]).fullmatch(file):
            (other,) = {"load", "changes"} - {name}
            hint = (
                f"It also matches {folder}/, where the files of `{name}` are pulled "
                f"to: write {other}/**."
            )
            yield got(("source", other), others[name], hint)


def _written(spec: FileTable) -> List[Tuple[str, str, str]]:
    """Return glob, folder and an example file of each pull."""
    found = []
    for name, pull in pulls_of(spec):
        file = _DEEP_FILE if isinstance(pull, KafkaTopic) else _FILE
        glob, folder = {
            "load_from": ("load", LOAD),
            "changes_from": ("changes", CHANGES),
            "pulled_from": ("files", SNAPSHOTS),
        }[name]
        found.append((glob, folder, f"{folder}/{file}"))
    return found


@PULLS.rule("source")
def what_is_read_again_is_pulled_by_a_cursor(spec: FileTable) -> Iterator[Problem]:
    """Refuse `new_columns: refresh` of a table that is not pulled by a cursor.

    Fix: Write `new_columns: add`; or pull the table by `changes_from: {kind: jdbc}`.
    """
    if spec.source.new_columns is not NewColumns.REFRESH:
        return
    if not isinstance(spec.changes_from, JdbcChanges):
        hint = (
            "Write add: only a table that is pulled by a cursor can be read again for a "
            "new column; other sources deliver its values themselves."
        )
        yield got(("source", "new_columns"), "refresh", hint)


@FEED_PULLS.rule("source", "order_by", "columns")
def cursor_pulls_are_upserts(spec: FeedTable) -> Iterator[Problem]:
    """Refuse a pull by cursor with words for deletes or with another order.

    Fix: Remove `operation.column` and `envelope`, and put the cursor's column into
    `order_by`; for deletes use Debezium or snapshots, or a column that tells them
    (`operation.deleted_when`).
    """
    changes = spec.changes_from
    if not isinstance(changes, JdbcChanges):
        return
    no_deletes = (
        "Remove this: a pull by cursor reads upserts only and cannot see deletes. For "
        "deletes read the database's log by Debezium, or pull snapshots."
    )
    if spec.operation is not None and spec.operation.column:
        yield got(("source", "operation"), spec.operation.column, no_deletes)
    if spec.envelope is not None:
        connector = spec.envelope.connector.value
        yield got(("source", "envelope"), connector, no_deletes)
    cursor = changes.cursor
    if not _columns_from(spec, cursor) & {each.lower() for each in spec.order_by}:
        hint = f"The cursor {cursor!r} orders the rows: name its column here."
        yield got(("order_by",), list(spec.order_by), hint)


def _columns_from(spec: FileTable, source_name: str) -> Set[str]:
    """List lake columns that read a source column, in lower case."""
    wanted = source_name.lower()
    sources = {name: column.source or (name,) for name, column in spec.columns}
    found = {
        name.lower()
        for name, spelled in sources.items()
        if wanted in [each.lower() for each in spelled]
    }
    return found | ({wanted} if wanted not in map(str.lower, sources) else set())


@SNAPSHOT_PULLS.rule("source", "source.snapshot_time", "source.scope")
def pulled_snapshot_paths_are_read(spec: SnapshotTable) -> Iterator[Problem]:
    """Refuse a snapshot time or scope that paths of pulled snapshots lack.

    Fix: Write `snapshot_time` as the message says, and no pattern for the scope.
    """
    source = spec.source
    if source.pulled_from is None:
        return
    where = source.snapshot_time
    if not _reads_the_time(where.pattern, where.format):
        path = ("source", "snapshot_time", "pattern" if where.pattern else "column")
        yield got(
            path,
            where.pattern or where.column,
            f"Snapshots are pulled into {SNAPSHOTS}/<time>/, to the second and in UTC: write"
            f" {{pattern: '{SNAPSHOTS}/([^/]+)/', format: '{TIMESTAMP}'}}.",
        )
    if source.scope is not None and source.scope.pattern is not None:
        hint = (
            "Remove the pattern: paths of pulled snapshots contain no values, and the "
            "rows do."
        )
        yield got(("source", "scope", "pattern"), source.scope.pattern, hint)


@FEED_PULLS.rule("source")
def pulled_files_have_no_values_in_paths(spec: FeedTable) -> Iterator[Problem]:
    """Refuse columns from the paths of files that a run pulls.

    Fix: Remove `path_columns`; the rows that are pulled have all values.
    """
    source = spec.source
    if source.path_columns and pulls_of(spec):
        hint = "Remove it: paths of pulled files contain no values, and the rows do."
        yield got(("source", "path_columns"), dict(source.path_columns), hint)


def _reads_the_time(pattern: "str | None", form: str) -> bool:
    try:
        found = re.search(pattern or "", f"{SNAPSHOTS}/{_FILE}")
        return found is not None and datetime.strptime(found[1], form) == _SAMPLE
    except (ValueError, IndexError, re.error, RecursionError, OverflowError):
        return False
