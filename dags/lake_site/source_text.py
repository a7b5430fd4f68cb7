"""The source of a table in words: where its rows come from and in which form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from lake_spec.model import Dimension, Product, TableSpec


@dataclass(frozen=True)
class SourceText:
    """A source: its kind, its name, and more about it."""

    kind: str
    name: str
    more: tuple[tuple[str, str], ...] = ()
    tables: tuple[str, ...] = ()
    """Full names of tables of the lake that it is made of."""


def source_of(table: TableSpec) -> SourceText:
    """Return the source of a table."""
    source = table.source
    if isinstance(source, Dimension):
        of = (source.main.table, source.joined.table)
        words = f"histories of {of[0]} and {of[1]}"
        tables = tuple(f"{table.domain}.{each}" for each in of)
        return SourceText("dimension", words, tables=tables)
    if isinstance(source, Product):
        words = f"rows of {source.from_}" if source.from_ else f"SQL of {source.sql}"
        return SourceText("product", words, tables=source.reads)
    more = [("Format", source.format.type)]
    for pull in (
        getattr(source, "pulled_from", None),
        getattr(source, "load_from", None),
        getattr(source, "changes_from", None),
    ):
        if pull is not None:
            more.append(("Pulled from", _pull(pull)))
    given = tuple(f"{table.domain}.{each.table}" for each in table.enrich)
    return SourceText(source.kind, f"files of {source.path}", tuple(more), given)


def _pull(pull: object) -> str:
    names = ("connection", "table", "topic")
    parts: list[Optional[str]] = [getattr(pull, name, None) for name in names]
    return " ".join(filter(None, parts))
