"""The names of a table's layers in the Glue catalogue."""

from __future__ import annotations

from typing import List

from lake_spec.model import TableSpec, TableType

RO = "_ro"
"""Suffix of a merge-on-read table without what was not yet compacted."""

_SUFFIXES = {"changes": "_changes", "current": "", "history": "_history"}
QUARANTINE = "_quarantine"
"""Suffix of the quarantine, by which `sql` reads it; the catalogue does not have it."""

SUFFIXES = (_SUFFIXES["history"], _SUFFIXES["changes"], QUARANTINE, RO)
"""The suffixes that a name may end with which is not the table's own."""


def glue_name(table: str, layer: str) -> str:
    """Return the name of a layer of a table: `changes`, `current` or `history`."""
    return table + _SUFFIXES[layer]


def glue_names(spec: TableSpec) -> List[str]:
    """List the names of all entries of a table in the database of its domain."""
    names = [glue_name(spec.name, layer) for layer in _SUFFIXES]
    if spec.storage.type is TableType.MERGE_ON_READ:
        merged = ("current", "history")
        names += [glue_name(spec.name, layer) + RO for layer in merged]
    return names
