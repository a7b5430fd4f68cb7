"""The settings that can change a row, recorded with the table.

Contract section 3, redefinition: settings of the change log are stored with the
inputs of every log commit, those of current and history in their own commits.
All are compared at the start of every stage; changing one is refused. How files are read
is recorded too (recorded_reading.py): a change of that counts for files to come.
"""

from __future__ import annotations

import json
from typing import Any, Callable, Dict, List, Mapping

from lake_spec.facts.reading_settings import OF_ROWS
from lake_spec.hudi.layout import PROPERTIES
from lake_spec.hudi.options import OLDER_TABLE_VERSION
from lake_spec.layout.table_folders import COMMITS
from lake_spec.model import (
    DimensionTable,
    FileTable,
    ProductTable,
    TableSpec,
    VersionedTable,
)
from lake_spec.model.json_codec import to_data
from lake_spark.errors import ForeignTable, SettingsChanged
from lake_spark.formats.placeholders import placeholder_texts
from lake_spark.scd2.surrogate_keys import SURROGATE_TYPES
from lake_spark.schema.promotion import canonical_type
from lake_spark.storage.commit_values import CommitValue
from lake_spark.storage.committed_table import CommittedTable
from lake_spark.tables.catalog import refuse_names_of_others
from lake_spark.tables.settings_diff import Definition, changed
from lake_spark.tables.table_run import TableRun

_OF_LOG = ("key", "order_by", "effective_at", "load_effective_at", "future_dates")
_OF_SOURCE = (
    *("kind", "operation", "missing_keys", "timezone", "snapshot_time", "scope"),
    *("placeholder", "absent_fields", "full_refresh", "envelope", "path_columns"),
)
_NO_ROW = ("files", "lost_share")
"""What a source says of its files that changes no row."""
_NO_ROW_OF_STORAGE = ("readable_as", "shuffle", "sort_by")
"""What storage says of readers and of the way to write that changes no row."""
_FIXED = ("storage.type", "storage.partition_by", "storage.table_version")
"""Settings of a table that no commit can change."""
_UPGRADED = ("storage.table_version", str(OLDER_TABLE_VERSION))
"""But for this one: a rebuild takes a table to the newer version, and never back."""
_REBUILDS = ("rebuild", "rebuild_dimension")
"""Stages that make current and history with the settings of today."""


def of_log(spec: FileTable, *, with_defaults: bool = True) -> Definition:
    """Return what rows of the change log are made with."""
    data = to_data(spec, with_defaults=with_defaults)
    source = data["source"]
    found: Dict[str, Any] = {name: data[name] for name in _OF_LOG if name in data}
    found.update({f"source.{n}": source[n] for n in _OF_SOURCE if n in source})
    if source.get("full_refresh"):
        kept = {n: v for n, v in source["full_refresh"].items() if n not in _NO_ROW}
        found["source.full_refresh"] = kept
    placeholder = placeholder_texts(spec)[:1]
    found.pop("source.placeholder", None)
    if placeholder and (with_defaults or source.get("placeholder")):
        found["source.placeholder"] = placeholder[0]
    for name in OF_ROWS:
        if name in source["format"]:
            found[f"source.format.{name}"] = source["format"][name]
    for name, column in spec.columns:
        found[f"columns.{name}.type"] = canonical_type(column.type)
        found[f"columns.{name}.source"] = sorted(column.source or (name,))
        if with_defaults or column.format is not None:
            found[f"columns.{name}.format"] = column.format
        if with_defaults or column.numbers is not None:
            found[f"columns.{name}.numbers"] = column.numbers and vars(column.numbers)
    return _as_json(found)


def of_table(spec: TableSpec, layer: str, *, with_defaults: bool = True) -> Definition:
    """Return what rows of `current` or `history` are made with, and how they are kept."""
    data = to_data(spec, with_defaults=with_defaults)
    found = {f"{layer}.{name}": value for name, value in data.get(layer, {}).items()}
    if layer == "current" and "columns" in data.get("history", {}):
        found["history.columns"] = data["history"]["columns"]
    if isinstance(spec, DimensionTable):
        found.update({f"source.{n}": value for n, value in data["source"].items()})
    if isinstance(spec, ProductTable):  # of its SQL there is a digest
        found["key"] = data["key"]
        found["columns"] = [[n, canonical_type(each.type)] for n, each in spec.columns]
    storage = data.get("storage", {})
    kept = {n: v for n, v in storage.items() if n not in _NO_ROW_OF_STORAGE}
    found.update({f"storage.{name}": value for name, value in kept.items()})
    return _as_json(found)


