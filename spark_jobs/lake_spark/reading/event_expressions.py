"""Typed rows become rows of the change log, or of the quarantine.

A row of the change log is one delivery of one change event: the table's own
columns, and the envelope below.
"""

from __future__ import annotations

from typing import Dict, List, Sequence, Tuple

from lake_spec.hudi.layout import NO_PARTITIONS
from lake_spec.hudi.options import LONGEST_FOLDER
from lake_spec.model import Connector, FeedTable, FileTable
from lake_spec.text.marked_values import sql_value
from lake_spec.text.sql_text import sql_identifier, sql_literal
from lake_spark.changelog.schema import (
    ALL_KEYS,
    DELETE,
    IS_LOAD,
    LogColumn,
    started,
    TRUNCATE,
    UPSERT,
)
from lake_spark.formats.file_schema import Shape
from lake_spark.formats.json_records import UNPARSED
from lake_spark.reading.quality_rules import failed_rules, reason_of
from lake_spark.reading.row_expressions import faults, first_reason, shown_text
from lake_spark.schema.columns import Columns
from lake_spark.schema.key_text import joined_key, key_text

LONGEST_KEY = 32000
"""Bytes that a key has at most, as text."""

TOLERANCE = "INTERVAL 1 DAY"
"""How far an effective time may lie after the landing of its file."""


def envelope_columns(spec: FileTable, columns: Columns) -> List[str]:
    """Return expressions of what the envelope says of a typed row."""
    kinds = dict(columns)
    key = [(name, kinds[name]) for name in spec.key]
    return [
        f"{_key(spec, key)} AS lake_key",
        f"{operation(spec)} AS lake_op",
        f"{effective_at(spec, columns)} AS lake_effective_at",
        f"{_log(spec)} AS lake_log",
        f"{_old_key(spec, key)} AS lake_old_key",
    ]


def _old_key(spec: FileTable, key: Columns) -> str:
    before = [(f"lake_before.{sql_identifier(name)}", kind) for name, kind in key]
    is_moved = f"lake_before IS NOT NULL AND NOT coalesce({_is_truncate(spec)}, false)"
    return f"CASE WHEN {is_moved} THEN {joined_key(before)} ELSE lake_named_key END"


def _log(spec: FileTable) -> str:
    """Return the name of the binlog that the row's position is in.

    Other logs have one only.
    """
    envelope = spec.envelope
    has_names = envelope is not None and envelope.connector is not Connector.POSTGRESQL
    return "lake_log_name" if has_names else "CAST(NULL AS string)"


def _key(spec: FileTable, key: Columns) -> str:
    return f"CASE WHEN {_is_truncate(spec)} THEN '{ALL_KEYS}' ELSE {key_text(key)} END"


def _is_truncate(spec: FileTable) -> str:
    declared = spec.operation
    return f"lake_word IN ({_words(declared.truncate if declared else ())})"


def _words(words: Sequence[str]) -> str:
    return ", ".join(sql_literal(word) for word in words) or "NULL"


def operation(spec: FileTable) -> str:
    """Return upsert, delete or truncate; null where the file's word is unknown."""
    declared = spec.operation
    if declared is None:
        return sql_literal(UPSERT)
    upsert = sql_literal(UPSERT)
    if declared.deleted_when is not None:
        upsert = f"if(lake_is_gone, '{DELETE}', '{UPSERT}')"
    if declared.column is None:
        return upsert
    return (
        f"CASE WHEN ({IS_LOAD}) AND lake_word IS NULL THEN {upsert} "
        f"WHEN lake_word IN ({_words(declared.upsert)}) THEN {upsert} "
        f"WHEN lake_word IN ({_words(declared.delete)}) THEN '{DELETE}' "
        f"WHEN {_is_truncate(spec)} THEN '{TRUNCATE}' END"
    )


def placed_row(spec: FileTable, shape: Shape, columns: Columns) -> Dict[str, str]:
    """Return expressions over `source_row` and what is known of its file.

    Of the file: `lake_file_rank` and `lake_file_started`.
    """
    return {
        "lake_fault": faults(spec, shape, columns),
        LogColumn.RANK: _rank(spec),
        LogColumn.STARTED: "coalesce(lake_file_started, lake_own_start)",
    }


def _rank(spec: FileTable) -> str:
    """Return the row's rank: its file's, but for rows of the full load among changes.

    Those of a connector's snapshot rank at the log position that they carry.
    """
    declared, of_file = spec.operation, "lake_file_rank"
    if declared is None or not declared.load or spec.envelope is not None:
        return of_file
    return f"CASE WHEN lake_word IN ({_words(declared.load)}) THEN 0 ELSE {of_file} END"


