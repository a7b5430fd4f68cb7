"""The columns of Parquet files, by their footers; of types without Spark's too.

Spark refuses a whole file for one column that it has no type for, and names none. What it
can read as a plain number or as bytes keeps its own type in the file's shape, and
schema/casts.py makes values of it; another one is refused by name.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, Iterator, List, Optional, Tuple

from pyspark.sql import SparkSession

from lake_spec.model import NewColumns, TableSpec
from lake_spec.model.column_type import ColumnType
from lake_spec.text.marked_values import quoted_value
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
from lake_spark.schema.spark_types import column_type, typed_names
from lake_spark.storage.object_store import ObjectStore
from lake_spark.storage.parquet_file import (
    columns_of,
    file_metadata,
    notes,
    SparkTypes,
)
from lake_spark.storage.session import JAVA_ENDED

_MAGIC = b"PAR1"
_ENCRYPTED = b"PARE"
_FOOTER_END = 8
"""Bytes at the end of a file: the length of its footer, and the magic."""

_KINDS = (
    (re.compile(r"\(TIMESTAMP\(NANOS,true\)\)"), "timestamp_nanos"),
    (re.compile(r"\(TIMESTAMP\(NANOS,false\)\)"), "timestamp_ntz_nanos"),
    (re.compile(r"\(TIME\(MILLIS,\w+\)\)"), "time_millis"),
    (re.compile(r"\(TIME\(MICROS,\w+\)\)"), "time_micros"),
    (re.compile(r"\(TIME\(NANOS,\w+\)\)"), "time_nanos"),
    (re.compile(r"\(UUID\)"), "uuid"),
)
"""What follows a field in the text of a Parquet schema -> our name of its type."""

_LAND_AGAIN = "Land it again, or remove it"


def described_by_footer(
    spark: SparkSession, store: ObjectStore, file: LandingFile, spec: TableSpec
) -> Shape:
    """Return the shape of a file. Raise BadFile with what is wrong with it."""
    metadata = _metadata(spark, store, file)
    named = named_class(notes(metadata))
    if named:
        raise ClassInFile(
            file.path,
            f"the footer names code for its readers to run, in {named}. Write the column"
            " as one of Parquet's own types, and land the file again; if nobody knows why"
            " it does so, find out who landed it.",
        )
    columns, unreadable = _columns(spark, metadata)
    if spec.source.new_columns is NewColumns.IGNORE:
        claimed = Names(spec).claimed
        unreadable = [each for each in unreadable if each[0].lower() in claimed]
    if unreadable:
        raise WrongTypes(file.path, _unreadable(unreadable[:3]))
    return Shape(tuple(each for each in columns if each[1].name != "void"))


def _metadata(spark: SparkSession, store: ObjectStore, file: LandingFile) -> Any:
    """Return the file's schema and notes, an object of Java's."""
    try:
        return file_metadata(spark, file.uri)
    except JAVA_ENDED:
        raise
    except Exception as error:  # py4j wraps each of Java's
        newer = list(_newer_types(spark._jvm, _footer(store, file)))
        if not newer:
            raise UnreadableFile(
                file.path,
                f"the footer of the parquet file cannot be read ({first_line(error)}): the"
                f" file is damaged. {_LAND_AGAIN}.",
            ) from None
        raise WrongTypes(file.path, _unreadable(newer[:3])) from None


def _unreadable(columns: List[Tuple[str, str]]) -> str:
    listed = ", ".join(f"column {name[:200]!r} is {kind}" for name, kind in columns)
    return (
        f"{listed}, for which the lake has no type. Write it as another type in the export"
        " (FLOAT16 as float, a decimal with at most 38 digits or as text, an interval as"
        " text or a number), and land the file again."
    )


def _footer(store: ObjectStore, file: LandingFile) -> bytes:
    """Return the file's metadata as its end has it.

    Raise UnreadableFile where the end is missing.
    """
    try:
        end = store.read_end(file.uri, _FOOTER_END)
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
        return store.read_end(file.uri, length + _FOOTER_END)[:length]
    except KeyError:
        raise UnreadableFile(file.path, REMOVED) from None


def _columns(
    spark: SparkSession, metadata: Any
) -> Tuple[List[Tuple[str, ColumnType]], List[Tuple[str, str]]]:
    """Return columns with their types, and those without one: (name, Parquet's type)."""
    schema = metadata.getSchema()
    if _own_type(schema) is None:
        try:
            return typed_names(columns_of(spark, metadata)), []
        except JAVA_ENDED:
            raise
        except Exception:  # which column has no type, Spark does not say
            pass
    found, unreadable = [], []
    plain = _Plain(spark)
    for at in range(schema.getFieldCount()):
        field = schema.getType(at)
        is_special = _own_type(field) is not None
        try:
            kind = plain.type_of(plain.stripped(field) if is_special else field)
        except JAVA_ENDED:
            raise
        except Exception:  # Spark has no type for it either way
            unreadable.append((field.getName(), _shown(field.toString())))
            continue
        found.append(
            (field.getName(), _with_own_types(field, kind) if is_special else kind)
        )
    return found, unreadable


def _shown(text: str) -> str:
    """Return `FIXED_LEN_BYTE_ARRAY(12) (X)` of Parquet's `optional fixed_len... i (X)`."""
    words = " ".join(text.split())
    match = re.fullmatch(r"\w+ (\w+(?:\(\d+\))?) .*?(\([A-Z].*\))?", words)
    return " ".join(each for each in match.groups() if each) if match else words[:200]


class _Plain:
    """Parquet types without what Spark does not know, and Spark's types of them."""

    def __init__(self, spark: SparkSession) -> None:
        self._jvm = spark._jvm
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


def _with_own_types(field: Any, kind: ColumnType) -> ColumnType:
    """Return Spark's type of a stripped field, with the types that were stripped."""
    if field.isPrimitive():
        own = _own_type(field)
        return kind if own is None else _leaf(kind, ColumnType(own))
    if kind.name == "struct":
        pairs = zip(_fields(field), kind.inner)
        return replace(kind, inner=tuple(_with_own_types(*pair) for pair in pairs))
    (repeated,) = _fields(field)
    if kind.name == "map":
        pairs = zip(_fields(repeated), kind.inner)
        return replace(kind, inner=tuple(_with_own_types(*pair) for pair in pairs))
    element = kind.inner[0]
    is_itself = repeated.isPrimitive() or (
        element.name == "struct" and len(element.inner) == repeated.getFieldCount() > 1
    )
    inner = repeated if is_itself else repeated.getType(0)
    return replace(kind, inner=(_with_own_types(inner, element),))


def _leaf(kind: ColumnType, own: ColumnType) -> ColumnType:
    """Return the type of a repeated field.

    Without a list around it, it is an array to Spark.
    """
    if kind.name == "array":
        return replace(kind, inner=(own,))
    return own


def _newer_types(jvm: Any, footer: bytes) -> Iterator[Tuple[str, str]]:
    """Yield columns of types that this release of Parquet does not know, by their paths."""
    stream = jvm.java.io.ByteArrayInputStream(bytearray(footer))
    try:
        elements = jvm.org.apache.parquet.format.Util.readFileMetaData(
            stream
        ).getSchema()
    except Exception:  # py4j wraps each of Java's
        return
    open_groups: List[List[Any]] = []
    for at in range(elements.size()):
        element = elements.get(at)
        while open_groups and open_groups[-1][1] == 0:
            open_groups.pop()
        path = [name for name, _ in open_groups[1:]] + [element.getName()]
        if open_groups:
            open_groups[-1][1] -= 1
        if element.isSetNum_children() and element.getNum_children():
            open_groups.append([element.getName(), element.getNum_children()])
        elif element.isSetLogicalType() and not element.getLogicalType().isSet():
            half = element.isSetType_length() and element.getType_length() == 2
            name = "FLOAT16" if half else "of a type that is newer than this release"
            yield ".".join(path), name
