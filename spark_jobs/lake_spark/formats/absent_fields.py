"""Fields that a record of JSON lacks, in tables that say those did not change.

The files of such a table are read with one more column, THERE: a struct like the record's
own, where nothing is null but what is absent. Null is marked there by a value without
content (json_records.py). What is taken from a record is taken from THERE alike. Contract
section 7.
"""

from __future__ import annotations

import re
from typing import List

from lake_spec.model.column_type import ColumnType
from lake_spec.text.sql_text import sql_identifier, sql_literal
from lake_spark.formats.reader_columns import THERE
from lake_spark.schema import json_text

_PLAIN_NAME = re.compile(r"[A-Za-z0-9_]+")
"""Names that fields of tables have."""

_NULL_OF_FIELD = r'"(?<!\\")\s*+:\s*+null(?=\s*+[,}])'


def of_json(text: str, path: str) -> str:
    """Return SQL: what is at the path of a text of JSON, the empty text for null."""
    marked = f"""regexp_replace({text}, {sql_literal(_NULL_OF_FIELD)}, '":""')"""
    inside = f"get_json_object({marked}, {sql_literal(path)})"
    return f"CASE WHEN {text} = '' THEN '' ELSE {inside} END"


def sent(name: str, raw: str, found: ColumnType, table: ColumnType) -> str:
    """Return SQL: the paths of what a record has of a column, `a,a.b`; null for nothing."""
    place = f"{THERE}.{sql_identifier(raw)}"
    if found.name == "string" and table.name == "struct":
        inside = _in_text(name.lower(), place, table, 0)
        return f"CASE WHEN {place} IS NOT NULL THEN {inside} END"
    return _in_struct(name.lower(), place, found)


def _in_struct(path: str, place: str, kind: ColumnType) -> str:
    parts = [sql_literal(path)]
    for name, inner in zip(kind.fields, kind.inner):
        if _PLAIN_NAME.fullmatch(name):
            at = f"{path}.{name.lower()}"
            parts.append(_in_struct(at, f"{place}.{sql_identifier(name)}", inner))
    return f"CASE WHEN {place} IS NOT NULL THEN {_listed(parts)} END"


def _in_text(path: str, text: str, kind: ColumnType, depth: int) -> str:
    """Return the same of a struct that is JSON text, as Spark has it next to others."""
    fields, names = f"m{depth}", f"n{depth}"
    parts = [sql_literal(path)]
    for name, inner in zip(kind.fields, kind.inner):
        key, at = sql_literal(name.lower()), f"{path}.{name.lower()}"
        own = sql_literal(at)
        if inner.name == "struct":
            inside = f"map_values({fields})[array_position({names}, {key}) - 1]"
            own = _in_text(at, f"coalesce({inside}, '')", inner, depth + 1)
        parts.append(f"CASE WHEN array_contains({names}, {key}) THEN {own} END")
    keys = f"transform(map_keys({fields}), k -> lower(k))"
    listed = json_text.let(names, keys, _listed(parts))
    is_object = f"CASE WHEN {fields} IS NULL THEN {sql_literal(path)} ELSE {listed} END"
    return json_text.let(fields, json_text.fields_of(text), is_object)


def _listed(parts: List[str]) -> str:
    return f"concat_ws(',', {', '.join(parts)})" if len(parts) > 1 else parts[0]
