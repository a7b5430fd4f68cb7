"""How a table's rows come into the lake: by Debezium's events, or by JDBC."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, Optional, Tuple

from lake_desk.docgen.meanings import setting_of
from lake_spec.facts.pull_folders import CHANGES, SNAPSHOTS, LOAD, TIMESTAMP
from lake_spec.model import TableSpec
from lake_spec.model.choices import Connector
from lake_spec.model.forms import CURSOR, TABLE

from lake_local.onboard.catalog import Table
from lake_local.onboard.table_keys import Choice
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
_BEGINS = "History of a row begins at its {} in the first load."


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
        if self.kind != JDBC or TABLE.fits(f"{schema}.{table}"):
            return ""
        return f"its name cannot be pulled. {TABLE.hint}"

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
        if cursor is None or not CURSOR.fits(cursor.columns[0]):
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
    words = (*_NO_DELETES, _BEGINS.format(column), _for_earlier_joins())
    return Source(source, "jdbc cursor", Choice((column,)), words)


def _for_earlier_joins() -> str:
    """Return the setting for joins as of times before the first load, and its meaning."""
    name = "load_effective_at"
    setting = setting_of(TableSpec, name)
    return f'For joins as of earlier times: {name}: "{setting.example}". {setting.doc}'
