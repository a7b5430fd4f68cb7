"""The folders of a table in the warehouse, which steps write and readers read."""

from __future__ import annotations

COMMITS = "_commits"
"""Folder in a table of plain Parquet, with an object for each commit."""


def table_path(table: str) -> str:
    """Return `domain/table`: the place of a table, `domain.table`, below any root."""
    return table.replace(".", "/", 1)


def table_folder(warehouse: str, table: str) -> str:
    """Return the folder of a table, given as `domain.table`."""
    return f"{warehouse}/{table_path(table)}"


def moved_folder(warehouse: str, table: str) -> str:
    """Return where maintenance moves what was not written to a table, if asked to.

    Beside the tables of the domain, where its steps may write: no table has such a name.
    """
    domain, _, name = table.partition(".")
    return f"{warehouse}/{domain}/_moved/{name}"


def layer_folder(warehouse: str, table: str, layer: str) -> str:
    """Return the folder of a layer of a table: `changes`, `current`, `history` ..."""
    return f"{table_folder(warehouse, table)}/{layer}"
