"""What a table does not take, and the words that it is told in.

Changed settings: every leaf of a spec is changed in turn. Either it changes no
row that is there (NO_ROW says why) or it is recorded, and changing it refused. How
files to come are read (READING) is recorded too, and a change is said.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any, Iterator, Tuple

import pytest

from lake_spec.model import (
    Column,
    Complete,
    Connector,
    Debezium,
    Enrichment,
    FullRefresh,
    JdbcTable,
    KafkaTopic,
    OnTypeMismatch,
    ReadableAs,
    Rule,
    Scope,
    Sensitivity,
    SnapshotTable,
    Unique,
)
from lake_spec.model.number_format import DecimalMark, NumberFormat
from lake_spec.model.sources import DeletedWhen
from lake_spark.landing.ingested_files import IngestedFiles
from lake_spark.tables.recorded_reading import record
from lake_spark.tables.recorded_settings import of_log, of_table
from tests.spark.lake import SNAPSHOTS, FEED_FILES, LOAD_AND_CHANGES, Lake, table

FEED = FEED_FILES + """  full_refresh: {pattern: "reload/(?P<ts>[^/]+)/"}
columns: {id: int, ts: timestamp, other: timestamp, note: string}
key: [id]
order_by: [ts]
storage: {buckets: 1}
"""
SNAPSHOT = SNAPSHOTS + """columns: {id: int, note: string}
key: [id]
storage: {buckets: 1}
"""
LANDED = {
    FEED: ("load/1.csv", "id,ts,other,note\n1,2026-01-01,2026-01-01,a\n"),
    SNAPSHOT: ("2026-01-01.csv", "id,note\n1,a\n"),
}
WORDS = ("formerly", "name", "domain", "description", "owner")
READING = (
    *("source.path", "source.files", "source.load", "source.changes"),
    *("source.format.header", "source.format.delimiter", "source.format.quote"),
    *("source.format.skip_lines", "source.format.layout"),
    *("source.format.encoding", "source.format.multiline", "source.new_columns"),
    *("source.full_refresh.files", "source.ignore_columns", "quality"),
    *("columns.note.dropped", "columns.note.on_type_mismatch"),
    "source.duplicate_keys",
)
FILES_TO_COME = (
    *("source.load_from", "source.changes_from", "source.pulled_from"),
    *("source.complete", "source.missing_columns", "source.enrich", "engine"),
    *("columns.note.description", "columns.note.tags", "columns.note.sensitivity"),
)
LIMITS = (
    *("source.lost_share", "source.full_refresh.lost_share", "source.may_be_empty"),
    *("source.late_after_hours", "quarantine.warn_share", "quarantine.max_share"),
    *("quarantine.min_rows", "maintenance.compact_after"),
    *("maintenance.cluster_after", "maintenance.keep_commits"),
    *("storage.readable_as", "storage.shuffle", "storage.sort_by"),
)
MEASURED = ("profile", "checks")
NO_ROW = {*WORDS, *READING, *FILES_TO_COME, *LIMITS, *MEASURED}
"""What a row is once it is read does not hang on them."""


FIXED = ("storage.type", "storage.partition_by", "storage.table_version")
"""What not even a rebuild can change."""

OF_SOURCE = {
    "scope": Scope("note"),
    "complete": Complete(marker="_SUCCESS"),
    "envelope": Debezium(Connector.POSTGRESQL),
    "enrich": (Enrichment("countries", (("note", "name"),), ("code",)),),
    "load_from": JdbcTable("shop_db", "public.orders"),
    "changes_from": KafkaTopic("shop_kafka", "shop.public.orders"),
    "pulled_from": JdbcTable("shop_db", "public.orders"),
    "path_columns": (("note", "note=([^/]+)/"),),
    "numbers": NumberFormat(DecimalMark.COMMA),
}
"""Another value of each setting of a source that is none by itself."""

OF_OPERATION = {
    "upsert": ("U",),
    **{name: ("U",) for name in ("delete", "load", "truncate", "ignore")},
    "deleted_when": DeletedWhen("note"),
}
"""Other words: one that no list had may be added, so these have a known one moved."""

OF_COLUMN = {
    "type": "int",
    "source": ("new",),
    "format": "yyyy",
    "numbers": NumberFormat(DecimalMark.COMMA),
    "dropped": True,
    "on_type_mismatch": OnTypeMismatch.QUARANTINE,
    "description": "What was said",
    "tags": ("words",),
    "sensitivity": Sensitivity.PERSONAL,
}
"""Another value of each setting of a column."""


def leaves(spec: Any, path: str = "") -> Iterator[Tuple[str, Any]]:
    """(path of a setting, the spec with that setting changed)."""
    for each in fields(spec):
        where = f"{path}{each.name}"
        value = getattr(spec, each.name)
        if is_dataclass(value):
            for below, other in leaves(value, f"{where}."):
                yield below, replace(spec, **{each.name: other})
        elif each.name == "columns" and isinstance(value, tuple):
            yield from columns_changed(spec)
        elif path == "source.operation." and each.name in OF_OPERATION:
            yield where, replace(spec, **{each.name: OF_OPERATION[each.name]})
        elif each.name in OF_SOURCE:
            yield where, replace(spec, **{each.name: OF_SOURCE[each.name]})
        elif each.name == "readable_as":
            yield where, replace(spec, **{each.name: (ReadableAs.DELTA,)})
        elif each.name == "quality":
            yield where, replace(spec, quality=(Rule("note", not_null=True),))
        elif each.name == "checks":
            yield where, replace(spec, checks=(Unique(columns=("note",)),))
        else:
            yield where, replace(spec, **{each.name: another(value)})


def columns_changed(spec: Any) -> Iterator[Tuple[str, Any]]:
    """One column with another setting, for each setting of a column."""
    *others, (name, column) = spec.columns
    for each in fields(Column):
        changed = replace(column, **{each.name: OF_COLUMN[each.name]})
        yield f"columns.{name}.{each.name}", replace(
            spec, columns=(*others, (name, changed))
        )


def another(value: Any) -> Any:
    """A value of the same kind."""
    if isinstance(value, Enum):
        return next(other for other in type(value) if other is not value)
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    if isinstance(value, tuple):
        return (*value, "note")
    return "2001-01-01" if value is None else f"{value}2"


def recorded(spec: Any) -> dict:
    found = [of_log(spec), of_table(spec, "current"), of_table(spec, "history")]
    return {name: value for each in found for name, value in each.items()}


def cases() -> list:
    """Every setting of both kinds of table; those of a snapshot's source alone."""
    found = [(FEED, path, spec) for path, spec in leaves(table(FEED))]
    more = [(SNAPSHOT, path, spec) for path, spec in leaves(table(SNAPSHOT))]
    source = [each for each in more if each[1].startswith("source.")]
    return [
        pytest.param(*each, id=f"{each[2].source.kind} {each[1]}")
        for each in found + source
        if each[1] not in NO_ROW
    ]


