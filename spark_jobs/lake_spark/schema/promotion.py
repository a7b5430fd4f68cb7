"""Which type may take another's place: contract section 5, without Spark.

Types are compared as trees: structs by the names of their fields, in any order
and case.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Container, Dict, Iterator, List, Optional, Tuple

from lake_spec.model.column_type import ColumnType, WHOLE_DIGITS, parse_type

_WIDER = {
    "int": {"bigint", "double"},
    "float": {"double"},
    "date": {"timestamp"},
    "timestamp_ntz": {"timestamp"},
}
NULL_TYPE = "null"
"""The type of a Parquet file's columns and fields that have no value, so say no type."""

READ_AS = {
    NULL_TYPE: "int",
    "timestamp_nanos": "bigint",
    "timestamp_ntz_nanos": "bigint",
    "time_millis": "int",
    "time_micros": "bigint",
    "time_nanos": "bigint",
    "uuid": "binary",
}
"""Types of files that Spark reads as another (formats/parquet.py)."""

_TYPELESS = ("void", NULL_TYPE)

_FITS = {
    "timestamp_nanos": ("timestamp", "bigint"),
    "timestamp_ntz_nanos": ("timestamp", "bigint"),
    "time_millis": ("bigint",),
    "time_micros": ("bigint",),
    "time_nanos": ("bigint",),
    "uuid": ("binary",),
}
"""Types of tables, next to text, that hold each of them. The first number of times is of
nanoseconds since 1970, of times of a day the number of microseconds."""

_DEEPEST_STORED = 1000
_TEXT_KEYS = ("int", "bigint", "decimal", "boolean", "date", "timestamp")
"""Types whose values have one text each, under which they can be keys of maps."""


def stored_type(text: str) -> ColumnType:
    """Return the type that a table's text says, under the names that tables use."""
    return parse_type(text, _DEEPEST_STORED).stored


def storable(found: ColumnType) -> Optional[ColumnType]:
    """Return the type that tables hold a file's type as; None where it has no part.

    Hudi's maps have text keys, and its structs have fields.
    """
    kind = found.stored
    if kind.name in _TYPELESS or (kind.name == "struct" and not kind.inner):
        return None
    if kind.name == "timestamp_ntz" or kind.name.endswith("_nanos"):
        is_time = kind.name.startswith("time_")
        return ColumnType("string" if is_time else "timestamp")
    if kind.name in READ_AS:
        return ColumnType("string")
    inner = [storable(each) for each in kind.inner]
    if kind.name == "struct":
        parts = [(n, each) for n, each in zip(kind.fields, inner) if each]
        if not parts:
            return None
        names, kinds = zip(*parts)
        return replace(kind, inner=kinds, fields=names)
    if None in inner:
        return None
    if kind.name == "map" and kind.inner[0].name in _TEXT_KEYS:
        inner[0] = ColumnType("string")
    return replace(kind, inner=tuple(each for each in inner if each))


def read_as(found: ColumnType) -> ColumnType:
    """Return the type that Spark reads a file's type as."""
    name = READ_AS.get(found.name, found.name)
    return replace(found, name=name, inner=tuple(read_as(each) for each in found.inner))


def canonical_type(text: str) -> str:
    """Return a type's own name: `long` is `bigint`, without spaces."""
    return stored_type(text).text


def field_of(struct: ColumnType, name: str) -> Optional[Tuple[str, ColumnType]]:
    """Return a struct's field by its name in any case: (name as spelled, type)."""
    fields: Dict[str, Tuple[str, ColumnType]] = {
        each.lower(): (each, kind) for each, kind in zip(struct.fields, struct.inner)
    }
    return fields.get(name.lower())


def widens(old: ColumnType, new: ColumnType) -> bool:
    """Return whether every value of `old` has its place in `new`."""
    if old.name != new.name:
        is_decimal = new.name == "decimal" and old.name in WHOLE_DIGITS
        if is_decimal:
            return new.digits[0] - new.digits[1] >= WHOLE_DIGITS[old.name]
        return new.name in _WIDER.get(old.name, ())
    if old.name == "decimal":
        (precision, scale), (wider, finer) = old.digits, new.digits
        return finer >= scale and wider - finer >= precision - scale
    if old.name == "struct":
        matches = [(kind, field_of(new, n)) for n, kind in zip(old.fields, old.inner)]
        return all(match and widens(kind, match[1]) for kind, match in matches)
    return all(widens(one, other) for one, other in zip(old.inner, new.inner))


