"""A lake whose tables are pulled from servers, and the specs of such tables."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Dict, List, Mapping

from pyspark.sql import DataFrame, SparkSession

from lake_spec.model import (
    Connection,
    EnvironmentSpec,
    KafkaCluster,
    MariaDb,
    PostgreSql,
    TableSpec,
)
from lake_spec.model.choices import KafkaSecurity
from lake_spark.landing.files import list_landing
from lake_spark.sources.pull import land_pulled
from lake_spark.sources.staging_folder import PULLED
from tests.spark.lake import Lake, table

PASSWORD = "hush-hush"
DOMAINS = ("tests", "types")
"""Those of tables that tests pull."""

FEED = """
source:
  kind: feed
  path: tests/things
  format: {type: parquet}
  load: load/**
  changes: changes/**
  load_from: {connection: shop, table: THINGS}
key: [id]
order_by: [updated_at]
load_effective_at: "1900-01-01"
storage: {buckets: 1}
"""
BY_CURSOR = FEED.replace(
    "key:",
    """  changes_from:
    {kind: jdbc, connection: shop, table: THINGS, cursor: updated_at, overlap: 60}
key:""",
)
SNAPSHOTS = """
source:
  kind: snapshot
  path: tests/things
  files: snapshots/**
  format: {type: parquet}
  snapshot_time: {pattern: "snapshots/([^/]+)/", format: "%Y-%m-%dT%H-%M-%S"}
  pulled_from: {connection: shop, table: THINGS}
  timezone: Europe/Berlin
key: [id]
storage: {buckets: 1}
"""


def logging_in(connection: Connection, secret: Path) -> Connection:
    """The connection with its secret in that file, if it has one."""
    if connection.secret is None:
        return connection
    secret.write_text(json.dumps({"username": "lake", "password": PASSWORD}))
    return replace(connection, secret=str(secret))


class ConnectedLake(Lake):
    """A lake whose environment knows servers."""

    def __init__(
        self,
        spark: SparkSession,
        root: Path,
        spec: TableSpec,
        connections: Mapping[str, Connection],
    ) -> None:
        super().__init__(spark, root, spec)
        self.connections = tuple(connections.items())

    @property
    def environment(self) -> EnvironmentSpec:
        return replace(super().environment, connections=self.connections)


class PullingLake(ConnectedLake):
    """A lake with one connection, `shop`; its secret, if it has one, is a file."""

    def __init__(
        self, spark: SparkSession, root: Path, spec: TableSpec, shop: Connection
    ) -> None:
        self.shop, self.secret = shop, root / "shop.json"
        super().__init__(spark, root, spec, {"shop": logging_in(shop, self.secret)})

    def pull(self, stage: str) -> None:
        """What a stage pulls, without the stage."""
        land_pulled(self._table_run(self._report(stage)), stage)

    def landed(self, top: str) -> DataFrame:
        """The rows of all pulls below `top`."""
        files = [
            f"{self.landing}/{top}/{folder}/{file}"
            for folder, names in self.pulls(top).items()
            for file in names
        ]
        return self.spark.read.format(self.spec.source.format.type).load(files)

    def seen(self) -> List[str]:
        """Files that a stage would find."""
        found = list_landing(self.store, self.tables.landing, ["**"])
        return [each.path for each in found]

    @property
    def landing(self) -> Path:
        """The table's landing folder."""
        return self.root / "landing" / self.spec.source.path

    @property
    def home(self) -> Path:
        """The folder of the table's own state."""
        return Path(self.tables.home[len("file://") :])

    def pulls(self, top: str) -> Dict[str, List[str]]:
        """The folders of finished pulls below `top`, each with its data files."""
        return {
            folder.name: [f.name for f in folder.iterdir() if f.name.startswith("part")]
            for folder in sorted((self.landing / top).glob("*"))
            if (folder / PULLED).exists()
        }


def postgresql_at(server) -> PostgreSql:
    return PostgreSql(server.host, "postgres", "", DOMAINS, port=server.port, tls=False)


def mariadb_at(server, database: str) -> MariaDb:
    return MariaDb(server.host, database, "", DOMAINS, port=server.port, tls=False)


def kafka_at(server) -> KafkaCluster:
    plain = KafkaSecurity.PLAINTEXT
    return KafkaCluster((server.bootstrap_servers,), DOMAINS, plain)


def things(text: str, name: str, columns: str = "", **words: str) -> TableSpec:
    """The spec of a table that is pulled from the source's table of that name."""
    for old, new in {"THINGS": name, **words}.items():
        text = text.replace(old, new)
    return table(text + (f"columns: {{{columns}}}\n" if columns else ""))
