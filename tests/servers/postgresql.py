"""PostgreSQL that writes its log so that changes can be captured from it."""

from __future__ import annotations

import signal
from functools import cached_property
from pathlib import Path
from typing import Any, List, Sequence, Tuple

import psycopg

from tests.e2e.waiting import until
from lake_local.capture.installed import installed
from tests.servers.processes import processes_of
from tests.servers.server import Server

SETTINGS = {
    "wal_level": "logical",
    "timezone": "UTC",
    "fsync": "off",  # what the operating system has not written, a killed server keeps
    "shared_buffers": "32MB",
    "max_replication_slots": "20",
    "max_wal_senders": "20",
}


class PostgreSql(Server):
    """A cluster with the database `postgres`, open to everybody on this machine.

    `debezium` may read all tables and replicate, and nothing else.
    """

    name = "postgresql"
    stop_signal = signal.SIGINT  # to the postmaster: do not wait for those connected
    refuses_root = True
    user = "postgres"
    database = "postgres"
    capture_user = "debezium"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        installed("postgresql")  # or NotInstalled
        self._data = self.folder / "data"
        self._has_roles = False

    @cached_property
    def _programs(self) -> Path:
        return self._programs_of("postgresql") / "bin"

    def prepare(self) -> None:
        options = ["--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"]
        where = [f"--username={self.user}", f"--pgdata={self._data}"]
        self.run([str(self._programs / "initdb"), *options, *where])

    def command(self) -> List[str]:
        places = {
            "listen_addresses": self.host,
            "port": str(self.port),
            "unix_socket_directories": "",
        }
        settings = [f"--{key}={value}" for key, value in {**SETTINGS, **places}.items()]
        return [str(self._programs / "postgres"), "-D", str(self._data), *settings]

    def is_ready(self) -> bool:
        if not self.has_said("ready to accept connections"):
            return False
        if not self._has_roles:
            self.execute(f"CREATE ROLE {self.capture_user} LOGIN REPLICATION")
            self.execute(f"GRANT pg_read_all_data TO {self.capture_user}")
            self._has_roles = True
        return True

    def kill(self) -> None:
        """kill -9 of the postmaster; the others end when they see that it is gone."""
        super().kill()
        until(
            lambda: not processes_of(self._data), f"the end of {self._data}", seconds=20
        )

    def connect(self, *, autocommit: bool = False) -> psycopg.Connection[Any]:
        """A new connection, as the superuser."""
        return psycopg.connect(
            host=self.host,
            port=self.port,
            user=self.user,
            dbname=self.database,
            autocommit=autocommit,
            connect_timeout=10,
        )

    def execute(self, sql: str, params: Sequence[Any] = ()) -> List[Tuple[Any, ...]]:
        """Run a statement in a transaction of its own; its rows, if it has any."""
        with self.connect(autocommit=True) as connection:
            cursor = connection.execute(sql, params or None)
            return cursor.fetchall() if cursor.description else []