def mismatch(
    found: ColumnType, table: ColumnType, path: str, *, reads_text: bool = True
) -> Optional[Tuple[str, ColumnType, ColumnType]]:
    """Return the first place where a file's type does not fit: (path, found, table's).

    Text is read as any type, value by value, where `reads_text` says so; anything can be
    text, what is nested as JSON; what has no type has no values.
    """
    if found.name in _TYPELESS or table.name == "string":
        return None
    if found.name == "string" and reads_text:
        return None
    if table.name in _FITS.get(found.name, ()):
        return None
    if not (found.is_nested and found.name == table.name):
        return None if widens(found.stored, table) else (path, found, table)
    places = (
        mismatch(inner, wanted, place, reads_text=reads_text)
        for inner, wanted, place in _inner_pairs(found, table, path)
    )
    return next((place for place in places if place), None)


def _inner_pairs(
    found: ColumnType, table: ColumnType, path: str
) -> Iterator[Tuple[ColumnType, ColumnType, str]]:
    if table.name == "struct":
        for name, wanted in zip(table.fields, table.inner):
            match = field_of(found, name)
            if match:
                yield match[1], wanted, f"{path}.{name}"
        return
    parts = {"array": ("element",), "map": ("key", "value")}.get(table.name, ())
    for inner, wanted, part in zip(found.inner, table.inner, parts):
        yield inner, wanted, f"{path}.{part}"


def merged(table: ColumnType, file: ColumnType, *, promote: bool) -> ColumnType:
    """Return the table's type with the file's new fields, and if wished its wider types.

    A date becomes a timestamp only where that is declared.
    """
    if table.is_nested and file.name == table.name:
        if table.name == "struct":
            return _merged_struct(table, file, promote)
        pairs = zip(table.inner, file.inner)
        inner = tuple(merged(t, f, promote=promote) for t, f in pairs)
        return replace(table, inner=inner)
    is_wider = widens(table, file.stored) and table.name != "date"
    return file.stored if promote and is_wider else table


def _merged_struct(table: ColumnType, file: ColumnType, promote: bool) -> ColumnType:
    names, kinds = list(table.fields), list(table.inner)
    known = {name.lower(): place for place, name in enumerate(names)}
    for name, kind in zip(file.fields, file.inner):
        place = known.get(name.lower())
        if place is None:
            names.append(name)
            kinds.append(kind.stored)
        else:
            kinds[place] = merged(kinds[place], kind, promote=promote)
    return replace(table, inner=tuple(kinds), fields=tuple(names))


def new_fields(table: ColumnType, file: ColumnType, path: str) -> List[str]:
    """Return the fields of a file's nested type that the table's lacks, by their paths."""
    if not (table.is_nested and file.name == table.name):
        return []
    found = []
    if table.name == "struct":
        found = [f"{path}.{n}" for n in file.fields if not field_of(table, n)]
    for inner, wanted, place in _inner_pairs(file, table, path):
        found += new_fields(wanted, inner, place)
    return found


def float_paths(found: ColumnType, table: ColumnType, path: str) -> List[str]:
    """Return where a file's floats become the table's doubles, by their paths."""
    if (found.name, table.name) == ("float", "double"):
        return [path]
    if not (found.is_nested and found.name == table.name):
        return []
    pairs = _inner_pairs(found, table, path)
    return [each for pair in pairs for each in float_paths(*pair)]


def with_floats(table: ColumnType, paths: Container[str], path: str) -> ColumnType:
    """Return the type with floats for the doubles at these paths."""
    if table.name == "double" and path in paths:
        return ColumnType("float")
    pairs = _inner_pairs(table, table, path)
    inner = tuple(with_floats(kind, paths, place) for _, kind, place in pairs)
    return replace(table, inner=inner)


def only_adds(stored: ColumnType, wanted: ColumnType) -> bool:
    """Return whether `wanted` is `stored` with fields added to its structs, if at all."""
    if stored.name != wanted.name or stored.digits != wanted.digits:
        return False
    if stored.name == "struct":
        pairs = [(k, field_of(wanted, n)) for n, k in zip(stored.fields, stored.inner)]
        return all(match and only_adds(kind, match[1]) for kind, match in pairs)
    return all(only_adds(one, other) for one, other in zip(stored.inner, wanted.inner))


def is_same(one: ColumnType, other: ColumnType) -> bool:
    """Return whether two types differ at most in the order and case of fields."""
    return only_adds(one, other) and only_adds(other, one)


def keeps_key_text(old: ColumnType, new: ColumnType) -> bool:
    """Return whether a key's values have the same text in the wider type."""
    if old.name == "decimal" and new.name == "decimal":
        return old.digits[1] == new.digits[1]
    return old == new or (old.name, new.name) == ("int", "bigint")
