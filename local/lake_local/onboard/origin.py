"""How a table's rows come into the lake: by Debezium's events, or by JDBC."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Dict, Optional, Tuple

from lake_spec.facts.pull_folders import CHANGES, SNAPSHOTS, LOAD, TIMESTAMP
from lake_spec.model.choices import Connector

from lake_local.onboard.catalog import Table
from lake_local.onboard.keys import Choice
from lake_local.onboard.naming import topic
from lake_local.onboard.spec_text import Guess
from lake_local.onboard.types import Written

KAFKA, JDBC, FILES = "kafka", "jdbc", "files"

_PARQUET = {"type": "parquet"}
_SNAPSHOTS: Dict[str, Any] = {
    "files": f"{SNAPSHOTS}/**",
    "format": _PARQUET,
    "snapshot_time": {"pattern": f"{SNAPSHOTS}/([^/]+)/", "format": TIMESTAMP},
}
_NO_DELETES = (
    "A cursor sees no deletes: rows that are gone at the source stay in the lake.",
    "Where they matter, take the events of Debezium, or make it a snapshot.",
)
_BEGINS = (
    "History of a row begins at its {} in the first load. For joins as of earlier times",
    'declare when that was true: load_effective_at: "1900-01-01".',
)
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_$]{0,62}")


@dataclass(frozen=True)
class Source:
    """The spec's `source`, its order, and words on both for the top of the file."""

    source: Dict[str, Any]
    way: str
    order_by: Optional[Choice] = None
    words: Tuple[str, ...] = ()


@dataclass(frozen=True)
class Origin:
    """A database, and the way from it.

    `kind` is KAFKA, JDBC, or FILES: events that something else lands.
    """

    kind: str
    connection: str
    connector: Optional[Connector] = None
    kafka_connection: str = ""
    topic_prefix: str = ""

    @property
    def written(self) -> Written:
        """How the values of its columns come."""
        return Written.TYPED if self.kind == JDBC else Written.DEBEZIUM

    def refusal(self, schema: str, table: str) -> str:
        """Return why it cannot take a table of that name; '' if it can."""
        if self.kind != JDBC or all(_PLAIN.fullmatch(each) for each in (schema, table)):
            return ""
        return "its name has other characters than A-Z a-z 0-9 _ $: create a view of it"

    def source_of(
        self,
        domain: str,
        name: str,
        schema: str,
        table: Table,
        cursor: Optional[Choice],
    ) -> Source:
        """Return the source of the table that the lake calls `name`."""
        path = f"{domain}/{name}"
        if self.kind != JDBC:
            return self._events(path, schema, table)
        place = {"connection": self.connection, "table": f"{schema}.{table.name}"}
        if cursor is None or not _PLAIN.fullmatch(cursor.columns[0]):
            pulled = {"kind": "snapshot", "path": path, **_SNAPSHOTS}
            return Source({**pulled, "pulled_from": place}, "jdbc snapshot")
        return _by_cursor(path, place, cursor)

    def _events(self, path: str, schema: str, table: Table) -> Source:
        assert self.connector is not None  # events always have a connector
        source: Dict[str, Any] = {
            "kind": "feed",
            "path": path,
            "format": {"type": "json"},
            "changes": f"{CHANGES}/**",
            "envelope": {"connector": self.connector.value},
        }
        if self.kind == FILES:
            return Source(source, "landed events")
        named = topic(self.topic_prefix or self.connection, schema, table.name)
        why = f"the connector's topic.prefix is {self.connection}"
        source["changes_from"] = {
            "kind": "kafka",
            "connection": self.kafka_connection,
            "topic": named if self.topic_prefix else Guess(named, why),
        }
        return Source(source, "kafka")


def _by_cursor(path: str, place: Dict[str, str], cursor: Choice) -> Source:
    (column,) = cursor.columns
    named: Any = Guess(column, cursor.guess) if cursor.guess else column
    source = {
        "kind": "feed",
        "path": path,
        "format": _PARQUET,
        "load": f"{LOAD}/**",
        "changes": f"{CHANGES}/**",
        "load_from": place,
        "changes_from": {"kind": "jdbc", **place, "cursor": named},
    }
    begins = tuple(each.format(column) for each in _BEGINS)
    return Source(source, "jdbc cursor", Choice((column,)), (*_NO_DELETES, *begins))
