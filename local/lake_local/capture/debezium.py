"""Configurations of Debezium's connectors: no row and no change is left out."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Dict, Optional

from lake_local.capture.connect import JSON
from lake_local.capture.request import Capture

USER, PASSWORD = "LAKE_CAPTURE_USER", "LAKE_CAPTURE_PASSWORD"
"""Variables of the worker with the login; Kafka keeps configurations as they are written."""

HEARTBEAT = "lake_heartbeat"

# NULL stays NULL where the column has a default.
AS_JSON = {
    "key.converter": JSON,
    "key.converter.schemas.enable": "false",
    "value.converter": JSON,
    "value.converter.schemas.enable": "false",
    "value.converter.replace.null.with.default": "false",
}
ALL_CHANGES = {
    "tasks.max": "1",
    "skipped.operations": "none",  # by default, truncates are
    "decimal.handling.mode": "string",
    "poll.interval.ms": "100",
    **AS_JSON,
}
POSTGRESQL = {
    "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
    "exactly.once.support": "required",
    "plugin.name": "pgoutput",
    "publication.autocreate.mode": "disabled",
    # While other tables change alone, the slot would keep the log of all of them: a
    # message in the log, of no table, lets the connector confirm what lies before it.
    "heartbeat.interval.ms": "10000",
    "heartbeat.action.query": f"SELECT pg_logical_emit_message(false, '{HEARTBEAT}', '')",
    "message.prefix.exclude.list": HEARTBEAT,
    **ALL_CHANGES,
}


def postgresql(capture: Capture, ca: Optional[Path] = None) -> Dict[str, str]:
    """Return the connector's configuration; the login is named, not written.

    `ca` is a file with the certificates that the server is checked by.
    """
    database = capture.database
    tables = [re.escape(f"{schema}.{name}") for schema, name in capture.tables]
    tls = {"database.sslmode": "require" if database.tls else "prefer"}
    if ca is not None:
        tls = {"database.sslmode": "verify-full", "database.sslrootcert": str(ca)}
    return {
        **POSTGRESQL,
        **tls,
        "database.hostname": database.host,
        "database.port": str(database.port),
        "database.dbname": database.database,
        "database.user": f"${{env:{USER}}}",
        "database.password": f"${{env:{PASSWORD}}}",
        "topic.prefix": capture.prefix,
        "table.include.list": ",".join(tables),
        "slot.name": capture.slot,
        "publication.name": capture.name,
    }
