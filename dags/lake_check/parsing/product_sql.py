"""The SQL files of products, next to their specs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import List, Optional, Tuple

from lake_check.messages.product_ids import ProductId
from lake_check.parsing.node import Node
from lake_check.rules.product import is_sql_name
from lake_spec.diagnostics.diagnostic import Diagnostic, Problem, shown
from lake_spec.model import Product, TableSpec
from lake_spec.text.sql_references import find_references

LARGEST = 256 * 1024
ENDING = ".sql"
AT = ("source", "sql")


def read_sql(path: Path) -> str:
    """Return the text of a SQL file. Raises OSError, or ValueError for other content."""
    with path.open("rb") as stream:
        raw = stream.read(LARGEST + 1)
    if len(raw) > LARGEST:
        raise ValueError(f"it has more than {LARGEST // 1024} KiB")
    return raw.decode("utf-8-sig")


def with_reads(
    spec: TableSpec, root: Node, folder: Path
) -> Tuple[TableSpec, List[Diagnostic]]:
    """Return a product with the tables that it reads, and what is wrong with them.

    `root` is its spec's file, `folder` that of its domain. Other tables are returned as
    they are.
    """
    source = spec.source
    if not isinstance(source, Product):
        return spec, []
    if source.from_:
        return replace(spec, source=replace(source, reads=(source.from_,))), []
    if source.sql is None or not is_sql_name(source.sql):
        return spec, []  # reported by rules of their own
    path = folder / source.sql
    text, problem = _text(path, source.sql)
    if problem is not None:
        return spec, [root.diagnostic(problem)]
    found = find_references(text)
    rule = ProductId.BAD_REFERENCE.value
    bad = [
        Diagnostic(str(path), b.line, "", b.text, f"got {shown(b.text)}", b.hint, rule)
        for b in found.bad
    ]
    return replace(spec, source=replace(source, reads=found.tables)), bad


def _text(path: Path, name: str) -> Tuple[str, Optional[Problem]]:
    try:
        return read_sql(path), None
    except (OSError, ValueError) as error:
        why = "not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)
        reason = getattr(error, "strerror", None) or why
        hint = f"Create {name} next to the spec, as text in UTF-8, or correct the name."
        message = f"{name!r} cannot be read: {reason}"
        return "", Problem(AT, name, message, hint, ProductId.UNREADABLE_SQL.value)
