"""The ten tables that random work is done on, in the source and in the lake."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from textwrap import dedent
from typing import Any, Callable, Dict, Tuple

from lake_spec.model import TableSpec
from tests.loop.kinds import KINDS, UNSENT
from tests.spark.lake import table

LOADED_AT = datetime(1900, 1, 1)
"""From when the rows are valid that were there before the capture."""

GENERATED, IGNORED = "customer", "name_length"
"""A table that PostgreSQL computes a column of, and that column."""

CONNECTION, DATABASE = "loop", "loop_db"
"""The names of Kafka and of the database in the lake."""

Columns = Dict[str, str]
"""Names of columns, each with its kind."""


@dataclass(frozen=True)
class Table:
    """A table whose rows are numbered: `key_of` gives the n-th key."""

    name: str
    key: Columns
    values: Columns
    key_of: Callable[[int], Tuple[Any, ...]]
    default: str = ""
    """A column that has a default, and may be null all the same."""
    is_full: bool = False
    """Whether PostgreSQL remembers all of an old row, not its key alone."""

    @property
    def columns(self) -> Columns:
        """The columns that it begins with."""
        return {**self.key, **self.values}

    def create(self, schema: str, type_of: Callable[[str], str]) -> str:
        """The statement that makes it, with the types of its kinds."""
        parts = [self._declared(name, type_of) for name in self.columns]
        parts.append(f"PRIMARY KEY ({', '.join(self.key)})")
        return f"CREATE TABLE {schema}.{self.name} ({', '.join(parts)})"

    def _declared(self, name: str, type_of: Callable[[str], str]) -> str:
        kind = type_of(self.columns[name])
        default = " DEFAULT 7" if name == self.default else ""
        return f"{name} {kind}{default}{' NOT NULL' if name in self.key else ''}"

    def spec(
        self,
        database: str,
        topic: str,
        messages_per_file: int,
        *,
        load_from: str = "null",
        load_effective_at: datetime = LOADED_AT,
    ) -> TableSpec:
        """The table of the lake that follows it."""
        head = f"""
            source:
              kind: feed
              path: tests/things
              format: {{type: json}}
              load: load/**
              load_from: {load_from}
              changes: changes/**
              envelope: {{connector: {database}}}
              ignore_columns: [{IGNORED}]
              changes_from:
                kind: kafka
                connection: {CONNECTION}
                topic: {topic}
                messages_per_file: {messages_per_file}
            load_effective_at: "{load_effective_at.isoformat()}Z"
            storage: {{buckets: 1}}
            key: [{', '.join(self.key)}]
            columns:
            """
        columns = [
            f"  {name}: {KINDS[kind].lake[database]}\n"
            for name, kind in self.columns.items()
        ]
        return table(dedent(head) + "".join(columns))


def _number(n: int) -> Tuple[Any, ...]:
    return (n,)


def _pair(n: int) -> Tuple[Any, ...]:
    return (n // 5 - 2**62, n % 5)


CODES = ["a", "a|b", "a,b", "a:b", "A", "%41", "Zoë", "a b", "日本", "'"]


def _codes(n: int) -> Tuple[Any, ...]:
    return (CODES[n % 10], f"{CODES[n // 10 % 10]}{n // 100 or ''}")


def _member(n: int) -> Tuple[Any, ...]:
    return (n % 3 - 1, f"m{n}")


def _sensor(n: int) -> Tuple[Any, ...]:
    return (f"s{n % 4}", datetime(2026, 1, 1) + timedelta(microseconds=n))


def _code(n: int) -> Tuple[Any, ...]:
    return (f"{n:04}",)


def _daily(n: int) -> Tuple[Any, ...]:
    return (date(2026, 2, 27) + timedelta(n % 5), n)


TABLES = (
    Table(
        "customer",
        {"id": "int"},
        {"name": "text", "code": "code", "active": "flag", "since": "day"}
        | {"balance": "amount"},
        _number,
        default="balance",
    ),
    Table(
        "order_line",
        {"order_id": "bigint", "line": "int"},
        {"amount": "amount", "sold": "moment", "note": "text"},
        _pair,
    ),
    Table("word", {"lang": "code", "word": "code"}, {"meaning": "text"}, _codes),
    Table(
        "document",
        {"id": "bigint"},
        {"title": "text", "body": "long", "scan": "long_bytes", "changed": "instant"}
        | {f"its_{kind}": kind for kind in UNSENT},
        _number,
    ),
    Table("member", {"team": "int", "person": "code"}, {}, _member),
    Table(
        "measurement",
        {"sensor": "code", "taken": "moment"},
        {"ratio": "ratio", "quality": "int"},
        _sensor,
        default="quality",
    ),
    Table(
        "account",
        {"code": "code"},
        {"cents": "bigint", "opened": "instant", "owner": "fixed", "kind": "choice"},
        _code,
    ),
    Table(
        "visit",
        {"day": "day", "number": "bigint"},
        {"was_long": "flag", "token": "bytes"},
        _daily,
    ),
    Table(
        "setting",
        {"name": "code"},
        {"content": "long", "version": "int"},
        _code,
        is_full=True,
    ),
    Table(
        "everything",
        {"id": "int"},
        {f"a_{kind}": kind for kind in KINDS if kind not in UNSENT},
        _number,
        default="a_int",
    ),
)
PULSE = "pulse"
"""One more table of the source, to see by it how far the capture is."""
