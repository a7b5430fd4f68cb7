"""Where a table's rows come from, and what their files are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Optional, Tuple, Union

from lake_spec.model.choices import MissingKeys, NewColumns
from lake_spec.model.enrichment import Enrichment
from lake_spec.model.envelopes import Debezium
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
    """Delimited text, plain or compressed (.gz, .bz2; .zst by `engine: pyspark`)."""

    type: ClassVar[str] = "csv"
    header: bool = setting("Whether the first record names the columns.", True)
    delimiter: str = setting("One character between fields.", ",")
    quote: str = setting("One character around fields; doubled inside them.", '"')
    encoding: str = setting(
        "Encoding of the files: utf-8, latin-1, windows-1252, utf-16 (told by its byte"
        " order mark), utf-16le or utf-16be. Bytes that are none of it refuse the file.",
        "UTF-8",
    )
    multiline: bool = setting("Whether quoted fields may hold line breaks.", True)
    null_text: Tuple[str, ...] = setting(
        "Texts that mean: no value.", ("",), example=["", "NULL"]
    )


@dataclass(frozen=True)
class Json:
    """One JSON object a line, plain or compressed (.gz, .bz2; .zst by `engine: pyspark`)."""

    type: ClassVar[str] = "json"
    null_text: Tuple[str, ...] = setting("Texts that mean: no value.", ())
    extended: bool = setting(
        "Whether values may be wrapped as MongoDB exports them, as in"
        ' {"$oid": "65a1"}: they are read as what is inside.',
        False,
    )


@dataclass(frozen=True)
class Parquet:
    """Apache Parquet files."""

    type: ClassVar[str] = "parquet"
    null_text: Tuple[str, ...] = setting("Texts that mean: no value.", ())


@dataclass(frozen=True)
class Avro:
    """Apache Avro container files."""

    type: ClassVar[str] = "avro"
    null_text: Tuple[str, ...] = setting("Texts that mean: no value.", ())


@dataclass(frozen=True)
class Orc:
    """Apache ORC files."""

    type: ClassVar[str] = "orc"
    null_text: Tuple[str, ...] = setting("Texts that mean: no value.", ())


Format = Union[Csv, Json, Parquet, Avro, Orc]


@dataclass(frozen=True)
class SnapshotTime:
    """Where the time of a snapshot is written: in the path or in a column of the file."""

    pattern: Optional[str] = setting(
        "Regular expression over the file's path below `path`; its one group is the time.",
        None,
        example=r"artists_(\d{4}-\d{2}-\d{2})",
    )
    column: Optional[str] = setting(
        "Source column in which all rows of a file hold the time; not one of the table's.",
        None,
        example="exported_at",
    )
    format: str = setting("How that text is a time, as in strptime.", "%Y-%m-%d")


@dataclass(frozen=True)
class Complete:
    """How a snapshot of several files says that all of them are there: one of these."""

    marker: Optional[str] = setting(
        "Name, or glob below `path`, of an object that is put after the last file of a"
        " snapshot.",
        None,
        example="_SUCCESS",
    )
    parts: Union[int, str, None] = setting(
        "How many files each snapshot has, or a regular expression over the file's path"
        " below `path`: its first group is the number of the part, from 0 or 1 on, the"
        " second how many there are (or groups named `part` and `count`).",
        None,
        example=r"part-(\d+)-of-(\d+)",
    )
    manifest: Optional[str] = setting(
        "Name, or glob below `path`, of an object that lists the files of a snapshot: a"
        " JSON list or one name a line.",
        None,
        example="manifest.json",
    )


@dataclass(frozen=True)
class Scope:
    """What one snapshot is a full copy of: the rows of some values of a column."""

    column: str = setting(
        "Column of the table; a snapshot covers the values that its rows have in it.",
        example="region",
    )
    pattern: Optional[str] = setting(
        "Regular expression over the file's path below `path`; its one group is the value"
        " of the column for all rows of the file, and what the file covers.",
        None,
        example="region=([^/]+)/",
    )


@dataclass(frozen=True)
class Operation:
    """The column of a change feed that says what happened to the row."""

    column: str = setting("Name of the column in the files.", example="Op")
    upsert: Tuple[str, ...] = setting(
        "Its values for inserts and updates.", ("I", "U", "c", "u", "r")
    )
    delete: Tuple[str, ...] = setting("Its values for deletes.", ("D", "d"))
    load: Tuple[str, ...] = setting(
        "Its values for rows of the first full load among the changes.", ()
    )
    truncate: Tuple[str, ...] = setting(
        "Its values for truncates: a delete of every key, in a row that needs none.",
        ("T", "t"),
    )


@dataclass(frozen=True)
class FullRefresh:
    """Full loads after the first; keys that one lacks are gone since it started."""

    pattern: str = setting(
        "Regular expression over the file's path below `path`; its groups, named as the"
        " columns of `order_by`, say where in the order the full refresh started.",
        example=r"reload/(?P<updated_at>[^/]+)/",
    )
    files: str = setting("Which files are of a full refresh, as a glob.", "reload/**")
    format: str = setting(
        "How a time in the path is written, as in strptime.", "%Y-%m-%dT%H-%M-%S"
    )
    missing_keys: MissingKeys = setting("What a missing key means.", MissingKeys.DELETE)
    lost_share: float = setting(
        "Largest share of keys that a full refresh may lose (0 to 1).", 0.5
    )


@dataclass(frozen=True)
class Snapshot:
    """Full copies that come again; each is compared with the one before."""

    kind: ClassVar[str] = "snapshot"
    path: str = setting("Folder below the landing area.", example="moma/artists")
    files: str = setting("Which files in it, as a glob.", example="artists_*.csv.gz")
    format: Format = setting("What the files are.", example={"type": "csv"})
    snapshot_time: SnapshotTime = setting(
        "Where a snapshot's time is written.",
        example={"pattern": r"artists_(\d{4}-\d{2}-\d{2})"},
    )
    pulled_from: Optional[JdbcTable] = setting(
        "Where each run pulls a snapshot from; without it something else lands them.",
        None,
        example={"connection": "shop_db", "table": "public.artists"},
    )
    complete: Optional[Complete] = setting(
        "How a snapshot of several files says that all of them are there; left out, a"
        " snapshot is one file.",
        None,
        example={"marker": "_SUCCESS"},
    )
    missing_keys: MissingKeys = setting("What a missing key means.", MissingKeys.DELETE)
    lost_share: float = setting(
        "Largest share of keys that a snapshot may lose (0 to 1).", 0.5
    )
    may_be_empty: bool = setting("Whether a snapshot may have no row.", False)
    scope: Optional[Scope] = setting(
        "What one snapshot covers, where it is not the whole table.", None
    )
    late_after_hours: Optional[float] = setting(
        "Hours after its newest file landed from which the source counts as late (0.1"
        " to 10000).",
        None,
        example=26,
    )
    timezone: str = setting("Zone of timestamps that carry none.", "UTC")
    new_columns: NewColumns = setting(
        "What to do with undeclared source columns.", NewColumns.ADD
    )


@dataclass(frozen=True)
class Feed:
    """A full load and, after it, change events."""

    kind: ClassVar[str] = "feed"
    path: str = setting("Folder below the landing area.", example="sales/orders")
    format: Format = setting("What the files are.", example={"type": "csv"})
    load: str = setting("Which files in it are the full load, as a glob.", "load/*")
    changes: str = setting("Which files in it hold changes, as a glob.", "changes/*")
    operation: Optional[Operation] = setting(
        "The column that tells upserts from deletes; without it all are upserts.", None
    )
    envelope: Optional[Debezium] = setting(
        "What the rows of change files are wrapped in, where they are; its settings"
        " stand for operation, order_by and effective_at that are left out.",
        None,
        example={"connector": "postgresql"},
    )
    load_from: Optional[JdbcTable] = setting(
        "Where the full load pulls its files from; without it something else lands them.",
        None,
        example={"connection": "shop_db", "table": "public.orders"},
    )
    changes_from: Optional[Changes] = setting(
        "Where each run pulls the files of changes from; without it something else lands"
        " them.",
        None,
        example={
            "kind": "kafka",
            "connection": "shop_kafka",
            "topic": "shop.public.orders",
        },
    )
    full_refresh: Optional[FullRefresh] = setting(
        "Full loads that came after the first.", None
    )
    ignore_columns: Tuple[str, ...] = setting(
        "Undeclared source columns that are never added, such as generated columns that"
        " the feed leaves out of changes.",
        (),
        example=["total_with_tax"],
    )
    enrich: Tuple[Enrichment, ...] = setting(
        "Reference tables whose columns each row is given as it is ingested.", ()
    )
    placeholder: Optional[str] = setting(
        "Text that stands for an unchanged value which the source did not send; with an"
        " envelope `__debezium_unavailable_value`, else none.",
        None,
        example="__debezium_unavailable_value",
    )
    late_after_hours: Optional[float] = setting(
        "Hours after its newest file landed from which the source counts as late (0.1"
        " to 10000).",
        None,
        example=26,
    )
    timezone: str = setting("Zone of timestamps that carry none.", "UTC")
    new_columns: NewColumns = setting(
        "What to do with undeclared source columns.", NewColumns.ADD
    )


@dataclass(frozen=True)
class Side:
    """One of the two tables of a dimension."""

    shorthand: ClassVar[str] = "table"
    table: str = setting(
        "Name of the table, in the same domain.", example="customer_address"
    )
    columns: Tuple[str, ...] = setting(
        "Its columns that the dimension shows; all if left out.", ()
    )
    rename: Tuple[Tuple[str, str], ...] = setting(
        "Its columns that have another name in the dimension.",
        (),
        example={"updated_at": "address_updated_at"},
    )


@dataclass(frozen=True)
class Dimension:
    """Two tables as one: their histories, joined by the key. No files of its own."""

    kind: ClassVar[str] = "dimension"
    main: Side = setting("The table whose keys it has.", example="customer_master")
    joined: Side = setting(
        "The table that adds columns to them; no value where it has no row.",
        example="customer_address",
    )


Source = Union[Snapshot, Feed, Dimension]
