"""The folders of a table in the warehouse, which steps write and readers read."""

from __future__ import annotations

COMMITS = "_commits"
"""Folder in a table of plain Parquet, with an object for each commit."""


def table_folder(warehouse: str, table: str) -> str:
    """Return the folder of a table, given as `domain.table`."""
    return f"{warehouse}/{table.replace('.', '/', 1)}"


def layer_folder(warehouse: str, table: str, layer: str) -> str:
    """Return the folder of a layer of a table: `changes`, `current`, `history` ..."""
    return f"{table_folder(warehouse, table)}/{layer}"
