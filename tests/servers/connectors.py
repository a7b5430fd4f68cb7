"""Configurations of Debezium's connectors, for the servers of the tests."""

from __future__ import annotations

from typing import Dict

from lake_local.capture.debezium import ALL_CHANGES, POSTGRESQL
from tests.servers.kafka import Kafka
from tests.servers.mariadb import MariaDb
from tests.servers.postgresql import PostgreSql

Config = Dict[str, str]

FLAT = {
    "transforms": "flat",
    "transforms.flat.type": "io.debezium.transforms.ExtractNewRecordState",
    "transforms.flat.add.fields": "op,table,source.lsn,source.sequence,source.ts_ms",
    "transforms.flat.delete.tombstone.handling.mode": "rewrite",
    "transforms.flat.replace.null.with.default": "false",
}


def postgresql_connector(
    database: PostgreSql,
    *,
    prefix: str,
    schema: str = "public",
    publication: str = "lake",
    slot: str = "lake",
    flat: bool = False,
) -> Config:
    """All tables of a schema, into topics `prefix.schema.table`.

    The publication must exist: CREATE PUBLICATION lake FOR TABLES IN SCHEMA public.
    """
    return {
        **POSTGRESQL,
        "database.hostname": database.host,
        "database.port": str(database.port),
        "database.user": database.capture_user,
        "database.dbname": database.database,
        "topic.prefix": prefix,
        "schema.include.list": schema,
        "slot.name": slot,
        "publication.name": publication,
        **(FLAT if flat else {}),
    }


def mariadb_connector(
    server: MariaDb, kafka: Kafka, *, prefix: str, database: str, server_id: int = 1000
) -> Config:
    """All tables of a database, into topics `prefix.database.table`.

    Connectors of one server each need another `server_id`.
    """
    return {
        "connector.class": "io.debezium.connector.mysql.MySqlConnector",
        "connector.adapter": "mariadb",
        "exactly.once.support": "requested",  # this version knows no `required`
        "database.protocol": "jdbc:mariadb",
        "database.jdbc.driver": "org.mariadb.jdbc.Driver",
        "database.ssl.mode": "disabled",
        "database.hostname": server.host,
        "database.port": str(server.port),
        "database.user": server.capture_user,
        "database.server.id": str(server_id),
        "database.include.list": database,
        "topic.prefix": prefix,
        "schema.history.internal.kafka.bootstrap.servers": kafka.bootstrap_servers,
        "schema.history.internal.kafka.topic": f"{prefix}-schema-history",
        **ALL_CHANGES,
    }
