"""Columns, fields and wider types that files bring: contract section 5."""

from __future__ import annotations

import re
from typing import Iterator, List, Optional, Tuple

from lake_spec.diagnostics.warnings import WarningId
from lake_spec.model import Csv, FileTable, NewColumns
from lake_spec.model.column_type import ColumnType
from lake_spec.model.names import is_source_name
from lake_spec.text.marked_values import quoted_value, row_value
from lake_spark.errors import WrongColumns, WrongTypes
from lake_spark.formats.column_names import Names, SOURCE, true_name_in, undeclared
from lake_spark.formats.file_schema import Shape
from lake_spark.formats.inference import source_name
from lake_spark.landing.files import LandingFile
from lake_spark.schema.columns import Columns
from lake_spark.schema.promotion import merged, new_fields, storable, stored_type

_ILLEGAL = re.compile(r"[^A-Za-z0-9_]")
_LONGEST = 63
_MONGODB = "; or, for MongoDB's extended JSON, set source.format.extended"
_KNOWN = (
    "string boolean int bigint float double decimal date timestamp binary"
    " array map struct"
).split()


def columns_with(
    spec: FileTable,
    file: LandingFile,
    shape: Shape,
    columns: Columns,
    with_values: Optional[Shape] = None,
) -> List[Tuple[str, str]]:
    """Return the table's columns after this file, by the spec's `new_columns`.

    A declared column keeps its type but for new fields of structs; of the
    others, a wider type of the file's becomes the table's. `with_values` is the shape
    of what has a value in the file, where that is known: null says no type.
    """
    if spec.source.new_columns is NewColumns.IGNORE:
        return list(columns)
    unknown = unknown_columns(spec, shape, columns)
    if spec.source.new_columns is NewColumns.REFUSE:
        names = [raw for _, raw in unknown]
        _refuse(file, names + _unknown_fields(spec, shape, columns))
    grown = [(name, _grown(spec, file, shape, name, kind)) for name, kind in columns]
    seen = with_values or shape
    valued = set(seen.names)
    for name, raw in unknown:
        if raw not in valued or not _is_sayable(name, true_name_in(spec, raw)):
            continue
        if not _is_legal(name):
            _refuse_name(spec, file, raw)
        kind = _legal_type(seen.type_of(raw), file, raw)
        if kind is not None:
            grown.append((name, kind.text))
    return grown


def unknown_columns(
    spec: FileTable, shape: Shape, columns: Columns
) -> List[Tuple[str, str]]:
    """Return (table's column, file's column) of what the table does not have yet."""
    names, known = Names(spec), dict(columns)
    found = [
        (names.stored(true_name_in(spec, raw)), raw) for raw in undeclared(spec, shape)
    ]
    return [(name, raw) for name, raw in found if name not in known]


def name_warnings(spec: FileTable, shape: Shape) -> List[Tuple[WarningId, str]]:
    """Return warnings of undeclared columns whose names cannot be stored as they are."""
    if not spec.source.new_columns.adds:
        return []
    names = Names(spec)
    remedy = _declaration if isinstance(spec.source.format, Csv) else _renaming
    warnings = [_left_out(each, remedy(spec, each)) for each in shape.left_out]
    for raw in undeclared(spec, shape):
        true = true_name_in(spec, raw)
        stored = names.stored(true)
        if not _is_sayable(stored, true):
            warnings.append(_left_out(raw, _declaration(spec, true)))
        elif stored != true.lower() and _is_legal(stored):
            words = (
                f"column {true!r} is stored as {stored!r}, because the table has another "
                f"column {true.lower()!r}. To choose another name declare it: "
                f"columns: {{{stored}: {{type: string, source: [{true!r}]}}}}"
            )
            warnings.append((WarningId.COLUMN_RENAMED, words))
    return warnings


def _left_out(name: str, remedy: str) -> Tuple[WarningId, str]:
    return WarningId.COLUMN_LEFT_OUT, (
        f"column {quoted_value(name[:200])} is left out, for the lake has no column of that "
        f"name. {remedy}"
    )


def _renaming(spec: FileTable, name: str) -> str:
    return (
        "Rename it in the source, or send it under another name (a view, an alias, a renaming "
        "transform)."
    )


def _declaration(spec: FileTable, name: str) -> str:
    """Return how a spec reads a column whose name is no column's in the lake."""
    names = Names(spec)
    legal = _ILLEGAL.sub("_", name).strip("_").lower()[:_LONGEST]
    if (
        not legal[:1].isalpha()
        or names.stored(legal) != legal
        or legal in names.declared
    ):
        legal = f"{SOURCE}{legal}"[:_LONGEST].rstrip("_")
    return (
        f"Declare it: columns: {{{row_value(legal)}: {{type: string, source: "
        f"[{quoted_value(name)}]}}}}"
    )


def _is_sayable(stored: str, name: str) -> bool:
    """Return whether a column can be stored under a legal name, perhaps a declared one."""
    return _is_legal(stored) or is_source_name(name)


def _refuse(file: LandingFile, unknown: List[str]) -> None:
    if unknown:
        raise WrongColumns(
            file.path,
            f"has undeclared column(s) {row_value(', '.join(unknown))} and source.new_columns is "
            "'refuse'. Declare them under columns, or set it to add or ignore.",
        )


def _unknown_fields(spec: FileTable, shape: Shape, columns: Columns) -> List[str]:
    return [
        path
        for name, kind in columns
        for raw in [source_name(spec, name, shape)]
        if raw
        for path in new_fields(stored_type(kind), shape.type_of(raw), raw)
    ]


def _grown(
    spec: FileTable, file: LandingFile, shape: Shape, name: str, kind: str
) -> str:
    raw = source_name(spec, name, shape)
    if raw is None:
        return kind
    is_declared = spec.column(name) is not None
    table = stored_type(kind)
    grown = merged(table, shape.type_of(raw), promote=not is_declared)
    legal = table if grown == table else _legal_type(grown, file, raw)
    return kind if legal is None or legal == table else legal.text


def _legal_type(
    found: ColumnType, file: LandingFile, name: str
) -> Optional[ColumnType]:
    """Return the type that tables hold it as; None where no value says one."""
    kind = storable(found)
    for each in _parts(kind) if kind else ():
        bad = next((field for field in each.fields if not _is_legal(field)), None)
        if bad is not None:
            raise WrongColumns(
                file.path,
                f"column {quoted_value(name)} has the undeclared field "
                f"{quoted_value(bad)}, which is not a valid name in the lake. Declare the "
                "column as string, which keeps the JSON text of each value, or declare its "
                f"fields and set source.new_columns: ignore{_MONGODB if bad[:1] == '$' else ''}.",
            )
        if each.name not in _KNOWN:
            raise WrongTypes(
                file.path,
                f"the undeclared column {quoted_value(name)} is {row_value(found.text)}, and "
                f"tables cannot store {row_value(each.text)}. Declare it as string, which "
                "keeps the JSON text of each value, or set source.new_columns to ignore.",
            )
    return kind


def _parts(kind: ColumnType) -> Iterator[ColumnType]:
    yield kind
    for inner in kind.inner:
        yield from _parts(inner)


def _refuse_name(spec: FileTable, file: LandingFile, raw: str) -> None:
    """Raise WrongColumns for a name that is not valid: a spec can rename the column."""
    name = true_name_in(spec, raw)
    raise WrongColumns(
        file.path,
        f"has the undeclared column {quoted_value(name)}, which is not a valid name in the lake. "
        f"{_declaration(spec, name)}",
    )


def _is_legal(name: str) -> bool:
    return name[:1].isalpha() and not _ILLEGAL.search(name)
