"""The program that asks a database for its catalogue: JSON in, JSON out.

    python -m lake_local.onboard.ask < {"server": {...}, "schema": "..."}

It is run by the Python that has the databases' drivers. The password comes by
standard input, and goes nowhere but to the database.
"""

from __future__ import annotations

import json
import sys
from typing import Callable, Dict

from lake_local.onboard.catalog import Catalog, to_data
from lake_local.onboard.server import NoSuchSchema, Server, Unreachable

REFUSED = 2


def main() -> int:
    """Print the catalogue; REFUSED with the reason where there is none."""
    asked = json.load(sys.stdin)
    server = Server(**asked["server"])
    try:
        found = _READERS[server.kind](server, asked["schema"])
    except NoSuchSchema as has:
        words = f"schema {asked['schema']!r} has no tables. Schemas with tables: {has}."
        print(words, file=sys.stderr)
        return REFUSED
    except Unreachable as error:
        words = server.without_password(str(error))
        where = f"{server.host}:{server.port}/{server.database}"
        print(f"{where} as {server.username}: {words}", file=sys.stderr)
        return REFUSED
    json.dump(to_data(found), sys.stdout)
    return 0


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
