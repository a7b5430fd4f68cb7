"""The columns that history adds to those of a table."""

from __future__ import annotations

from dataclasses import fields
from typing import Dict, Iterator, Tuple

from lake_spec.diagnostics.diagnostic import Path
from lake_spec.model.choices import SurrogateKind
from lake_spec.model.table import TableSpec, VersionedTable


def history_columns(table: TableSpec) -> Dict[str, Tuple[str, str]]:
    """Return type and meaning of the columns that history adds, by name."""
    if not isinstance(table, VersionedTable):
        return {}  # it has no history
    names, surrogate = table.history.columns, table.history.surrogate_key
    is_number = surrogate.kind is SurrogateKind.INCREASING
    return {
        names.valid_from: ("timestamp", "Start of the version, inclusive"),
        names.valid_to: ("timestamp", "End of the version, exclusive"),
        names.is_current: ("boolean", "True if the version has not ended"),
        names.is_deleted: ("boolean", "True if the row marks a delete"),
        surrogate.column: (
            "bigint" if is_number else "string",
            "Surrogate key of the version",
        ),
    }


def added_columns(table: TableSpec) -> Iterator[Tuple[Path, str]]:
    """List the columns that history adds, each with the key path of its name."""
    if not isinstance(table, VersionedTable):
        return  # it has no history
    history = table.history
    for each in fields(history.columns):
        yield ("history", "columns", each.name), getattr(history.columns, each.name)
    yield ("history", "surrogate_key", "column"), history.surrogate_key.column
