"""Sources of tables and the formats of their files."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Optional, Tuple, Union

from lake_spec.model.choices import (
    AbsentFields,
    DuplicateKeys,
    JsonLayout,
    MissingColumns,
    MissingKeys,
    NewColumns,
    Presence,
)
from lake_spec.model.enrichment import Enrichment
from lake_spec.model.envelopes import Debezium
from lake_spec.model.limits import Limits, SHARE
from lake_spec.model.number_format import NumberFormat
from lake_spec.model.product import Product
from lake_spec.model.pulls import Changes, JdbcTable
from lake_spec.model.spec_field import setting

CHARSETS = {
    "utf-8": "UTF-8",
    "utf8": "UTF-8",
    "latin-1": "ISO-8859-1",
    "iso-8859-1": "ISO-8859-1",
    "windows-1252": "windows-1252",
    "utf-16": "UTF-16",
    "utf-16le": "UTF-16LE",
    "utf-16be": "UTF-16BE",
}
"""Encodings of text files that can be declared, in any case, by Java's names."""


@dataclass(frozen=True)
class Csv:
    """Delimited text, plain or compressed (.gz, .bz2, .zst)."""

    type: ClassVar[str] = "csv"
    header: bool = setting("Read column names from the first record.", True)
    skip_lines: int = setting(
        "Lines above the header, or above the first record, that are left out, such as "
        "`sep=;` or a title. Empty ones count.",
        0,
        example=1,
        limits=Limits(0, 100),
    )
    delimiter: str = setting("Separator of fields, one character.", ",")
    quote: str = setting("Quote of fields, one character; doubled inside them.", '"')
    encoding: str = setting(
        "Encoding of the files: utf-8, latin-1, windows-1252, utf-16 (byte order from "
        "its mark), utf-16le or utf-16be. A file with other bytes is rejected.",
        "UTF-8",
    )
    multiline: bool = setting("Allow line breaks in quoted fields.", True)
    null_text: Tuple[str, ...] = setting(
        "Texts that mean null.", ("",), example=["", "NULL"]
    )
    quoted_null: bool = setting(
        'Quoted texts of `null_text` mean null too. False: "" is the empty text, and '
        "nothing between two delimiters null, as PostgreSQL's COPY writes them.",
        True,
    )
    escape: Optional[str] = setting(
        "Character before one that stands for itself, in quoted and other fields: a "
        "delimiter, a quote, a line break, the escape; n, r, t, b, f, v and 0 mean "
        "control characters, and a field that is the escape and N means null.",
        None,
        example="\\",
    )
    numbers: Optional[NumberFormat] = setting(
        "How numbers are written, where that is not as in 1234.56.",
        None,
        example={"decimal": ",", "group": "."},
    )

    @property
    def tells_nulls(self) -> bool:
        """Whether what a field means depends on how it is written: null or a text."""
        return self.escape is not None or not (self.quoted_null or not self.null_text)

    @property
    def has_own_fields(self) -> bool:
        """Whether Spark's parser loses how a field is written, or takes what is no record."""
        is_plain = self.quoted_null or self.null_text in ((), ("",))
        return self.escape is not None or not is_plain or self.skip_lines > 0


@dataclass(frozen=True)
class Json:
    """JSON objects, plain or compressed (.gz, .bz2, .zst)."""

    type: ClassVar[str] = "json"
    layout: JsonLayout = setting(
        "How the objects stand in a file.", JsonLayout.LINES, example="array"
    )
    null_text: Tuple[str, ...] = setting("Texts that mean null.", ())
    extended: bool = setting(
        'Unwrap values as MongoDB exports them: {"$oid": "65a1"} is read as 65a1.',
        False,
    )

    @property
    def is_array(self) -> bool:
        """Whether each file is one array."""
        return self.layout is JsonLayout.ARRAY


@dataclass(frozen=True)
class Parquet:
    """Apache Parquet files."""

    type: ClassVar[str] = "parquet"
    null_text: Tuple[str, ...] = setting("Texts that mean null.", ())


