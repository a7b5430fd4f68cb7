"""The servers of the loop, started once for all seeds."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Optional

from tests.loop.kinds import MARIADB, POSTGRESQL
from tests.loop.on_mariadb import OnMariaDb
from tests.loop.on_postgresql import OnPostgreSql, remember_commit_times
from tests.loop.source import Source
from tests.servers.connect import DistributedConnect
from tests.servers.kafka import Kafka
from tests.servers.mariadb import MariaDb
from tests.servers.postgresql import PostgreSql

DATABASES = (POSTGRESQL, MARIADB)


class Servers:
    """Kafka, its worker and the databases, each started when it is first needed."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._postgresql: Optional[PostgreSql] = None
        self._mariadb: Optional[MariaDb] = None
        self._sources = 0

    def __enter__(self) -> "Servers":
        with ExitStack() as stack:
            self.folder = Path(tempfile.mkdtemp(prefix="lake-loop-"))
            self.folder.chmod(0o755)  # databases run as nobody
            stack.callback(shutil.rmtree, self.folder)
            self.kafka = stack.enter_context(Kafka(self.folder / "kafka"))
            connect = DistributedConnect(self.folder / "connect", self.kafka)
            self.connect = stack.enter_context(connect)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def source(self, database: str, seed: int) -> Source:
        """A schema of its own, without tables yet."""
        self._sources += 1
        schema = f"loop_{seed}_{self._sources}"
        if database == POSTGRESQL:
            return OnPostgreSql(self.postgresql, schema)
        return OnMariaDb(self.mariadb, schema, self.kafka, 1000 + self._sources)

    @property
    def postgresql(self) -> PostgreSql:
        """The server, which knows when each transaction was committed."""
        if self._postgresql is None:
            server = PostgreSql(self.folder / "postgresql")
            self._postgresql = self._stack.enter_context(server)
            remember_commit_times(server)
        return self._postgresql

    @property
    def mariadb(self) -> MariaDb:
        """The server."""
        if self._mariadb is None:
            server = MariaDb(self.folder / "mariadb")
            self._mariadb = self._stack.enter_context(server)
        return self._mariadb
