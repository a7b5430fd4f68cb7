"""The catalogue of MariaDB or MySQL: four questions for a database of any size.

All texts of SQL are constant; the database's name is a parameter.
"""

from __future__ import annotations

import ssl
from typing import Any, Dict, List, Tuple

import pymysql

from lake_local.onboard.catalog import Catalog, Column, Index, Table
from lake_local.onboard.server import NoSuchSchema, Server, Unreachable

_SECONDS = 15

_SCHEMAS = """
SELECT DISTINCT table_schema FROM information_schema.tables
WHERE table_type = 'BASE TABLE' AND table_schema NOT IN
  ('mysql', 'sys', 'information_schema', 'performance_schema') ORDER BY 1
"""
_SETTINGS = """
SHOW GLOBAL VARIABLES WHERE variable_name IN
  ('log_bin', 'binlog_format', 'binlog_row_image', 'sql_mode', 'version')
"""
_TABLES = """
SELECT table_name, table_rows, data_length, table_comment
FROM information_schema.tables
WHERE table_schema = %s AND table_type = 'BASE TABLE' ORDER BY table_name
"""
_COLUMNS = """
SELECT table_name, column_name, column_type, is_nullable, column_comment, extra
FROM information_schema.columns WHERE table_schema = %s
ORDER BY table_name, ordinal_position
"""
_INDEXES = """
SELECT table_name, index_name, non_unique, column_name, sub_part
FROM information_schema.statistics WHERE table_schema = %s
ORDER BY table_name, index_name, seq_in_index
"""


def read(server: Server, schema: str) -> Catalog:
    """Return the tables of a database. Raises Unreachable or NoSuchSchema."""
    try:
        with _connected(server) as connection:
            return _catalog(connection, schema or server.database)
    except pymysql.MySQLError as error:
        raise Unreachable(str(error.args[-1])) from None


def _connected(server: Server) -> pymysql.Connection[Any]:
    return pymysql.connect(
        host=server.host,
        port=server.port,
        user=server.username,
        password=server.password,
        charset="utf8mb4",
        connect_timeout=_SECONDS,
        **_encryption(server),
    )


def _encryption(server: Server) -> Dict[str, Any]:
    """Require encryption, by a certificate that `ca` signed where the server has one.

    Else certificates are not checked, as with PostgreSQL's `require`; without TLS PyMySQL
    encrypts where the server does.
    """
    if server.ca:
        return {"ssl": ssl.create_default_context(cadata=server.ca)}
    if not server.tls:
        return {}
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return {"ssl": context}


def _catalog(connection: pymysql.Connection[Any], schema: str) -> Catalog:
    def rows(sql: str, *parameters: str) -> List[Tuple[Any, ...]]:
        with connection.cursor() as cursor:
            cursor.execute(sql, parameters or None)
            return list(cursor.fetchall())

    schemas = tuple(name for (name,) in rows(_SCHEMAS))
    if schema not in schemas:
        raise NoSuchSchema(", ".join(schemas) or "none")
    columns = _columns(rows(_COLUMNS, schema))
    indexes = _indexes(rows(_INDEXES, schema))
    tables = tuple(
        Table(
            name=name,
            columns=tuple(columns.get(name, ())),
            indexes=tuple(indexes.get(name, ())),
            rows=count,
            bytes=size,
            comment=comment or "",
        )
        for name, count, size, comment in rows(_TABLES, schema)
    )
    return Catalog("mariadb", schema, tables, dict(rows(_SETTINGS)), schemas)


def _columns(rows: List[Tuple[Any, ...]]) -> Dict[str, List[Column]]:
    found: Dict[str, List[Column]] = {}
    for table, name, kind, nullable, comment, extra in rows:
        if isinstance(kind, bytes):  # as MySQL 8 sends it
            kind = kind.decode()
        column = Column(
            name=name,
            type=kind,
            nullable=nullable == "YES",
            comment=comment or "",
            moves_with_updates="on update" in (extra or "").lower(),
        )
        found.setdefault(table, []).append(column)
    return found


def _indexes(rows: List[Tuple[Any, ...]]) -> Dict[str, List[Index]]:
    parts: Dict[Tuple[str, str], List[Tuple[Any, ...]]] = {}
    for table, name, *facts in rows:
        parts.setdefault((table, name), []).append(tuple(facts))
    found: Dict[str, List[Index]] = {}
    for (table, name), facts in parts.items():
        # An index over the beginnings of texts, or over expressions, identifies nothing.
        if all(column and not part for _, column, part in facts):
            columns = tuple(column for _, column, _ in facts)
            primary = name == "PRIMARY"
            unique = not facts[0][0]
            found.setdefault(table, []).append(Index(name, columns, unique, primary))
    return found