@pytest.fixture(scope="module")
def lakes(spark, tmp_path_factory):
    """A table of either kind, with all three layers."""
    made = {}
    for text, landed in LANDED.items():
        lake = made[text] = Lake(spark, tmp_path_factory.mktemp("things"), table(text))
        lake.land(*landed)
        lake.done("full_load", "scd2")
    return made


@pytest.mark.parametrize("text, path, changed", cases())
def test_a_changed_setting_is_refused_naming_old_new_and_a_way_out(
    lakes, text, path, changed
):
    lake = lakes[text]
    before, now = recorded(lake.spec), recorded(changed)
    names = [n for n in {**before, **now} if before.get(n) != now.get(n)]
    # An envelope has a placeholder, if none is named.
    others = {"source.placeholder"} if path == "source.envelope" else set()
    (name,) = [n for n in names if n not in others]
    assert path == name or path.startswith(f"{name}.")
    error = Lake(lake.spark, lake.root, changed).run("scd2").error
    assert error["type"] == "SettingsChanged"
    was, is_now = before.get(name, "not set"), now.get(name, "not set")
    assert f"{name} was {was}, now {is_now}" in error["message"]
    by_rebuild = name.split(".")[0] in ("current", "history", "storage")
    if by_rebuild and name not in FIXED:
        assert "run tests_rebuild --param tables=things" in error["message"]
    else:
        assert "load the table under another name" in error["message"]


def test_what_changes_no_row_is_not_refused(lakes):
    for text in (FEED, SNAPSHOT):
        spec, seen = table(text), set()
        for path, changed in leaves(spec):
            if path in NO_ROW:
                assert recorded(changed) == recorded(spec), path
                says = record(changed, IngestedFiles()) != record(spec, IngestedFiles())
                assert says is (path in READING), path
                seen.add(path)
        assert len(seen) > 15


def test_another_kind_of_source_is_refused(lakes):
    lake = lakes[FEED]
    other = table(SNAPSHOT)
    assert isinstance(other, SnapshotTable)
    error = Lake(lake.spark, lake.root, other).run("scd2")
    assert 'source.kind was "feed", now "snapshot"' in error.error["message"]


def test_full_refresh_can_be_declared_later(lakes):
    lake = lakes[FEED]
    without = replace(lake.spec, source=replace(lake.spec.source, full_refresh=None))
    assert isinstance(lake.spec.source.full_refresh, FullRefresh)
    error = Lake(lake.spark, lake.root, without).run("scd2").error
    assert "source.full_refresh was {" in error["message"]


TYPED = LOAD_AND_CHANGES + """  format: {type: parquet}
columns: {id: int, ts: timestamp, amount: int}
key: [id]
order_by: [ts]
future_dates: true
history: {open_end: "2100-01-01"}
storage: {buckets: 1}
quarantine: {max_share: 1}
"""


def land_rows(lake: Lake, path: str, rows: str) -> None:
    """A Parquet file of these rows, as SQL."""
    scratch = lake.root / "scratch" / path
    lake.spark.sql(rows).coalesce(1).write.parquet(str(scratch))
    (file,) = scratch.glob("*.parquet")
    lake.land(path, file.read_bytes())


def test_types_and_times_of_files(spark, tmp_path):
    lake = Lake(spark, tmp_path, table(TYPED))
    row = "SELECT {} id, timestamp '{}' ts, {} amount"
    times = ("2099-12-31 23:59:59.999999", "2100-01-01", "2500-01-01")
    rows = [row.format(i, time, "1") for i, time in enumerate(times)]
    land_rows(lake, "load/1.parquet", " UNION ALL ".join(rows))
    report = lake.done("full_load", "scd2")[0]
    assert (report.accepted, report.quarantined) == (1, 2)
    assert lake.versions() == [(0, "2099-12-31 23:59:59.999999", "2100-01-01 00:00:00")]
    (warning,) = report.warnings
    assert "2100-01-01 00:00:00 is not before history.open_end, 2100-01-01" in warning

    before = lake.files()
    land_rows(lake, "changes/1.parquet", row.format(1, "2026-01-01", "1L"))
    error = lake.run("incremental").error
    assert error["type"] == "WrongTypes"
    told = (
        "changes/1.parquet: column 'amount' is bigint, but the table's column 'amount'"
    )
    assert f"{told} is int there, and a narrower or different type" in error["message"]
    assert "Widen the type in the spec" in error["message"]
    assert lake.files() == before
