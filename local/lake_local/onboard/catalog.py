"""What a source's catalogue says of its tables, as plain data.

The program that asks a database writes it as JSON, and the command reads that.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Dict, Optional, Tuple

DOMAINS_OF_ENUMS = "domains of enums"
"""Not a setting of the server, but next to them: names of such domains, `a, b`."""


@dataclass(frozen=True)
class Column:
    """A column as the database declares it.

    `type` is the text of its type, domains resolved; `kind` says what that is where
    it has no plain values: enum, composite, range, multirange, extension.
    """

    name: str
    type: str
    nullable: bool = True
    kind: str = "base"
    comment: str = ""
    moves_with_updates: bool = False
    """Whether the database itself sets it to the time of every update."""
    generated: bool = False
    """Whether the database computes it of other columns."""


@dataclass(frozen=True)
class Index:
    """An index over whole columns of all rows."""

    name: str
    columns: Tuple[str, ...]
    unique: bool = False
    primary: bool = False
    identifies: bool = False
    """Whether it is what the database logs of a deleted row (REPLICA IDENTITY)."""


@dataclass(frozen=True)
class Table:
    """A table; `rows` and `bytes` are estimates, None if unknown."""

    name: str
    columns: Tuple[Column, ...]
    indexes: Tuple[Index, ...] = ()
    rows: Optional[int] = None
    bytes: Optional[int] = None
    comment: str = ""
    replica_identity: str = ""
    """What PostgreSQL logs of the old row: default, nothing, full or index."""
    parent: str = ""
    """The table that it is a partition of."""
    partitioned: bool = False

    @property
    def primary_key(self) -> Tuple[str, ...]:
        """The columns of its primary key; none without one."""
        return next((each.columns for each in self.indexes if each.primary), ())

    @property
    def size_in_words(self) -> str:
        """Rows and bytes, as far as they are known."""
        known = []
        if self.rows is not None:
            known.append(f"about {self.rows:,} rows")
        if self.bytes is not None:
            known.append(f"{_size(self.bytes)} in the source")
        return ", ".join(known) or "of unknown size"

    def column(self, name: str) -> Column:
        """Return the column of that name."""
        return next(each for each in self.columns if each.name == name)


@dataclass(frozen=True)
class Catalog:
    """The tables of one schema, and the settings of the server that concern them."""

    engine: str
    schema: str
    tables: Tuple[Table, ...]
    settings: Dict[str, str] = field(default_factory=dict)
    schemas: Tuple[str, ...] = ()
    """Every schema with tables, for who has named one without."""


def to_data(catalog: Catalog) -> Dict[str, Any]:
    """Return the catalogue as JSON-able data."""
    return asdict(catalog)


def from_data(data: Dict[str, Any]) -> Catalog:
    """Return the catalogue that `to_data` was given."""
    tables = tuple(_table(each) for each in data["tables"])
    schemas = tuple(data["schemas"])
    return Catalog(**{**data, "tables": tables, "schemas": schemas})


def _table(data: Dict[str, Any]) -> Table:
    columns = tuple(Column(**each) for each in data["columns"])
    indexes = tuple(
        Index(**{**each, "columns": tuple(each["columns"])}) for each in data["indexes"]
    )
    return Table(**{**data, "columns": columns, "indexes": indexes})


def _size(size: float) -> str:
    for unit in ("bytes", "KB", "MB", "GB"):
        if size < 1000:
            break
        size /= 1000
    else:
        unit = "TB"
    return (
        f"{size:.0f} {unit}" if size >= 10 or unit == "bytes" else f"{size:.1f} {unit}"
    )
