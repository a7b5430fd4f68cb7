"""Chooses a table's key, and the column that changes with each change of a row."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import List, Optional, Set, Tuple

from lake_local.onboard.catalog import Column, Index, Table
from lake_local.onboard.naming import lake_name

NO_KEY = (
    "no primary key, no unique index and no column named like a key: add one, or write"
    " the spec yourself"
)
_TIME = re.compile(r"(timestamp|datetime)\b")
_CURSORS = tuple(
    "updated_at modified_at last_updated_at last_modified_at last_update last_updated"
    " last_modified update_time updated_on modified_on last_update_time"
    " last_modified_time last_update_date last_modified_date update_date modified_date"
    " modification_date updated modified updated_time modified_time changed_at"
    " last_changed last_changed_at change_date changed_on row_updated_at mtime".split()
)


@dataclass(frozen=True)
class Choice:
    """Columns by their source names, and why they may be the wrong ones."""

    columns: Tuple[str, ...]
    guess: str = ""


def key_of(table: Table) -> Optional[Choice]:
    """Return the primary key, else what stands for it; None where nothing does."""
    if table.primary_key:
        return Choice(table.primary_key)
    unique = sorted(
        (each for each in table.indexes if each.unique and each.columns),
        key=lambda each: (not each.identifies, len(each.columns), each.name),
    )
    strict = [each for each in unique if not _nullable(table, each)]
    if strict:
        words = f"no primary key; the unique index {strict[0].name}"
        return Choice(strict[0].columns, words)
    if unique:
        words = (
            f"no primary key; the unique index {unique[0].name} lets NULL in, and such"
        )
        return Choice(unique[0].columns, f"{words} rows go to the quarantine")
    name = _named_like_a_key(table)
    return Choice((name,), "no unique index; only its name says so") if name else None


def _nullable(table: Table, index: Index) -> bool:
    return any(table.column(name).nullable for name in index.columns)


def _named_like_a_key(table: Table) -> str:
    name = lake_name(table.name)
    singular = re.sub(r"(?<=[a-z]{2})s$", "", name)
    wanted = ("id", f"{name}_id", f"{singular}_id", "uuid", "guid")
    by_name = {lake_name(each.name): each.name for each in table.columns}
    return next((by_name[each] for each in wanted if each in by_name), "")


def cursor_of(table: Table) -> Optional[Choice]:
    """Return a time that moves with every change of a row; None where none looks like it."""
    found = [each for each in table.columns if _may_be_cursor(each)]
    if not found:
        return None
    leading = {each.columns[0] for each in table.indexes if each.columns}
    best = min(found, key=lambda each: _rank(each, leading))
    words: List[str] = []
    if not best.moves_with_updates:
        words.append("only its name says that every change sets it")
    if best.name not in leading:
        words.append("it has no index")
    if best.nullable:
        words.append("rows without it are not ingested")
    return Choice((best.name,), "; ".join(words))


def _may_be_cursor(column: Column) -> bool:
    is_time = _TIME.match(column.type.lower()) and not column.type.endswith("[]")
    named = lake_name(column.name) in _CURSORS
    return bool(is_time) and (named or column.moves_with_updates)


def _rank(column: Column, leading: Set[str]) -> Tuple[bool, bool, bool, int]:
    name = lake_name(column.name)
    place = _CURSORS.index(name) if name in _CURSORS else len(_CURSORS)
    return (
        not column.moves_with_updates,
        column.name not in leading,
        column.nullable,
        place,
    )