@dataclass(frozen=True)
class Avro:
    """Apache Avro container files."""

    type: ClassVar[str] = "avro"
    null_text: Tuple[str, ...] = setting("Texts that mean null.", ())


@dataclass(frozen=True)
class Orc:
    """Apache ORC files."""

    type: ClassVar[str] = "orc"
    null_text: Tuple[str, ...] = setting("Texts that mean null.", ())


Format = Union[Csv, Json, Parquet, Avro, Orc]


@dataclass(frozen=True)
class SnapshotTime:
    """Place of the snapshot time: in the path or in a column of the file."""

    pattern: Optional[str] = setting(
        "Regular expression over the file's path below `path`; its one group is the "
        "snapshot time.",
        None,
        example=r"artists_(\d{4}-\d{2}-\d{2})",
    )
    column: Optional[str] = setting(
        "Source column that has the snapshot time in all rows of a file; not a column "
        "of the table.",
        None,
        example="exported_at",
    )
    format: str = setting(
        "Format of that text, as in strptime; with %z for an offset (+0200, +02:00, Z). "
        "Without, it is a time in `timezone`.",
        "%Y-%m-%d",
    )


@dataclass(frozen=True)
class Complete:
    """How to recognize a complete snapshot of several files: exactly one of these."""

    marker: Optional[str] = setting(
        "Name, or glob below `path`, of an object that is written after the last file "
        "of a snapshot.",
        None,
        example="_SUCCESS",
    )
    parts: Union[int, str, None] = setting(
        "Number of files in each snapshot, or a regular expression over the file's "
        "path below `path`: its first group is the number of the part, from 0 or 1 "
        "on, the second the number of parts (or groups named `part` and `count`).",
        None,
        example=r"part-(\d+)-of-(\d+)",
    )
    manifest: Optional[str] = setting(
        "Name, or glob below `path`, of an object that lists the files of a snapshot: "
        "a JSON list or one name per line.",
        None,
        example="manifest.json",
    )


@dataclass(frozen=True)
class Scope:
    """Scope of one snapshot: the rows of some values of a column."""

    column: str = setting(
        "Column of the table; a snapshot covers the values that it has in this column.",
        example="region",
    )
    pattern: Optional[str] = setting(
        "Regular expression over the file's path below `path`; its one group is the "
        "column's value for all rows of the file, and the scope that the file covers.",
        None,
        example="region=([^/]+)/",
    )


@dataclass(frozen=True)
class DeletedWhen:
    """The column that tells a delete by having a value, or by having none."""

    column: str = setting(
        "Column of the table, or field inside a column of the files, as in "
        "`data.deleted_at`.",
        example="deleted_at",
    )
    is_: Optional[Presence] = setting(
        "What the column is of a deleted row.", Presence.NOT_NULL
    )

    @property
    def is_null(self) -> bool:
        """True if a deleted row has no value: `null` as a word, or as YAML's own."""
        return self.is_ is not Presence.NOT_NULL


