"""A shop's lake on this machine, pulled from a database whose password is a canary."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Dict

from lake_emulator import client
from lake_emulator.calls import FILE as CALLS
from lake_emulator.keys import secret_of
from tests.e2e import environment
from tests.e2e.command_line import CommandLine, Done
from tests.e2e.lake import ADDRESS

USER = "reader_of_shop"
CANARY = "canary-9f2c71d0"
PASSWORD = f"{CANARY};&?%41{{{{ ds }}}}'\"$(id)"
"""The canary, and what a URL, a template, SQL or a shell would take apart."""

DOMAIN = """
name: shop
description: A shop, pulled from its database
owner: shop-data
"""
ORDERS = """
name: orders
description: Orders, by a cursor
owner: shop-data
source:
  kind: feed
  path: shop/orders
  format: {type: parquet}
  changes: changes/**
  changes_from: {kind: jdbc, connection: managed, table: public.orders, cursor: at, overlap: 60}
order_by: [at]
columns: {id: int, what: string, at: timestamp}
key: [id]
"""
SNAPSHOT = """
name: {table}
description: A full copy in every run
owner: shop-data
source:
  kind: snapshot
  path: shop/{table}
  format: {{type: parquet}}
  files: snapshots/**
  snapshot_time: {{pattern: 'snapshots/([^/]+)/', format: '%Y-%m-%dT%H-%M-%S'}}
  pulled_from: {{connection: {connection}, table: public.customers}}
columns: {{id: int, name: string}}
key: [id]
"""
EVENTS = """
name: events
description: Messages that no broker has
owner: shop-data
source:
  kind: feed
  path: shop/events
  format: {type: json}
  changes: changes/**
  changes_from: {kind: kafka, connection: kafka, topic: events}
effective_at: at
order_by: [offset]
columns:
  id: int
  at: {type: timestamp, source: [__kafka_timestamp], format: epoch_millis}
  offset: {type: long, source: [__kafka_offset]}
key: [id]
"""


class ShopLake:
    """A home with the domain `shop`; three of its tables cannot be pulled."""

    def __init__(self, folder: Path, database: Any, dead_port: int) -> None:
        self.folder, self.home = folder, folder / "home"
        self._write_specs(folder / "tables")
        self._password_for(database)
        here = {
            "kind": "postgresql",
            "host": database.host,
            "port": database.port,
            "tls": False,
            "domains": ["shop"],
        }
        ours = {**here, "database": database.database}
        connections = {
            "managed": {**ours, "secret": "shop/db"},
            "stored": {**ours, "secret": "/shop/db", "secret_store": "ssm"},
            "nowhere": {**here, "database": "nowhere", "secret": "shop/db"},
            "wrong": {**ours, "secret": "shop/wrong"},
            "kafka": {
                "kind": "kafka",
                "bootstrap_servers": [f"{database.host}:{dead_port}"],
                "security": "scram",
                "secret": "shop/kafka",
                "domains": ["shop"],
            },
        }
        self.command = CommandLine(
            home=self.home,
            tables=folder / "tables",
            environment=environment.write(folder / "environment", connections),
            output=folder / "output",
        )

    def up(self) -> Done:
        """Bring it up, and put the canary where secrets are kept."""
        done = self.command("up")
        self.url = ADDRESS.search(done.out)[1]
        login = json.dumps({"username": USER, "password": PASSWORD})
        wrong = json.dumps({"username": USER, "password": f"{PASSWORD}!"})
        manager, ssm = self._aws("secretsmanager"), self._aws("ssm")
        for name in ("shop/db", "shop/kafka"):
            manager.create_secret(Name=name, SecretString=login)
        manager.create_secret(Name="shop/wrong", SecretString=wrong)
        ssm.put_parameter(Name="/shop/db", Value=login, Type="SecureString")
        return done

    def _aws(self, service: str) -> Any:
        return client(service, self.url, secret=secret_of(self.home))

    def secrets(self) -> Dict[str, str]:
        """Every secret of this lake, by what it is."""
        ssm = self._aws("ssm")
        erase = ssm.get_parameter(Name="/lake/local/erase", WithDecryption=True)
        return {"password": CANARY, "erase": erase["Parameter"]["Value"]}

    def calls(self) -> str:
        return (self.home / CALLS).read_text(encoding="utf-8")

    @staticmethod
    def _password_for(database: Any) -> None:
        """A user who may read, and whose password the server asks for."""
        quoted = PASSWORD.replace("'", "''")
        database.execute(f"CREATE ROLE {USER} LOGIN PASSWORD '{quoted}'")
        database.execute(f"GRANT pg_read_all_data TO {USER}")
        rules = Path(database.execute("SHOW hba_file")[0][0])
        asked = f"host all {USER} 127.0.0.1/32 scram-sha-256\n"
        rules.write_text(asked + rules.read_text())
        database.execute("SELECT pg_reload_conf()")

    def _write_specs(self, tables: Path) -> None:
        (tables / "shop").mkdir(parents=True)
        specs = {
            "_domain": DOMAIN,
            "orders": ORDERS,
            "events": EVENTS,
            "customers": SNAPSHOT.format(table="customers", connection="stored"),
            "broken": SNAPSHOT.format(table="broken", connection="nowhere"),
            "refused": SNAPSHOT.format(table="refused", connection="wrong"),
        }
        for name, text in specs.items():
            (tables / "shop" / f"{name}.yml").write_text(text, encoding="utf-8")
