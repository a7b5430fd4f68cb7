"""A database's catalogue, read by a process of the Python that has the drivers.

    python -m lake_local.onboard.catalog_process < {"server": {...}, "schema": "..."}

JSON in, JSON out. The password comes by standard input, and goes nowhere but to the
database.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any, Callable, Dict

from lake_local.onboard.catalog import Catalog, from_data, to_data
from lake_local.onboard.server import NoSuchSchema, Server, Unreachable

REFUSED = 2
_MODULE = "lake_local.onboard.catalog_process"
_SECONDS = 300
_KEPT = ("PATH", "LANG", "LC_ALL", "TMPDIR", "HOME", "SSL_CERT_FILE", "SSL_CERT_DIR")


class NoAnswer(Exception):
    """The catalogue of a database could not be read.

    It names the server and the reason.

    Fix: Check that the server runs and that host, port, user and password of its
    connection and secret are right.
    """


def catalog_of(python: Path, code: Path, server: Server, schema: str) -> Catalog:
    """Return the tables of a schema, read by `python` with the packages in `code`."""
    return from_data(answer_of(python, code, _MODULE, server, {"schema": schema}))


def answer_of(
    python: Path, code: Path, module: str, server: Server, asked: Dict[str, Any]
) -> Any:
    """Return what a module's process answers about a database. Raises NoAnswer."""
    done = subprocess.run(
        [str(python), "-m", module],
        # The password is in no argument, no file and no environment.
        input=json.dumps({"server": asdict(server), **asked}),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=_SECONDS,
        env={**_environment(), "PYTHONPATH": str(code), "PYTHONIOENCODING": "utf-8"},
    )
    if done.returncode == REFUSED:
        raise NoAnswer(done.stderr.strip())
    if done.returncode:
        words = done.stderr.strip().splitlines()[-1:] or [f"exit {done.returncode}"]
        cause = server.without_password(words[0])
        raise NoAnswer(
            f"the catalogue of {server.host} cannot be read: {cause}. Check that the server"
            " runs and its connection is right."
        )
    return json.loads(done.stdout)


def _environment() -> Dict[str, str]:
    """Return the variables for drivers of databases: not PGPASSWORD, PGHOST and such."""
    return {name: os.environ[name] for name in _KEPT if name in os.environ}


def main() -> int:
    """Print the catalogue, or the reason why there is none (exit code REFUSED)."""
    asked = json.load(sys.stdin)
    server = Server(**asked["server"])
    try:
        found = _READERS[server.kind](server, asked["schema"])
    except NoSuchSchema as has:
        words = f"schema {asked['schema']!r} has no tables. Schemas with tables: {has}."
        words += " Choose one with --schema."
        print(words, file=sys.stderr)
        return REFUSED
    except Unreachable as error:
        return refused(server, error)
    json.dump(to_data(found), sys.stdout)
    return 0


def refused(server: Server, error: Unreachable) -> int:
    """Print why the database cannot be read; return the exit code REFUSED."""
    words = server.without_password(str(error))
    where = f"{server.host}:{server.port}/{server.database}"
    print(
        f"{where} as user {server.username}: {words}. Check that the server runs, and"
        " host, port, user and password of the connection.",
        file=sys.stderr,
    )
    return REFUSED


def _postgresql(server: Server, schema: str) -> Catalog:
    from lake_local.onboard import postgresql

    return postgresql.read(server, schema)


def _mariadb(server: Server, schema: str) -> Catalog:
    from lake_local.onboard import mariadb

    return mariadb.read(server, schema)


_READERS: Dict[str, Callable[[Server, str], Catalog]] = {
    "postgresql": _postgresql,
    "mariadb": _mariadb,
}

if __name__ == "__main__":
    sys.exit(main())
