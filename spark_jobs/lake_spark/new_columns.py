"""Columns, fields and wider types that files bring: contract section 5."""

from __future__ import annotations

import re
from typing import Iterator, List, Set, Tuple

from lake_spec.column_type import ColumnType
from lake_spec.model import NewColumns, TableSpec
from lake_spark.envelope import is_of_envelope
from lake_spark.errors import BadFile
from lake_spark.file_shape import source_name, time_column
from lake_spark.landing import LandingFile
from lake_spark.row_sql import Columns
from lake_spark.shape import Shape
from lake_spark.widening import merged, new_fields, stored_type

_ILLEGAL = re.compile(r"[^A-Za-z0-9_]")
_MONGODB = "; or, for MongoDB's extended JSON, set source.format.extended"
_KNOWN = (
    "string boolean int bigint float double decimal date timestamp binary"
    " array map struct"
).split()


def columns_with(
    spec: TableSpec, file: LandingFile, shape: Shape, columns: Columns
) -> List[Tuple[str, str]]:
    """The table's columns after this file, by the spec's `new_columns`.

    A declared column keeps its type but for new fields of structs; of the
    others, a wider type of the file's becomes the table's.
    """
    claimed = _claimed(spec, shape, columns)
    unknown = [
        name
        for name in shape.names
        if name.lower() not in claimed and not is_of_envelope(name, shape, spec)
    ]
    if spec.source.new_columns is NewColumns.IGNORE:
        return list(columns)
    if spec.source.new_columns is NewColumns.REFUSE:
        _refuse(file, unknown + _unknown_fields(spec, shape, columns))
    grown = [(name, _grown(spec, file, shape, name, kind)) for name, kind in columns]
    return grown + [
        (_legal(name, file), _legal_type(shape.type_of(name).stored, file, name).text)
        for name in unknown
    ]


def _refuse(file: LandingFile, unknown: List[str]) -> None:
    if unknown:
        raise BadFile(
            file.path,
            f"has undeclared column(s) {', '.join(unknown)} and source.new_columns is "
            "'refuse'. Declare them under columns, or set it to add or ignore.",
        )


def _unknown_fields(spec: TableSpec, shape: Shape, columns: Columns) -> List[str]:
    return [
        path
        for name, kind in columns
        for raw in [source_name(spec, name, shape)]
        if raw
        for path in new_fields(stored_type(kind), shape.type_of(raw), raw)
    ]


def _grown(
    spec: TableSpec, file: LandingFile, shape: Shape, name: str, kind: str
) -> str:
    raw = source_name(spec, name, shape)
    if raw is None:
        return kind
    is_declared = name in dict(spec.columns)
    table = stored_type(kind)
    grown = merged(table, shape.type_of(raw), promote=not is_declared)
    return kind if grown == table else _legal_type(grown, file, raw).text


def _legal_type(kind: ColumnType, file: LandingFile, name: str) -> ColumnType:
    """The type, if tables can hold it and the names of its fields."""
    for each in _parts(kind):
        bad = next((field for field in each.fields if not _is_legal(field)), None)
        if bad is not None:
            raise BadFile(
                file.path,
                f"column {name!r} has the undeclared field {bad!r}, no legal name in the "
                "lake. Declare the column with the fields that it shall have, and set "
                f"source.new_columns to ignore{_MONGODB if bad[0] == '$' else ''}.",
            )
        if each.name not in _KNOWN:
            raise BadFile(
                file.path,
                f"the undeclared column {name!r} is {each.name}, which tables cannot hold: "
                "declare it with a type that can, or set source.new_columns to ignore.",
            )
    return kind


def _parts(kind: ColumnType) -> Iterator[ColumnType]:
    yield kind
    for inner in kind.inner:
        yield from _parts(inner)


def _claimed(spec: TableSpec, shape: Shape, columns: Columns) -> Set[str]:
    """The file's names that are known: by a column, as the operation, or to be ignored."""
    found = {source_name(spec, name, shape) for name, _ in columns}
    older = {name for _, column in spec.columns for name in column.source}
    operation = spec.operation
    words = {operation.column if operation else time_column(spec)}
    ignored = set(getattr(spec.source, "ignore_columns", ()))
    return {name.lower() for name in found | older | words | ignored if name}


def _legal(name: str, file: LandingFile) -> str:
    """A name that every reader of the lake can spell, and that a spec can declare."""
    if not _is_legal(name):
        legal = _ILLEGAL.sub("_", name).strip("_").lower()
        raise BadFile(
            file.path,
            f"has the undeclared column {name!r}, no legal name in the lake. Declare it: "
            f"columns: {{{legal}: {{type: string, source: [{name!r}]}}}}",
        )
    return name.lower()


def _is_legal(name: str) -> bool:
    return name[:1].isalpha() and not _ILLEGAL.search(name)