def effective_at(spec: FileTable, columns: Columns) -> str:
    """Return since when a row is true: contract section 3, before the order is known."""
    sources = [_time(sql_identifier(spec.effective_at))] if spec.effective_at else []
    for name in _first_timestamp(spec, columns):
        # A full refresh's rows were true when it started; later times are of the transfer.
        sources.append(f"least({_time(sql_identifier(name))}, {_time(started(name))})")
    if not isinstance(spec, FeedTable):
        sources.append(LogColumn.SNAPSHOT_AT)
    otherwise = (
        f"coalesce({', '.join(sources)})" if sources else "CAST(NULL AS timestamp)"
    )
    if spec.load_effective_at is None:
        return otherwise
    load = f"CAST({sql_literal(spec.load_effective_at)} AS timestamp)"
    # Later ones of a key are given their own time where its events are in order.
    is_load = IS_LOAD if spec.envelope is not None else "lake_rank = 0"
    return f"CASE WHEN {is_load} THEN {load} ELSE {otherwise} END"


def _time(value: str) -> str:
    return f"CAST({value} AS timestamp)"


def _first_timestamp(spec: FileTable, columns: Columns) -> List[str]:
    kinds = dict(columns)
    times = [c for c in spec.order_by if kinds.get(c) in ("timestamp", "date")]
    return times[:1]


def reason(spec: FileTable, *, with_corrupt: bool) -> str:
    """Return an expression: why the row goes to the quarantine, else null.

    A delete needs key and order and nothing else; full-load rows need no order.
    """
    words = f"coalesce(lake_corrupt_why, {sql_literal(UNPARSED)})"
    cases = [("lake_corrupt IS NOT NULL", words)]
    cases = cases if with_corrupt else []
    # Before the key: one that cannot be read has a value.
    fault = f"lake_fault.words || {sql_value(shown_text('lake_fault.value'))}"
    cases.append((f"lake_op = '{UPSERT}' AND lake_fault IS NOT NULL", fault))
    cases += [
        (
            f"{sql_identifier(name)} IS NULL AND NOT lake_op <=> '{TRUNCATE}'",
            sql_literal(f"key column {name} has no value"),
        )
        for name in spec.key
    ]
    scope = spec.scope
    if scope:
        words = sql_literal(f"scope column {scope.column} has no value")
        cases.append((f"{sql_identifier(scope.column)} IS NULL", words))
    word = sql_value(shown_text("lake_word"))
    cases.append(
        ("lake_op IS NULL", f"'unknown operation: ' || coalesce({word}, 'no value')")
    )
    cases += [
        (
            f"NOT ({IS_LOAD}) AND {sql_identifier(name)} IS NULL",
            sql_literal(f"order column {name} has no value"),
        )
        for name in spec.order_by
    ]
    cases.append(_too_long())
    cases += _no_folders(spec)
    cases.append(("lake_effective_at IS NULL", "'no effective time'"))
    cases += _too_late(spec)
    cases += [
        (f"lake_op = '{UPSERT}' AND ({bad})", sql_literal(reason_of(words)))
        for words, bad in failed_rules(spec, "quarantine").items()
    ]
    return first_reason(cases)


def _too_long() -> Tuple[str, str]:
    """Return the case of too long a key: Hudi's record index takes up to 32,767 bytes."""
    words = "'the key has ' || octet_length(lake_key) || ' bytes as text, at most "
    return f"octet_length(lake_key) > {LONGEST_KEY}", f"{words}{LONGEST_KEY:,} fit'"


_ESCAPED = sql_literal("[\\x00-\\x1f\\x7f\"#%'*/:=?\\\\\\[\\]^{]")
"""Characters that Hudi writes as three in the name of a folder."""


def _no_folders(spec: FileTable) -> List[Tuple[str, str]]:
    """List the cases of values of partition columns that no folder can be named for."""
    cases = []
    wrong = ", ".join(sql_literal(each) for each in NO_PARTITIONS)
    for name in spec.storage.partition_by:
        value = f"CAST({sql_identifier(name)} AS string)"
        words = sql_literal(f"partition column {name} has the value '")
        end = sql_literal("', which readers of Hudi read as no value")
        why = f"{words} || {sql_value(value)} || {end}"
        cases.append((f"lake_op = '{UPSERT}' AND {value} IN ({wrong})", why))
        encoded = f"octet_length(regexp_replace({value}, {_ESCAPED}, '%00'))"
        most = LONGEST_FOLDER - len(name) - 1
        why = f"partition column {name} has a value of over {most} bytes, too long for a folder"
        cases.append((f"lake_op = '{UPSERT}' AND {encoded} > {most}", sql_literal(why)))
    return cases


def _too_late(spec: FileTable) -> List[Tuple[str, str]]:
    """List the cases at the sentinel, where a version would end where it starts."""
    cases, time = [], f"'effective time ' || {sql_value('lake_effective_at')} || "
    if spec.history.open_end is not None:
        end = sql_literal(spec.history.open_end)
        words = f"{time} ' is not before history.open_end, ' || {end}"
        cases.append((f"lake_effective_at >= CAST({end} AS timestamp)", words))
    if not spec.future_dates:
        late = f"lake_effective_at > lake_landed_at + {TOLERANCE}"
        cases.append((late, f"{time} ' is in the future'"))
    return cases
