"""What PostgreSQL lacks for its changes to be captured, and what it has of a slot.

    python -m lake_local.capture.postgresql < {"server": {...}, "slot": "lake_shop", ...}

A process of the Python that has the driver; JSON in, JSON out. With `tables` and `name`,
of the publication, it also says what is lacking, with the statements that add it. It
changes nothing, but with `drop`: then it drops the slot.
"""

from __future__ import annotations

import json
import sys
from typing import Any, Dict, Iterator, Optional, Sequence, Tuple

import psycopg
from psycopg.sql import SQL, Composable, Identifier

from lake_local.onboard.catalog_process import refused
from lake_local.onboard.postgresql import connected
from lake_local.onboard.server import Server, Unreachable

Place = Tuple[str, str]
"""Schema and name of a table."""

Lack = Tuple[str, str]
"""What is lacking, and the statement; '' where none can help."""

_ROLE = "SELECT rolreplication OR rolsuper FROM pg_roles WHERE rolname = current_user"
_TABLE = """
SELECT c.relreplident IN ('d', 'n') AND NOT EXISTS (
    SELECT FROM pg_index x WHERE x.indrelid = c.oid AND x.indisprimary),
  has_schema_privilege(n.oid, 'USAGE'), has_table_privilege(c.oid, 'SELECT')
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = %s AND c.relname = %s AND c.relkind IN ('r', 'p')
"""
_PUBLISHED = (
    "SELECT schemaname, tablename FROM pg_publication_tables WHERE pubname = %s"
)
_SLOT = """
SELECT active, pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)
FROM pg_replication_slots WHERE slot_name = %s
"""
_KEPT = "SELECT setting FROM pg_settings WHERE name = 'max_slot_wal_keep_size'"
_DROP = "SELECT pg_drop_replication_slot(%s)"
_PUBLICATION = "SELECT FROM pg_publication WHERE pubname = %s"


def main() -> int:
    """Print what is lacking; REFUSED with the reason where the database is not reached."""
    asked = json.load(sys.stdin)
    server = Server(**asked["server"])
    tables = [(schema, name) for schema, name in asked.get("tables", ())]
    try:
        with connected(server) as connection:
            found: Dict[str, Any] = {"slot": slot(connection, asked["slot"])}
            if tables:
                found["lacks"] = list(lacks(connection, tables, asked["name"]))
                found["kept"] = kept(connection)
            if asked.get("drop") and found["slot"]:
                connection.execute(_DROP, (asked["slot"],))
    except psycopg.Error as error:
        return refused(server, Unreachable(str(error).strip()))
    json.dump(found, sys.stdout)
    return 0


def slot(connection: Any, name: str) -> Optional[Dict[str, Any]]:
    """Return whether a slot is read, and the bytes of log that it keeps; None without it."""
    row = connection.execute(_SLOT, (name,)).fetchone()
    return {"is_active": row[0], "lag": int(row[1] or 0)} if row else None


def kept(connection: Any) -> str:
    """Return how much log a slot may keep, as PostgreSQL says it: -1 is without a limit."""
    row = connection.execute(_KEPT).fetchone()
    return str(row[0]) if row else "-1"  # before version 13 there was no limit


def lacks(connection: Any, tables: Sequence[Place], publication: str) -> Iterator[Lack]:
    """Yield what is lacking at the source of these tables."""
    yield from _of_server(connection)
    rows = {each: connection.execute(_TABLE, each).fetchone() for each in tables}
    for place, row in rows.items():
        if row is None:
            yield f"there is no table {'.'.join(place)}", ""
        else:
            yield from _of_table(connection, place, *row)
    there = [place for place, row in rows.items() if row is not None]
    yield from _of_publication(connection, there, publication)


def _of_server(connection: Any) -> Iterator[Lack]:
    (level,) = connection.execute("SHOW wal_level").fetchone()
    if level != "logical":
        statement = "ALTER SYSTEM SET wal_level = logical;"
        yield f"wal_level is {level!r}; restart the server after", statement
    user = connection.info.user
    if not connection.execute(_ROLE).fetchone()[0]:
        statement = _text(connection, "ALTER ROLE {} REPLICATION;", Identifier(user))
        yield f"the role {user} lacks REPLICATION", statement


def _of_table(
    connection: Any, place: Place, is_keyless: bool, is_entered: bool, is_read: bool
) -> Iterator[Lack]:
    schema, name = Identifier(place[0]), Identifier(*place)
    user = Identifier(connection.info.user)
    if not is_entered:
        statement = _text(connection, "GRANT USAGE ON SCHEMA {} TO {};", schema, user)
        yield f"no USAGE on the schema {place[0]}", statement
    if not is_read:
        statement = _text(connection, "GRANT SELECT ON {} TO {};", name, user)
        yield f"no SELECT on {'.'.join(place)}", statement
    if is_keyless:
        statement = _text(connection, "ALTER TABLE {} REPLICA IDENTITY FULL;", name)
        yield f"{'.'.join(place)} has no primary key", statement


def _of_publication(
    connection: Any, tables: Sequence[Place], name: str
) -> Iterator[Lack]:
    published = set(connection.execute(_PUBLISHED, (name,)).fetchall())
    missing = [each for each in tables if each not in published]
    if not missing:
        return
    parts = Identifier(name), SQL(", ").join(Identifier(*each) for each in missing)
    if connection.execute(_PUBLICATION, (name,)).fetchone() is None:
        statement = _text(connection, "CREATE PUBLICATION {} FOR TABLE {};", *parts)
        yield f"there is no publication {name}", statement
    else:
        statement = _text(connection, "ALTER PUBLICATION {} ADD TABLE {};", *parts)
        names = ", ".join(".".join(each) for each in missing)
        yield f"the publication {name} lacks {names}", statement


def _text(connection: Any, statement: str, *parts: Composable) -> str:
    return str(SQL(statement).format(*parts).as_string(connection))


if __name__ == "__main__":
    sys.exit(main())
