"""What the programs of `show` are asked, as plain data that both sides know."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, Dict, Mapping, Optional, Tuple


class QueryRefused(Exception):
    """A query of `show` cannot be answered.

    Fix: Correct the option that the message names; `./run_locally.sh show --help`
    lists all options.
    """


class ReadingFailed(Exception):
    """A query failed on a row, or a run removed its files, while its rows were read.

    Fix: Follow the message. Where it says that the output is incomplete, use none of it.
    """


class NeedsHudi(QueryRefused):
    """A table has what Spark with Hudi alone reads: log files that no compaction has merged,
    or a column of a type that DuckDB is not told of.

    Fix: Run `./run_locally.sh show DOMAIN.TABLE --engine spark`, with `--layer` for another
    layer than current, or maintenance of the domain, which compacts.
    """


class Layer(str, Enum):
    """Which of a table's tables."""

    CURRENT = "current"
    HISTORY = "history"
    CHANGES = "changes"
    QUARANTINE = "quarantine"


Files = Mapping[str, str]
"""Where the bytes of each file lie, by its path below the folder of the layer."""


@dataclass(frozen=True)
class LayerFiles:
    """The files of a layer; of a change log, retracted rows are no rows.

    `table` is DOMAIN.TABLE, which messages name.
    """

    files: Files
    table: str
    layer: str = Layer.CURRENT.value


class Format(str, Enum):
    """How rows are written."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"


class Engine(str, Enum):
    """What runs a query."""

    DUCKDB = "duckdb"
    SPARK = "spark"


class Through(str, Enum):
    """What reads a table: Hudi, or a reader of what is published next to it."""

    HUDI = "hudi"
    ICEBERG = "iceberg"
    DELTA = "delta"
    DUCKDB = "duckdb"


@dataclass(frozen=True)
class Validity:
    """A moment in the business, and the columns that say when a row is true."""

    at: str
    valid_from: str
    valid_to: str
    is_deleted: str


@dataclass(frozen=True)
class Request:
    """Rows of one table; instants are Hudi's, 17 digits in UTC.

    Columns whose names begin as in `hidden` are shown only where asked for. `published`
    is the format, `iceberg` or `delta`, that a reader without Hudi takes. A table that
    `is_plain` is plain Parquet, without Hudi. `files` are those of the layer for DuckDB,
    where their bytes lie by path below its folder; without them Hudi reads them in Spark.
    """

    table: str
    layer: str
    path: str
    output: Optional[str] = None
    order: Tuple[str, ...] = ()
    as_of: Optional[str] = None
    between: Optional[Tuple[str, str]] = None
    valid: Optional[Validity] = None
    where: Optional[str] = None
    columns: Tuple[str, ...] = ()
    hidden: Tuple[str, ...] = ("_hoodie_",)
    limit: int = 0
    count: bool = False
    format: str = Format.TABLE.value
    through: str = Through.HUDI.value
    published: Optional[str] = None
    is_plain: bool = False
    files: Optional[Dict[str, str]] = None


def from_json(raw: Dict[str, Any]) -> Request:
    """Return the request that `dataclasses.asdict` turned into JSON."""
    valid = raw.pop("valid")
    between = raw.pop("between")
    for name in ("order", "columns", "hidden"):
        raw[name] = tuple(raw[name])
    return Request(
        **raw,
        valid=Validity(**valid) if valid else None,
        between=tuple(between) if between else None,
    )
