"""From a source's tables to the specs of them, and the reasons of those without."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Dict, Iterator, List, Optional, Tuple, Union

from lake_spec.hudi.buckets import buckets_for
from lake_spec.model import names

from lake_local.onboard import mariadb_types, personal, postgresql_types, table_keys
from lake_local.onboard.catalog import Catalog, Column, Table
from lake_local.onboard.naming import column_names, same_but_for_case, table_names
from lake_local.onboard.origin import Origin
from lake_local.onboard.spec_text import ColumnText, Guess, SpecText, one_line
from lake_local.onboard.types import LakeType

OWNER = "lake-onboarding"
_TYPES = {
    "postgresql": postgresql_types.lake_type,
    "mariadb": mariadb_types.lake_type,
}


@dataclass(frozen=True)
class Draft:
    """A spec that can be written."""

    table: Table
    text: SpecText
    way: str
    """How its rows come, in a word or two."""


@dataclass(frozen=True)
class Skipped:
    """A table without a spec, and why; `start` is a spec that lacks what must be decided."""

    name: str
    why: str
    start: Optional[SpecText] = None


@dataclass(frozen=True)
class Request:
    """What is asked for; `owner` is empty where nobody was named."""

    domain: str
    origin: Origin
    only: Tuple[str, ...] = ()
    owner: str = ""


Planned = Union[Draft, Skipped]


def planned(catalog: Catalog, request: Request) -> List[Planned]:
    """Return a draft, or a reason why not, for each table that is asked for."""
    # Names are given with all tables in view, so that no choice of some changes them.
    names = table_names(each.name for each in catalog.tables)
    return [
        _planned(catalog, table, names[table.name], request)
        for table in catalog.tables
        if is_asked_for(table.name, request.only)
    ]


def is_asked_for(name: str, only: Tuple[str, ...]) -> bool:
    """Return whether a table's name matches one of the patterns, if there are any."""
    return not only or any(fnmatchcase(name, pattern) for pattern in only)


def _planned(catalog: Catalog, table: Table, name: str, request: Request) -> Planned:
    if table.parent:
        return Skipped(table.name, f"a partition of {table.parent}, which has its rows")
    double = same_but_for_case(each.name for each in table.columns)
    if double:
        words = f"columns {double[0]!r} and {double[1]!r} differ only in case"
        return Skipped(table.name, f"{words}, and files cannot have both: rename one")
    refusal = request.origin.refusal(catalog.schema, table.name)
    if refusal:
        return Skipped(table.name, refusal)
    if not table.columns:
        return Skipped(table.name, "it has no columns")
    key = table_keys.key_of(table)
    if key is None:
        return Skipped(table.name, table_keys.NO_KEY)
    columns = dict(_columns(catalog, table, request.origin))
    unsaid = [each for each in key.columns if _is_unsaid(columns[each])]
    if unsaid:
        words = f"its key has the column {unsaid[0]!r}"
        return Skipped(table.name, f"{words}, which cannot be a key in a spec")
    return _draft(catalog, table, name, request, columns, key)


def _is_unsaid(column: ColumnText) -> bool:
    return bool(column.left_out) or column.type.startswith(("array<", "struct<"))


def _draft(
    catalog: Catalog,
    table: Table,
    name: str,
    request: Request,
    columns: Dict[str, ColumnText],
    key: table_keys.Choice,
) -> Draft:
    cursor = table_keys.cursor_of(table)
    if cursor is not None and columns[cursor.columns[0]].left_out:
        cursor = None
    came = request.origin.source_of(request.domain, name, catalog.schema, table, cursor)
    text = SpecText(
        head=_head(catalog, table, came.words, request),
        name=name,
        description=_description(catalog, table),
        owner=request.owner or Guess(OWNER, "name the owning team"),
        source=_source(came.source, columns),
        columns=tuple(columns.values()),
        key=_named(key, columns),
        order_by=_named(came.order_by, columns) if came.order_by else None,
        storage={
            "index": "bucket",
            "buckets": buckets_for(table.rows, table.bytes),
        },
        size=table.size_in_words,
    )
    return Draft(table, text, came.way)


def _source(source: Dict[str, Any], columns: Dict[str, ColumnText]) -> Dict[str, Any]:
    """Return the source, which is not to bring columns that are left out after all."""
    ignored = [name for name, each in columns.items() if each.is_ignored]
    return {**source, "ignore_columns": ignored} if ignored else source


def _named(choice: table_keys.Choice, columns: Dict[str, ColumnText]) -> Any:
    names = [columns[each].name for each in choice.columns]
    return Guess(names, choice.guess) if choice.guess else names


def _head(
    catalog: Catalog, table: Table, words: Tuple[str, ...], request: Request
) -> Tuple[str, ...]:
    where = f"{catalog.schema}.{table.name} of {request.origin.connection}"
    return (
        f"Made by `onboard` from the catalogue of {catalog.engine}: {where}.",
        *words,
    )


def _description(catalog: Catalog, table: Table) -> Any:
    comment = one_line(table.comment)
    if comment and not list(names.description(comment)):
        return comment
    plain = f"Rows of the table {table.name} in {catalog.schema}"
    return Guess(one_line(plain).replace("{", "("), "describe what a row is")


def _columns(
    catalog: Catalog, table: Table, origin: Origin
) -> Iterator[Tuple[str, ColumnText]]:
    names, unsaid = column_names(
        (each.name for each in table.columns), origin.connector
    )
    type_of = _TYPES[catalog.engine]
    for column in table.columns:
        kind = type_of(column, origin.written)
        if column.name in unsaid:
            yield column.name, _unsayable(column, kind)
        else:
            yield column.name, _column(column, names[column.name], kind)


def _column(column: Column, name: str, kind: LakeType) -> ColumnText:
    words = one_line(column.comment)
    of_persons = personal.by_name(column.name)
    is_fit = not list(names.comment(("description",), words))
    return ColumnText(
        name=name,
        type=kind.text,
        sources=() if column.name.lower() == name else (column.name,),
        format=kind.format,
        guess="; ".join(filter(None, [kind.guess, of_persons])),
        sensitivity="personal" if of_persons else "",
        comment="" if is_fit else words,
        description=words if is_fit else "",
        left_out=kind.left_out,
        is_ignored=kind.is_in_snapshots,
    )


def _unsayable(column: Column, kind: LakeType) -> ColumnText:
    name = one_line(column.name)
    return ColumnText(name, kind.text, left_out="this name is not valid in a spec")
