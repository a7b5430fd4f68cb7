"""The columns of Parquet files, by their footers; of types without Spark's too.

Spark refuses a whole file for one column that it has no type for, and names none. What it
can read as a plain number or as bytes keeps its own type in the file's shape, and
schema/casts.py makes values of it; another one is refused by name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import (
    Any,
    Collection,
    FrozenSet,
    Iterable,
    Iterator,
    List,
    Optional,
    Tuple,
)

from pyspark.sql import SparkSession

from lake_spec.model import FileTable, NewColumns
from lake_spec.model.column_type import ColumnType
from lake_spec.text.marked_values import quoted_value
from lake_spark import java
from lake_spark.errors import (
    ClassInFile,
    first_line,
    REMOVED,
    UnreadableFile,
    WrongTypes,
)
from lake_spark.formats.column_names import Names
from lake_spark.formats.file_schema import Shape
from lake_spark.formats.named_classes import named_class
from lake_spark.landing.files import LandingFile
from lake_spark.schema.promotion import NULL_TYPE
from lake_spark.schema.spark_types import column_type, typed_names
from lake_spark.storage.object_store import ObjectStore
from lake_spark.storage.parquet_file import (
    columns_of,
    notes,
    parsed_footer,
    SparkTypes,
    with_parquet_types,
)
from lake_spark.storage.session import NOT_OF_A_FILE

_MAGIC = b"PAR1"
_ENCRYPTED = b"PARE"
_FOOTER_END = 8
"""Bytes at the end of a file: the length of its footer, and the magic."""
_MOST_FOOTERS = 1 << 16
"""Bytes that are read first of a file's end: 64 KiB, which hold the footer of most."""

_KINDS = (
    (re.compile(r"\(TIMESTAMP\(NANOS,true\)\)"), "timestamp_nanos"),
    (re.compile(r"\(TIMESTAMP\(NANOS,false\)\)"), "timestamp_ntz_nanos"),
    (re.compile(r"\(TIME\(MILLIS,\w+\)\)"), "time_millis"),
    (re.compile(r"\(TIME\(MICROS,\w+\)\)"), "time_micros"),
    (re.compile(r"\(TIME\(NANOS,\w+\)\)"), "time_nanos"),
    (re.compile(r"\(UUID\)"), "uuid"),
)
"""What follows a field in the text of a Parquet schema -> our name of its type."""

_PAGES = re.compile(r"encodings:\[([^\]]*)\], path_in_schema:\[([^\]]*)\], codec:(\w+)")
"""What the text of a row group says of a column: its encodings, its path and its codec."""
_NO_CODEC, _NO_ENCODING = ("BROTLI", "LZO"), ("BYTE_STREAM_SPLIT",)
"""What Spark 3.5 cannot read: it has no class for the one, no decoder for the other."""

_LAND_AGAIN = "Land it again, or remove it"

VARIANT = "VARIANT"
_VARIANT_FIELDS = [("metadata", "binary"), ("value", "binary")]
_NULL, _UNKNOWN = "UNKNOWN:NullType", "<LogicalType >"
"""How the text of a footer's schema shows the null type, and one that is not known."""


@dataclass(frozen=True)
class _Annotations:
    """What a footer says of columns and fields that Parquet's library drops or refuses."""

    untyped: FrozenSet[str] = frozenset()
    """Paths of those of the null type: none has a value, and their number type is none."""
    newer: Tuple[Tuple[str, str], ...] = ()
    """(path, type) of those whose type this release of the library does not know."""
    pages: Tuple[Tuple[str, str], ...] = ()
    """(column, how its pages are written) of those that Spark cannot read."""

    def has_untyped(self, column: str) -> bool:
        """Return whether a column, or something in it, is of the null type."""
        inside = f"{column}."
        return any(each == column or each.startswith(inside) for each in self.untyped)


def described_by_footer(
    spark: SparkSession, store: ObjectStore, file: LandingFile, spec: FileTable
) -> Shape:
    """Return the shape of a file. Raise BadFile with what is wrong with it."""
    metadata, annotations = _metadata(spark, _footer(store, file), file)
    named = named_class(notes(metadata))
    if named:
        raise ClassInFile(
            file.path,
            f"the footer names code for its readers to run, in {named}. Write the column"
            " as one of Parquet's own types, and land the file again; if nobody knows why"
            " it does so, find out who landed it.",
        )
    columns, unreadable = _columns(spark, metadata, annotations)
    claimed = Names(spec).claimed
    unreadable += [
        (name, VARIANT)
        for name, kind in columns
        if _is_variant(kind) and name.lower() not in claimed
    ]
    if unreadable := _read(unreadable, spec, claimed):
        raise WrongTypes(file.path, _unreadable(unreadable[:3]))
    if pages := _read(annotations.pages, spec, claimed):
        name, written = pages[0]
        raise UnreadableFile(
            file.path,
            f"column {name[:200]!r} is {written}, which Spark does not read. Write the"
            " file with zstd, snappy or gzip, and with a plain or dictionary encoding,"
            " and land it again.",
        )
    return Shape(tuple(columns))


