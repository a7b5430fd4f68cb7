"""The catalogue of PostgreSQL: four questions for a schema of any size.

All texts of SQL are constant; the schema's name is a parameter.
"""

from __future__ import annotations

from tempfile import NamedTemporaryFile
from typing import Any, Dict, List, Tuple

import psycopg

from lake_local.onboard.catalog import Catalog, Column, DOMAINS_OF_ENUMS, Index, Table
from lake_local.onboard.server import NoSuchSchema, Server, Unreachable

DEFAULT_SCHEMA = "public"
_SECONDS = 15

_SCHEMAS = """
SELECT DISTINCT n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND n.nspname <> 'information_schema'
  AND n.nspname NOT LIKE 'pg\\_%' ORDER BY 1
"""
_SETTINGS = """
SELECT name, setting FROM pg_settings WHERE name IN ('wal_level', 'server_version')
"""
# A partitioned table has no rows of its own: those of its leaves count.
_TABLES = """
SELECT c.oid, c.relname,
  CASE WHEN c.relkind = 'r' THEN c.reltuples ELSE (
    SELECT sum(greatest(leaf.reltuples, 0)) FROM pg_partition_tree(c.oid) p
    JOIN pg_class leaf ON leaf.oid = p.relid WHERE p.isleaf) END::bigint,
  CASE WHEN c.relkind = 'r' THEN pg_table_size(c.oid) ELSE (
    SELECT sum(pg_table_size(p.relid)) FROM pg_partition_tree(c.oid) p
    WHERE p.isleaf) END::bigint,
  coalesce(obj_description(c.oid, 'pg_class'), ''),
  CASE c.relreplident WHEN 'd' THEN 'default' WHEN 'n' THEN 'nothing'
    WHEN 'f' THEN 'full' ELSE 'index' END,
  coalesce(CASE WHEN c.relispartition THEN parent.relname::text END, ''),
  c.relkind = 'p'
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_inherits i ON i.inhrelid = c.oid AND c.relispartition
LEFT JOIN pg_class parent ON parent.oid = i.inhparent
WHERE n.nspname = %s AND c.relkind IN ('r', 'p') ORDER BY c.relname
"""
# Domains are followed to the type below them, with the first modifier on the way.
_COLUMNS = """
WITH RECURSIVE below (domain, type, modifier) AS (
  SELECT oid, typbasetype, typtypmod FROM pg_type WHERE typtype = 'd'
  UNION ALL
  SELECT b.domain, t.typbasetype, CASE b.modifier WHEN -1 THEN t.typtypmod
    ELSE b.modifier END
  FROM below b JOIN pg_type t ON t.oid = b.type WHERE t.typtype = 'd'
), base AS (
  SELECT b.* FROM below b JOIN pg_type t ON t.oid = b.type WHERE t.typtype <> 'd'
)
SELECT a.attrelid, a.attname,
  format_type(t.oid, coalesce(base.modifier, a.atttypmod)),
  NOT a.attnotnull,
  CASE WHEN one.typtype = 'e' THEN 'enum' WHEN one.typtype = 'c' THEN 'composite'
    WHEN one.typtype = 'r' THEN 'range' WHEN one.typtype = 'm' THEN 'multirange'
    WHEN one.typnamespace <> 'pg_catalog'::regnamespace THEN 'extension'
    ELSE 'base' END,
  coalesce(col_description(a.attrelid, a.attnum), ''),
  coalesce(to_jsonb(a) ->> 'attgenerated', '') <> ''
FROM pg_attribute a
JOIN pg_class c ON c.oid = a.attrelid
JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN base ON base.domain = a.atttypid
JOIN pg_type t ON t.oid = coalesce(base.type, a.atttypid)
JOIN pg_type one ON one.oid = CASE WHEN t.typcategory = 'A' AND t.typelem <> 0
  THEN t.typelem ELSE t.oid END
WHERE n.nspname = %s AND c.relkind IN ('r', 'p') AND a.attnum > 0
  AND NOT a.attisdropped ORDER BY a.attrelid, a.attnum
"""
# Indexes over expressions, or over some of the rows, identify nothing.
_INDEXES = """
SELECT x.indrelid, i.relname, x.indisunique, x.indisprimary, x.indisreplident,
  (SELECT array_agg(a.attname::text ORDER BY k.place)
   FROM unnest(x.indkey::int2[]) WITH ORDINALITY k (number, place)
   JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = k.number
   WHERE k.place <= x.indnkeyatts)
FROM pg_index x
JOIN pg_class i ON i.oid = x.indexrelid
JOIN pg_class c ON c.oid = x.indrelid
JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = %s AND c.relkind IN ('r', 'p') AND x.indisvalid
  AND x.indpred IS NULL AND x.indexprs IS NULL ORDER BY x.indrelid, i.relname
"""