@dataclass(frozen=True)
class Operation:
    """What says what happened to the row of a change feed: words of a column, or a value."""

    column: Optional[str] = setting(
        "Name of the column in the files, with the words below; if left out, all rows "
        "are upserts but those of `deleted_when`.",
        None,
        example="Op",
    )
    upsert: Tuple[str, ...] = setting(
        "Values for inserts and updates.", ("I", "U", "c", "u", "r")
    )
    delete: Tuple[str, ...] = setting("Values for deletes.", ("D", "d"))
    load: Tuple[str, ...] = setting(
        "Values for rows of the first full load among the changes.", ()
    )
    truncate: Tuple[str, ...] = setting(
        "Values for truncates: a delete of every key, in a row without key.",
        ("T", "t"),
    )
    ignore: Tuple[str, ...] = setting(
        "Values for records that are no changes, such as images from before an update: "
        "they are counted and left out.",
        (),
        example=["update_preimage"],
    )
    before: Optional[str] = setting(
        "Name of the column or field with a key column's value before an update, where "
        "`{column}` stands for its name in the source without what is before its last "
        "dot; an update of the key is then a delete of the old one too.",
        None,
        example="BI_{column}",
    )
    deleted_when: Optional[DeletedWhen] = setting(
        "Deletes that a column tells beside the words: rows of which it has a value, such "
        "as the time of the delete.",
        None,
        example={"column": "deleted_at", "is": "not_null"},
    )

    @property
    def has_deletes(self) -> bool:
        """True if a row may be a delete."""
        return bool(self.column and self.delete) or self.deleted_when is not None

    @property
    def columns(self) -> Tuple[str, ...]:
        """The names in the files, or of the table, that tell what happened."""
        told_by = self.deleted_when.column if self.deleted_when else None
        return tuple(name for name in (self.column, told_by) if name)


@dataclass(frozen=True)
class FullRefresh:
    """Full loads after the first; keys that one lacks are gone since it started."""

    pattern: str = setting(
        "Regular expression over the file's path below `path`; its groups, named as "
        "the columns of `order_by`, give the position at which the full refresh "
        "started.",
        example=r"reload/(?P<updated_at>[^/]+)/",
    )
    files: str = setting("Files of a full refresh, as a glob.", "reload/**")
    format: str = setting(
        "Format of a time in the path, as in strptime.", "%Y-%m-%dT%H-%M-%S"
    )
    missing_keys: MissingKeys = setting("Meaning of a missing key.", MissingKeys.DELETE)
    lost_share: float = setting(
        "Largest share of keys that a full refresh may lose.", 0.5, limits=SHARE
    )


# What a source of landing files declares of them, be they snapshots or changes.
_late_after_hours = partial(
    setting,
    "Hours since the newest file landed after which the source is late.",
    None,
    example=26,
    limits=Limits(0.1, 10_000),
)
_timezone = partial(setting, "Time zone of timestamps without one.", "UTC")
_new_columns = partial(
    setting,
    "Handling of undeclared source columns.",
    NewColumns.ADD,
)
_missing_columns = partial(
    setting,
    "Handling of a file that lacks a declared column.",
    MissingColumns.WARN,
)


def _duplicate_keys(
    words: str = "Handling of rows of one snapshot that have one key and differ.",
) -> Any:
    return setting(words, DuplicateKeys.QUARANTINE)


@dataclass(frozen=True)
class Snapshot:
    """Full copies that come again; each is compared with the one before."""

    kind: ClassVar[str] = "snapshot"
    path: str = setting("Folder below the landing area.", example="moma/artists")
    files: str = setting("Files in this folder, as a glob.", example="artists_*.csv.gz")
    format: Format = setting("File format.", example={"type": "csv"})
    snapshot_time: SnapshotTime = setting(
        "Place of the snapshot time.",
        example={"pattern": r"artists_(\d{4}-\d{2}-\d{2})"},
    )
    pulled_from: Optional[JdbcTable] = setting(
        "Database table that each run pulls a snapshot from; if left out, another "
        "system lands the files.",
        None,
        example={"connection": "shop_db", "table": "public.artists"},
    )
    complete: Optional[Complete] = setting(
        "How to recognize that all files of a snapshot have landed; if left out, a "
        "snapshot is one file.",
        None,
        example={"marker": "_SUCCESS"},
    )
    missing_keys: MissingKeys = setting("Meaning of a missing key.", MissingKeys.DELETE)
    lost_share: float = setting(
        "Largest share of keys that a snapshot may lose.", 0.5, limits=SHARE
    )
    may_be_empty: bool = setting("Accept snapshots without rows.", False)
    duplicate_keys: DuplicateKeys = _duplicate_keys()
    scope: Optional[Scope] = setting(
        "Scope of one snapshot, if it does not cover the whole table.", None
    )
    late_after_hours: Optional[float] = _late_after_hours()
    timezone: str = _timezone()
    new_columns: NewColumns = _new_columns()
    missing_columns: MissingColumns = _missing_columns()


