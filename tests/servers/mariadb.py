"""MariaDB that writes its binary log so that changes can be captured from it."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any, List, Optional, Sequence, Tuple

import pymysql

from lake_local.capture.installed import installed
from tests.servers.server import Server

BINARY_LOG = [
    "--server-id=1",
    "--binlog-format=ROW",
    "--binlog-row-image=FULL",
    "--binlog-row-metadata=FULL",
]
SMALL_AND_FAST = [
    "--debug-no-sync",
    "--innodb-flush-method=nosync",
    "--innodb-buffer-pool-size=32M",
    "--innodb-log-file-size=16M",
]
CAPTURE_GRANTS = (
    "SELECT, RELOAD, SHOW DATABASES, LOCK TABLES, "
    "REPLICATION SLAVE, REPLICATION CLIENT, BINLOG MONITOR"
)


class MariaDb(Server):
    """A server that `root` may do all with, without a password, on this machine.

    `debezium` has what a connector needs.
    """

    name = "mariadb"
    refuses_root = True
    user = "root"
    capture_user = "debezium"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        installed("mariadb")  # or NotInstalled
        self._data = self.folder / "data"
        self._has_users = False
        self.log_name = "bin"
        """The base name of its binary log's files, from the next start on."""

    @cached_property
    def _base(self) -> Path:
        return self._programs_of("mariadb")

    def prepare(self) -> None:
        script = self._base / "scripts" / "mariadb-install-db"
        places = [f"--basedir={self._base}", f"--datadir={self._data}"]
        root = "--auth-root-authentication-method=normal"
        options = ["--no-defaults", *places, root, "--skip-test-db", *SMALL_AND_FAST]
        self.run(["sh", str(script), *options])

    def command(self) -> List[str]:
        return [
            str(self._base / "bin" / "mariadbd"),
            "--no-defaults",
            f"--basedir={self._base}",
            f"--datadir={self._data}",
            f"--bind-address={self.host}",
            f"--port={self.port}",
            f"--socket={self.folder / 'socket'}",
            f"--pid-file={self.folder / 'pid'}",
            "--default-time-zone=+00:00",
            "--character-set-server=utf8mb4",
            "--skip-name-resolve",
            f"--log-bin={self.log_name}",
            *BINARY_LOG,
            *SMALL_AND_FAST,
        ]

    def is_ready(self) -> bool:
        if not self.has_said("ready for connections"):
            return False
        if not self._has_users:
            capture = f"'{self.capture_user}'@'{self.host}'"
            self.execute(f"CREATE USER {capture}")
            self.execute(f"GRANT {CAPTURE_GRANTS} ON *.* TO {capture}")
            self._has_users = True
        return True

    def connect(
        self, database: Optional[str] = None, *, autocommit: bool = False
    ) -> pymysql.Connection[Any]:
        """A new connection, as root."""
        return pymysql.connect(
            host=self.host,
            port=self.port,
            user=self.user,
            database=database,
            autocommit=autocommit,
            connect_timeout=10,
        )

    def execute(self, sql: str, params: Sequence[Any] = ()) -> List[Tuple[Any, ...]]:
        """Run a statement in a transaction of its own; its rows, if it has any."""
        with self.connect(autocommit=True) as connection:
            with connection.cursor() as cursor:
                cursor.execute(sql, params or None)
                return list(cursor.fetchall())
