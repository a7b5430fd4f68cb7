"""Envelopes of the rows in change files, and the settings they imply."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, Tuple

from lake_spec.model.choices import Connector
from lake_spec.model.spec_field import setting


@dataclass(frozen=True)
class Debezium:
    """Events of a Debezium connector, whole or flattened by ExtractNewRecordState."""

    connector: Connector = setting(
        "Connector that wrote the events; its log positions define their order.",
        example="postgresql",
    )


EVENT_TIME = "source_ts"
"""The lake column with the time at which the source committed a change."""

OPERATION = "__op"
"""The source column with what happened: r, c, u, d, t; `i` for incremental snapshots."""

OLD_KEY = "__old_key"
"""The source column with the key before a key change, as JSON."""

BEFORE = "__before.{column}"
"""The source columns with values before an update, of the columns of the key alone."""

LOG_NAME = "__log_name"
"""The source column with the name of the log that a position is in: of binlogs alone."""

NO_ROW = "__no_row"
"""The source column with why a record is no row: TOMBSTONE or MESSAGE; else null."""

TOMBSTONE, MESSAGE, IGNORED = "tombstone", "message", "ignored"
"""What records without a row are; IGNORED by their word (`operation.ignore`)."""

PLACEHOLDER = "__debezium_unavailable_value"
"""Debezium's default text for an unchanged large value."""

_BINLOG = ("binlog_file", "binlog_pos", "binlog_row")
LOG_POSITIONS: Dict[Connector, Tuple[str, ...]] = {
    # The commit before the event's own: transactions stand in the order of their
    # commits, and lsn alone does not.
    Connector.POSTGRESQL: ("source_commit_lsn", "source_lsn"),
    Connector.MARIADB: _BINLOG,
    Connector.MYSQL: _BINLOG,
}
"""The lake columns that order the events of a connector, whole numbers all of them."""

UPSERTS, DELETES, TRUNCATES, LOADS = ("c", "u", "r", "i"), ("d",), ("t",), ("r",)


def source_column(name: str) -> str:
    """Return the name of a lake column of the envelope in the unwrapped rows."""
    return f"__{name}"


def columns_of(envelope: Debezium) -> Tuple[str, ...]:
    """List the lake columns that a table gets from its envelope."""
    return (EVENT_TIME, *LOG_POSITIONS[envelope.connector])