@dataclass(frozen=True)
class Feed:
    """A full load and, after it, change events."""

    kind: ClassVar[str] = "feed"
    path: str = setting("Folder below the landing area.", example="sales/orders")
    format: Format = setting("File format.", example={"type": "csv"})
    load: str = setting("Files of the full load, as a glob.", "load/*")
    changes: str = setting("Files with changes, as a glob.", "changes/*")
    operation: Optional[Operation] = setting(
        "Column that says whether a row is an upsert or a delete; if left out, all "
        "rows are upserts.",
        None,
    )
    envelope: Optional[Debezium] = setting(
        "Format that wraps the rows of change files; it also sets operation, order_by "
        "and effective_at, where these are left out.",
        None,
        example={"connector": "postgresql"},
    )
    load_from: Optional[JdbcTable] = setting(
        "Database table that the full load is pulled from; if left out, another "
        "system lands the files.",
        None,
        example={"connection": "shop_db", "table": "public.orders"},
    )
    changes_from: Optional[Changes] = setting(
        "Source that each run pulls changes from; if left out, another system lands "
        "the files.",
        None,
        example={
            "kind": "kafka",
            "connection": "shop_kafka",
            "topic": "shop.public.orders",
        },
    )
    full_refresh: Optional[FullRefresh] = setting(
        "Full refreshes: full loads after the first.", None
    )
    path_columns: Tuple[Tuple[str, str], ...] = setting(
        "Columns of the table whose values the paths of the files have: for each a "
        "regular expression over the file's path below `path`, whose one group is the "
        "column's value for all rows of the file.",
        (),
        example={"region": "region=([^/]+)/"},
    )
    duplicate_keys: DuplicateKeys = _duplicate_keys(
        "Handling of rows of the full load that have one key and differ, where no "
        "order_by says which is newer (pulled: in any case).",
    )
    ignore_columns: Tuple[str, ...] = setting(
        "Undeclared source columns that are never added, such as generated columns "
        "that the feed does not send in changes.",
        (),
        example=["total_with_tax"],
    )
    enrich: Tuple[Enrichment, ...] = setting(
        "Reference tables whose columns are added to each row at ingestion.", ()
    )
    placeholder: Optional[str] = setting(
        "Text that marks an unchanged value which the source did not send; with an "
        "envelope `__debezium_unavailable_value`, else none.",
        None,
        example="__debezium_unavailable_value",
    )
    absent_fields: AbsentFields = setting(
        "Meaning of a field that a record of JSON lacks; null is no value in any case.",
        AbsentFields.NO_VALUE,
    )
    late_after_hours: Optional[float] = _late_after_hours()
    timezone: str = _timezone()
    new_columns: NewColumns = _new_columns()
    missing_columns: MissingColumns = _missing_columns()


@dataclass(frozen=True)
class Side:
    """One of the two tables of a dimension."""

    shorthand: ClassVar[str] = "table"
    table: str = setting(
        "Name of the table, in the same domain.", example="customer_address"
    )
    columns: Tuple[str, ...] = setting(
        "Columns that the dimension shows; if left out, all.", ()
    )
    rename: Tuple[Tuple[str, str], ...] = setting(
        "New names of columns in the dimension.",
        (),
        example={"updated_at": "address_updated_at"},
    )


@dataclass(frozen=True)
class Dimension:
    """Two tables as one: their histories, joined by the key. No files of its own."""

    kind: ClassVar[str] = "dimension"
    main: Side = setting(
        ("Table that defines the keys of the dimension."), example="customer_master"
    )
    joined: Side = setting(
        "Table that adds columns; null where it has no row for a key.",
        example="customer_address",
    )


Landed = Union[Snapshot, Feed]
Source = Union[Snapshot, Feed, Dimension, Product]