def _read(
    columns: Iterable[Tuple[str, str]], spec: FileTable, claimed: Collection[str]
) -> List[Tuple[str, str]]:
    """Return the columns, each with what is wrong with it, that the table reads."""
    if spec.source.new_columns is not NewColumns.IGNORE:
        return list(columns)
    return [each for each in columns if each[0].lower() in claimed]


def _metadata(
    spark: SparkSession, footer: bytes, file: LandingFile
) -> Tuple[Any, _Annotations]:
    """Return the file's schema and notes, an object of Java's, and what it leaves out."""
    try:
        parsed = parsed_footer(spark, footer)
        annotations = replace(
            _annotations(parsed.getSchema()), pages=_unreadable_pages(spark, parsed)
        )
        if not annotations.newer:
            return with_parquet_types(spark, parsed), annotations
    except NOT_OF_A_FILE:
        raise
    except Exception as error:  # py4j wraps each of Java's
        raise UnreadableFile(
            file.path,
            f"the footer of the parquet file cannot be read ({first_line(error)}): the"
            f" file is damaged. {_LAND_AGAIN}.",
        ) from None
    raise WrongTypes(file.path, _unreadable(list(annotations.newer[:3])))


def _unreadable(columns: List[Tuple[str, str]]) -> str:
    listed = ", ".join(f"column {name[:200]!r} is {kind}" for name, kind in columns)
    return (
        f"{listed}, for which the lake has no type. Write it as another type in the export"
        " (FLOAT16 as float, a decimal with at most 38 digits or as text, an interval as"
        " text or a number, VARIANT as JSON text), and land the file again."
    )


def _footer(store: ObjectStore, file: LandingFile) -> bytes:
    """Return the file's metadata as its end has it.

    Raise UnreadableFile where the end is missing.
    """
    try:
        read = store.read_end(file.uri, min(_MOST_FOOTERS, file.size))
        end = read[-_FOOTER_END:]
        length = int.from_bytes(end[:4], "little")
        if end[4:] == _ENCRYPTED:
            raise UnreadableFile(
                file.path,
                "is an encrypted parquet file (it ends with PARE). Write it without"
                " encryption of the footer.",
            )
        if end[4:] != _MAGIC or length + _FOOTER_END > file.size:
            raise UnreadableFile(
                file.path,
                "is cut, damaged or not a parquet file: its end has no footer (it ends with"
                f" {quoted_value(end[4:])}, not {_MAGIC!r}). {_LAND_AGAIN}.",
            )
        if length + _FOOTER_END > len(read):
            read = store.read_end(file.uri, length + _FOOTER_END)
        return read[-length - _FOOTER_END : -_FOOTER_END]
    except KeyError:
        raise UnreadableFile(file.path, REMOVED) from None


def _columns(
    spark: SparkSession, metadata: Any, annotations: _Annotations
) -> Tuple[List[Tuple[str, ColumnType]], List[Tuple[str, str]]]:
    """Return columns with their types, and those without one: (name, Parquet's type)."""
    schema = metadata.getSchema()
    if _own_type(schema) is None and not annotations.untyped:
        try:
            return typed_names(columns_of(spark, metadata)), []
        except NOT_OF_A_FILE:
            raise
        except Exception:  # which column has no type, Spark does not say
            pass
    found, unreadable = [], []
    plain = _Plain(spark)
    untyped = annotations.untyped
    for at in range(schema.getFieldCount()):
        field, name = schema.getType(at), schema.getFieldName(at)
        is_special = _own_type(field) is not None or annotations.has_untyped(name)
        try:
            kind = plain.type_of(plain.stripped(field) if is_special else field)
        except NOT_OF_A_FILE:
            raise
        except Exception:  # Spark has no type for it either way
            unreadable.append((name, _shown(field.toString())))
            continue
        if is_special:
            kind = _with_own_types(field, kind, name, untyped)
        found.append((name, kind))
    return found, unreadable


def _is_variant(kind: ColumnType) -> bool:
    """Return whether a column is what Spark 4 writes of a VARIANT, without saying so."""
    return kind.name == "struct" and (
        sorted(zip(kind.fields, (each.name for each in kind.inner))) == _VARIANT_FIELDS
    )


def _shown(text: str) -> str:
    """Return `FIXED_LEN_BYTE_ARRAY(12) (X)` of Parquet's `optional fixed_len... i (X)`."""
    words = " ".join(text.split())
    match = re.fullmatch(r"\w+ (\w+(?:\(\d+\))?) .*?(\([A-Z].*\))?", words)
    return " ".join(each for each in match.groups() if each) if match else words[:200]


