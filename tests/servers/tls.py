"""Databases that take encrypted connections, with a certificate that names `localhost`."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import List, Tuple

from tests.servers.certificates import Authority
from tests.servers.mariadb import MariaDb
from tests.servers.postgresql import PostgreSql
from tests.servers.server import Server

NAME = "localhost"


def _own(server: Server, authority: Authority) -> Tuple[Path, Path]:
    """Copy certificate and key to where the server's user may read them, nobody else."""
    found = []
    for file in authority.sign(NAME):
        copy = Path(shutil.copy(file, server.folder / f"tls{file.suffix}"))
        copy.chmod(0o600)
        user = server.popen_options()
        if user:
            os.chown(copy, user["user"], user["group"])
        found.append(copy)
    return found[0], found[1]


class TlsPostgreSql(PostgreSql):
    """PostgreSQL with a certificate of an authority."""

    def __init__(self, folder: Path, authority: Authority) -> None:
        super().__init__(folder)
        self._authority = authority

    def prepare(self) -> None:
        super().prepare()
        self._certificate, self._key = _own(self, self._authority)

    def command(self) -> List[str]:
        files = [f"--ssl_cert_file={self._certificate}", f"--ssl_key_file={self._key}"]
        return [*super().command(), "--ssl=on", *files]


class TlsMariaDb(MariaDb):
    """MariaDB with a certificate of an authority."""

    def __init__(self, folder: Path, authority: Authority) -> None:
        super().__init__(folder)
        self._authority = authority

    def prepare(self) -> None:
        super().prepare()
        self._certificate, self._key = _own(self, self._authority)

    def command(self) -> List[str]:
        files = [f"--ssl-cert={self._certificate}", f"--ssl-key={self._key}"]
        return [*super().command(), *files]
