"""What a layer of a table has in its newest commit: its files and the types of its columns.

A layer is given as its files, by path below its folder, each with where its bytes lie.
What is not committed yet, or was replaced, is no part of a snapshot.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Tuple

from lake_spec.hudi.file_groups import is_committed, newest_files
from lake_spec.hudi.file_names import DataFile, data_file
from lake_spec.hudi.layout import HIVE_NULL, HUDI_COLUMNS, METADATA_FOLDER
from lake_spec.layout.partition_folders import parts_of
from lake_spec.layout.table_folders import COMMITS
from lake_spec.text.schema_json import plain_schema

from lake_local.show import duckdb_types
from lake_local.show.request import Files, Layer, NeedsHudi, QueryRefused

ReadMetadata = Callable[[str], Mapping[str, Any]]
"""Return what a commit says of itself, of the file in which it does so."""
Constants = Tuple[Tuple[str, Optional[str]], ...]

_WRITES = ("commit", "deltacommit", "replacecommit")
_BEGUN = (*_WRITES, "compaction", "logcompaction", "clustering")
_NEW_LAYOUT = re.compile(
    rf"{re.escape(METADATA_FOLDER)}/timeline/(\d{{14,}})(?:_(\d{{14,}}))?\.([a-z.]+)"
)
"""Names of table version 8: they have the time at which the commit was completed."""
_OLD_LAYOUT = re.compile(rf"{re.escape(METADATA_FOLDER)}/(\d{{14,}})\.([a-z.]+)")
_PLAIN_COMMIT = re.compile(rf"{COMMITS}/(\d{{17}})\.json")


@dataclass(frozen=True)
class Part:
    """Files that have the same values in columns which no file has."""

    files: Tuple[str, ...]
    constants: Constants = ()


@dataclass(frozen=True)
class Snapshot:
    """The files of a layer, and DuckDB's type of each of its columns."""

    parts: Tuple[Part, ...]
    columns: Mapping[str, str]


@dataclass(frozen=True)
class _Instant:
    requested: str
    completed: Optional[str]
    action: str
    file: str


def has_commits(files: Iterable[str]) -> bool:
    """Return whether any commit of the layer was completed."""
    paths = list(files)
    return any(map(_PLAIN_COMMIT.fullmatch, paths)) or any(
        each.completed for each in _timeline({path: "" for path in paths})
    )


def snapshot_of(
    table: str, files: Files, read: ReadMetadata, layer: str = Layer.CURRENT.value
) -> Snapshot:
    """Return the newest snapshot of a layer, of Hudi or of plain Parquet.

    Args:
        table: DOMAIN.TABLE, for messages.
        read: what reads the metadata of a commit of Hudi.

    Raises:
        QueryRefused: nothing was committed.
        NeedsHudi: log files have rows that no compaction merged, or a column has a type
            that DuckDB is not told of.
    """
    plain = sorted(path for path in files if _PLAIN_COMMIT.fullmatch(path))
    is_current = layer == Layer.CURRENT.value
    name = table if is_current else f"{table} ({layer})"
    try:
        return _plain(files, plain[-1]) if plain else _hudi(name, files, read)
    except NeedsHudi as error:
        option = "" if is_current else f" --layer {layer}"
        raise NeedsHudi(
            f"{error} To read it by Spark: ./run_locally.sh show {table}{option} --engine"
            " spark"
        ) from None


def _plain(files: Files, newest: str) -> Snapshot:
    with open(files[newest], encoding="utf-8") as file:
        said = json.loads(file.read())
    schema = plain_schema(json.loads(said["schema"]), newest)
    instant = newest.rpartition("/")[2][:17]
    by_folder: Dict[str, List[str]] = {}
    for path in sorted(files):
        top, _, rest = path.partition("/")
        if top == instant and rest.endswith(".parquet"):
            by_folder.setdefault(rest.rpartition("/")[0], []).append(files[path])
    parts = tuple(
        Part(tuple(found), _constants(folder)) for folder, found in by_folder.items()
    )
    return Snapshot(parts, duckdb_types.of_spark(schema))


def _constants(folder: str) -> Constants:
    named = parts_of(folder) if folder else []
    return tuple((name, None if v == HIVE_NULL else v) for name, v in named)


def _hudi(name: str, files: Files, read: ReadMetadata) -> Snapshot:
    timeline = _timeline(files)
    completed = {e.requested: e for e in timeline if e.completed}
    if not completed:
        raise QueryRefused(f"{name} has no completed commit yet.")
    first = min(each.requested for each in timeline)
    found = [(each, path) for path in files if (each := data_file(path))]
    replaced = {
        (partition, group)
        for each in completed.values()
        if each.action == "replacecommit"
        for partition, groups in _replaced(read(files[each.file])).items()
        for group in groups
    }
    bases = {each: path for each, path in found if not each.is_log}
    newest = newest_files(bases, completed, first, replaced)
    logs = [each for each, _ in found if each.is_log and each.group not in replaced]
    _require_merged(name, newest, logs, timeline, first)
    paths = sorted(files[bases[each]] for each in newest)
    parts = (Part(tuple(paths)),) if paths else ()
    return Snapshot(parts, _columns(name, files, list(completed.values()), read))


def _require_merged(
    name: str,
    bases: Iterable[DataFile],
    logs: Iterable[DataFile],
    timeline: Iterable[_Instant],
    first: str,
) -> None:
    """Raise NeedsHudi where a log file has rows of the newest snapshot."""
    instants = {each.group: each.instant for each in bases}
    # Of version 8 a log file is named after its own commit, of 6 after its base file.
    is_new = any(_NEW_LAYOUT.fullmatch(each.file) for each in timeline)
    completed = {e.requested: e.completed for e in timeline if e.completed}
    for log in logs:
        if is_new and not is_committed(log.instant, completed, first):
            continue
        at = completed.get(log.instant, log.instant) if is_new else log.instant
        if at >= instants.get(log.group, ""):
            raise NeedsHudi(
                f"{name} is merge-on-read, and has changes in log files that no compaction"
                " has merged yet. To compact: ./run_locally.sh run"
                f" {name.split('.')[0]}_maintenance."
            )


def _timeline(files: Files) -> List[_Instant]:
    """Return the writes that the timeline has, completed or not, archived ones left out."""
    found = []
    for path in files:
        new = _NEW_LAYOUT.fullmatch(path)
        old = None if new else _OLD_LAYOUT.fullmatch(path)
        if new:
            requested, completed, action = new.groups()
        elif old:
            requested, action = old.groups()
            completed = requested if action in _WRITES else None
        else:
            continue
        # The inflight file of a commit is named `<instant>.inflight`.
        if action.partition(".")[0] in (*_BEGUN, "inflight"):
            found.append(_Instant(requested, completed, action, path))
    return found


def _replaced(commit: Mapping[str, Any]) -> Dict[str, List[str]]:
    return commit.get("partitionToReplaceFileIds") or {}


def _columns(
    name: str, files: Files, commits: List[_Instant], read: ReadMetadata
) -> Dict[str, str]:
    """Return the columns of the newest commit that says which there are."""
    for each in sorted(commits, key=lambda e: (e.completed or "", e.requested))[::-1]:
        schema = (read(files[each.file]).get("extraMetadata") or {}).get("schema")
        if schema:
            of_rows = duckdb_types.of_avro(json.loads(schema))
            return {**dict.fromkeys(HUDI_COLUMNS, "VARCHAR"), **of_rows}
    raise QueryRefused(f"{name}: no commit says which columns it has.")