def _as_json(found: Mapping[str, Any]) -> Definition:
    return {name: json.dumps(value, sort_keys=True) for name, value in found.items()}


def check(run: TableRun) -> None:
    """Refuse settings that differ from those that the tables were made with."""
    if isinstance(run.spec, FileTable):
        ingested = run.ingested_files()
        is_new = not ingested.definition
    else:
        is_new = not run.current.has_data()
    if is_new:
        refuse_names_of_others(run)
    if isinstance(run.spec, ProductTable):
        # Every other change of settings builds it whole.
        return check_tables(run, may_differ=True)
    if isinstance(run.spec, FileTable):
        if is_new:
            _refuse_foreign(run.log)
        chosen = of_log(run.spec, with_defaults=False)
        differing = changed(ingested.definition, of_log(run.spec), chosen)
        _refuse(run.spec, differing, _only_by_first_load)
    check_tables(run, may_differ=run.report.stage in _REBUILDS)


def refuse_other_type(run: TableRun) -> None:
    """Refuse plain Parquet in the place of a product of Hudi, and the other way round.

    Files of the one look foreign to the other, so this comes before those are looked for.
    """
    if not isinstance(run.spec, ProductTable):
        return
    storage = run.spec.storage
    sign, other = (
        (PROPERTIES, "a table of Hudi")
        if storage.is_plain
        else (f"{COMMITS}/", "one of plain Parquet")
    )
    if run.store.list(f"{run.home}/current/{sign}"):
        words = f"storage.type is {storage.type.value}, and the table is {other}"
        _refuse(run.spec, [words], _only_by_first_load)


def check_tables(run: TableRun, *, may_differ: bool = False) -> None:
    """Refuse settings that current and history were not made with.

    `may_differ`: only what not even a rebuild can change.
    """
    for layer in [each for each in ("current", "history") if each in run.layers]:
        recorded, now = _recorded(run.table(layer)), of_table(run.spec, layer)
        kept = {name: recorded[name] for name in _FIXED if name in recorded}
        fixed = dict(each for each in kept.items() if each != _UPGRADED)
        _refuse(run.spec, changed(fixed, now, {}), _only_by_first_load)
        if not may_differ:
            chosen = of_table(run.spec, layer, with_defaults=False)
            _refuse(run.spec, changed(recorded, now, chosen), _by_rebuild)
    if may_differ and "history" in run.layers:
        _check_type_of_surrogate_key(run)


def _check_type_of_surrogate_key(run: TableRun) -> None:
    """Refuse a changed type, which no commit can make: numbers would be stored as text."""
    key = run.of_kind(VersionedTable).spec.history.surrogate_key
    kept = dict(run.history.read().dtypes) if run.history.has_data() else {}
    wanted = SURROGATE_TYPES[key.kind]
    if kept.get(key.column, wanted) != wanted:
        raise SettingsChanged(
            f"{run.spec.full_name}: history.surrogate_key.column is {key.column!r}, which"
            f" history has as {kept[key.column]}; keys of the kind {key.kind.value!r} are"
            f" {wanted}. Name another column for them and rebuild, or restore the setting."
        )


def _recorded(table: CommittedTable) -> Definition:
    """Return what rows of current or history were made with; nothing before the first."""
    found = table.last_value(CommitValue.DEFINITION)
    if found is None:
        _refuse_foreign(table)
    recorded: Definition = json.loads(found or "{}")
    return recorded


def _refuse_foreign(table: CommittedTable) -> None:
    """Refuse a table that has rows although no commit of ours put them there."""
    if table.has_data():
        raise ForeignTable(
            f"{table.path}: there is a table that was not made from this change log, and it "
            "is never overwritten. Move it to another path, or rename the table in "
            "the spec."
        )


def _refuse(
    spec: TableSpec, differing: List[str], remedy: Callable[[TableSpec], str]
) -> None:
    if differing:
        raise SettingsChanged(
            f"{spec.full_name}: {'; '.join(differing)}. {remedy(spec)}"
        )


def _by_rebuild(spec: TableSpec) -> str:
    return (
        "Restore the setting, or rebuild current and history from the change log: "
        f"./run_locally.sh run {spec.domain}_rebuild --param tables={spec.name} "
        f"(in Airflow: the DAG {spec.domain}_rebuild)."
    )


def _only_by_first_load(spec: TableSpec) -> str:
    return (
        "Stored rows were made with the old setting, and no rebuild can change it. "
        "Restore the setting, or load the table under another name."
    )