# Over all schemas: the connector reads every type at its start.
_DOMAINS_OF_ENUMS = """
SELECT d.typname FROM pg_type d JOIN pg_type b ON b.oid = d.typbasetype
WHERE d.typtype = 'd' AND b.typtype = 'e' ORDER BY 1
"""


def read(server: Server, schema: str) -> Catalog:
    """Return the tables of a schema. Raises Unreachable or NoSuchSchema."""
    schema = schema or DEFAULT_SCHEMA
    try:
        with connected(server) as connection:
            return _catalog(connection, schema)
    except psycopg.Error as error:
        raise Unreachable(str(error).strip()) from None


def connected(server: Server) -> psycopg.Connection[Any]:
    """Return a connection that reads and changes nothing."""
    with NamedTemporaryFile("w", suffix=".pem") as ca:  # libpq takes a file alone
        ca.write(server.ca)
        ca.flush()
        tls = {"sslmode": "require" if server.tls else "prefer"}
        if server.ca:
            tls = {"sslmode": "verify-full", "sslrootcert": ca.name}
        connection = psycopg.connect(
            host=server.host,
            port=server.port,
            dbname=server.database,
            user=server.username,
            password=server.password,
            connect_timeout=_SECONDS,
            application_name="lake onboard",
            **tls,
        )
    connection.read_only = True
    return connection


def _catalog(connection: psycopg.Connection[Any], schema: str) -> Catalog:
    schemas = tuple(row[0] for row in connection.execute(_SCHEMAS))
    if schema not in schemas:
        raise NoSuchSchema(", ".join(schemas) or "none")
    columns = _by_table(connection.execute(_COLUMNS, (schema,)), _column)
    indexes = _by_table(connection.execute(_INDEXES, (schema,)), _index)
    tables = tuple(
        _table(row, columns.get(row[0], ()), indexes.get(row[0], ()))
        for row in connection.execute(_TABLES, (schema,))
    )
    settings = dict(connection.execute(_SETTINGS).fetchall())
    domains = [name for (name,) in connection.execute(_DOMAINS_OF_ENUMS)]
    settings[DOMAINS_OF_ENUMS] = ", ".join(domains)
    return Catalog("postgresql", schema, tables, settings, schemas)


def _by_table(rows: Any, make: Any) -> Dict[int, Tuple[Any, ...]]:
    found: Dict[int, List[Any]] = {}
    for table, *facts in rows:
        found.setdefault(table, []).append(make(*facts))
    return {table: tuple(each) for table, each in found.items()}


def _column(
    name: str, type: str, nullable: bool, kind: str, comment: str, generated: bool
) -> Column:
    return Column(name, type, nullable, kind, comment, generated=generated)


def _index(
    name: str, unique: bool, primary: bool, identifies: bool, columns: List[str]
) -> Index:
    return Index(name, tuple(columns or ()), unique, primary, identifies)


def _table(
    row: Tuple[Any, ...], columns: Tuple[Column, ...], indexes: Tuple[Index, ...]
) -> Table:
    _, name, rows, size, comment, identity, parent, partitioned = row
    return Table(
        name=name,
        columns=columns,
        indexes=indexes,
        # Below zero: never counted.
        rows=None if rows is None or rows < 0 else rows,
        bytes=size,
        comment=comment,
        replica_identity=identity,
        parent=parent,
        partitioned=partitioned,
    )