class _Plain:
    """Parquet types without what Spark does not know, and Spark's types of them."""

    def __init__(self, spark: SparkSession) -> None:
        self._jvm = java.packages(spark)
        self._types = SparkTypes(spark)

    def type_of(self, field: Any) -> ColumnType:
        """Return Spark's type of a field."""
        fields = self._jvm.java.util.ArrayList()
        fields.add(field)
        message = self._jvm.org.apache.parquet.schema.MessageType("one", fields)
        return column_type(self._types.of(message)[0].dataType)

    def stripped(self, field: Any) -> Any:
        """Return the same field with plain numbers and bytes for the types of `_KINDS`."""
        if field.isPrimitive():
            if _own_type(field) is None:
                return field
            return self._jvm.org.apache.parquet.schema.PrimitiveType(
                field.getRepetition(),
                field.getPrimitiveTypeName(),
                field.getTypeLength(),
                field.getName(),
            )
        fields = self._jvm.java.util.ArrayList()
        for each in _fields(field):
            fields.add(self.stripped(each))
        return field.withNewFields(fields)


def _fields(group: Any) -> List[Any]:
    return [group.getType(at) for at in range(group.getFieldCount())]


def _own_type(field: Any) -> Optional[str]:
    text = field.toString()
    return next((name for kind, name in _KINDS if kind.search(text)), None)


def _with_own_types(
    field: Any, kind: ColumnType, path: str, untyped: FrozenSet[str]
) -> ColumnType:
    """Return Spark's type of a stripped field, with the types that were stripped."""
    if field.isPrimitive():
        own = NULL_TYPE if path in untyped else _own_type(field)
        return kind if own is None else _leaf(kind, ColumnType(own))
    if kind.name == "struct":
        return _inside(field, kind, path, untyped)
    (repeated,) = _fields(field)
    path = f"{path}.{repeated.getName()}"
    if kind.name == "map":
        return _inside(repeated, kind, path, untyped)
    element = kind.inner[0]
    is_itself = repeated.isPrimitive() or (
        element.name == "struct" and len(element.inner) == repeated.getFieldCount() > 1
    )
    inner = repeated if is_itself else repeated.getType(0)
    path = path if is_itself else f"{path}.{inner.getName()}"
    return replace(kind, inner=(_with_own_types(inner, element, path, untyped),))


def _inside(
    group: Any, kind: ColumnType, path: str, untyped: FrozenSet[str]
) -> ColumnType:
    """Return the type with the own types of a group's fields for its parts."""
    inner = tuple(
        _with_own_types(each, part, f"{path}.{each.getName()}", untyped)
        for each, part in zip(_fields(group), kind.inner)
    )
    return replace(kind, inner=inner)


def _leaf(kind: ColumnType, own: ColumnType) -> ColumnType:
    """Return the type of a repeated field.

    Without a list around it, it is an array to Spark.
    """
    if kind.name == "array":
        return replace(kind, inner=(own,))
    return own


def _annotations(elements: Any) -> _Annotations:
    """Return what a footer's schema, Java's list, says of its columns and fields."""
    text = elements.toString()
    if _NULL not in text and _UNKNOWN not in text:
        return _Annotations()
    untyped, newer = set(), []
    for path, element in _placed(elements):
        if not element.isSetLogicalType():
            continue
        kind = element.getLogicalType()
        if not kind.isSet():
            newer.append((path, _newer_type(element)))
        elif kind.isSetUNKNOWN() and element.getType().toString() == "INT32":
            untyped.add(path)
    return _Annotations(frozenset(untyped), tuple(newer))


def _unreadable_pages(spark: SparkSession, parsed: Any) -> Tuple[Tuple[str, str], ...]:
    """Return columns whose pages Spark cannot read, by the first row group of a file."""
    if not parsed.getRow_groupsSize():
        return ()
    group = parsed.getRow_groups().get(0)
    text = java.packages(spark).java.lang.StringBuilder()
    text.append(group)  # looked through in Java: to bring it here takes 44 ms a file
    if all(text.indexOf(each) < 0 for each in (*_NO_CODEC, *_NO_ENCODING)):
        return ()
    found = []
    for encodings, path, codec in _PAGES.findall(group.toString()):
        column = path.partition(", ")[0]
        if codec in _NO_CODEC:
            found.append((column, f"compressed by {codec}"))
        found += [(column, f"encoded as {e}") for e in _NO_ENCODING if e in encodings]
    return tuple(found)


def _placed(elements: Any) -> Iterator[Tuple[str, Any]]:
    """Yield the elements of a schema but its root, each with its path."""
    open_groups: List[List[Any]] = []
    for at in range(elements.size()):
        element = elements.get(at)
        while open_groups and open_groups[-1][1] == 0:
            open_groups.pop()
        path = [name for name, _ in open_groups[1:]] + [element.getName()]
        if open_groups:
            open_groups[-1][1] -= 1
            yield ".".join(path), element
        if element.isSetNum_children() and element.getNum_children():
            open_groups.append([element.getName(), element.getNum_children()])


def _newer_type(element: Any) -> str:
    """Return what a column is whose type the library does not know, as far as its form says."""
    if element.isSetNum_children() and element.getNum_children() in (2, 3):
        return VARIANT
    if element.isSetType_length() and element.getType_length() == 2:
        return "FLOAT16"
    return "of a type that is newer than this release"
