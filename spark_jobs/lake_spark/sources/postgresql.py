"""PostgreSQL: sessions that share a snapshot, and its types without loss."""

from __future__ import annotations

import re
from typing import Dict, List, Optional, Tuple

from lake_spec.model.connections import Database
from lake_spark.sources.database import (
    LONGEST_WAIT,
    Reading,
    Session,
    SessionSnapshot,
    SourceColumn,
    TargetColumn,
    decimal_of,
)

_NUMBERS = ("bool", "int4", "int8", "float4", "float8")
_WHOLE = ("int2", "int4", "int8")
_DIGITS = re.compile(r"-?\d+")
_TEXTS = ("text", "varchar")
_TIMES = {"date": "date", "timestamp": "timestamp_ntz", "timestamptz": "timestamp"}
_CASTS = (*_NUMBERS, *_TEXTS, *_TIMES, "int2", "numeric", "uuid", "json", "jsonb")
_CASTS += ("time", "timetz", "oid", "interval", "citext")
"""Types whose cast to text is the text that the server shows; of all others, as of
char(n), inet and xml, the cast is another one."""

_ELEMENTS = {"bool": "boolean", "int2": "int", "int4": "int", "int8": "bigint"}
_ELEMENTS.update(float4="float", float8="double")
_NOT_LOCKABLE = "42809"
"""What PostgreSQL says of LOCK TABLE of a materialized view, which needs none."""

_NOW = (
    """to_char(statement_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24-MI-SS')"""
)
_FROM_SECONDS = {
    "date": "CAST(to_timestamp({}) AT TIME ZONE 'UTC' AS date)",
    "timestamp": "to_timestamp({}) AT TIME ZONE 'UTC'",
    "timestamptz": "to_timestamp({})",
}

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
), plain AS (
  SELECT t.oid, t.typtypmod AS modifier, t.typelem, CASE
    WHEN t.typnamespace = 'pg_catalog'::regnamespace THEN t.typname::text
    WHEN t.typtype = 'b' THEN CASE WHEN t.typname IN ('citext', 'hstore')
      THEN t.typname::text ELSE 'extension' END
    WHEN t.typtype = 'e' THEN 'enum' WHEN t.typtype = 'c' THEN 'composite'
    ELSE 'range' END AS name
  FROM pg_type t
)
SELECT a.attname, own.name, format_type(own.oid, coalesce(base.modifier, a.atttypmod)),
  coalesce(one.name, ''),
  coalesce(format_type(one.oid, coalesce(inner_base.modifier, base.modifier,
    a.atttypmod)), ''),
  a.attnotnull, coalesce(to_jsonb(a) ->> 'attgenerated', '') <> ''
FROM pg_attribute a
LEFT JOIN base ON base.domain = a.atttypid
JOIN plain own ON own.oid = coalesce(base.type, a.atttypid)
LEFT JOIN pg_type element ON element.oid = own.typelem AND element.typarray = own.oid
LEFT JOIN base inner_base ON inner_base.domain = element.oid
LEFT JOIN plain one ON one.oid = coalesce(inner_base.type, element.oid)
WHERE a.attrelid = CAST({} AS regclass) AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum
"""


_SENT = (*_CASTS, "money", "bpchar", "bytea", "bit", "varbit", "xml", "inet", "cidr")
_SENT += ("macaddr", "macaddr8", "int4range", "int8range", "numrange", "tsrange")
_SENT += ("tstzrange", "daterange", "point", "enum", "hstore", "char")
_SENT += ("extension",)
_NO_LISTS_SENT = ("json", "jsonb", "money", "interval", "bit", "varbit")
"""Types of which Debezium sends values, and those of which it sends no arrays."""


class PostgreSqlDialect:
    """One snapshot, which the driver exports and every session of Spark's joins."""

    driver = "org.postgresql.Driver"
    begin: Tuple[str, ...] = (
        "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY",
        "SET LOCAL TIME ZONE 'UTC'",
        # It waits while Spark reads, and the snapshot goes with it.
        "SET LOCAL idle_in_transaction_session_timeout = 0",
    )
    looks = (
        "SET LOCAL bytea_output = 'hex'",
        "SET LOCAL intervalstyle = 'postgres'",
        "SET LOCAL extra_float_digits = 3",
    )
    """What else the texts of values depend on, and what users and databases may set."""

    cursors = {**dict.fromkeys((*_WHOLE, "numeric"), "number"), **_TIMES}

    def url(self, database: Database) -> str:
        """Return its JDBC address, without user and password."""
        place = f"{database.host}:{database.port}/{database.database}"
        return f"jdbc:postgresql://{place}"

    def properties(self, database: Database, ca: Optional[str]) -> Dict[str, str]:
        """Return further properties of every session; `ca` is a file of certificates."""
        tls = {"sslmode": "require" if database.tls else "prefer"}
        if ca is not None:
            tls = {"sslmode": "verify-full", "sslrootcert": ca}
        return {
            **tls,
            "tcpKeepAlive": "true",
            "ApplicationName": "lake",
        }

    def quoted(self, name: str) -> str:
        """Quote an identifier in SQL."""
        return '"' + name.replace('"', '""') + '"'

    def opened(self, session: Session, table: str) -> SessionSnapshot:
        """Return the time and the snapshot of a session that just began to read a table.

        Where TRUNCATE or ALTER TABLE gave it new files, an older snapshot shows it
        empty. So the table is locked against them first.
        """
        lock = f"LOCK TABLE {table} IN ACCESS SHARE MODE"
        session.attempt(lock, but=_NOT_LOCKABLE)
        at, snapshot = session.texts(f"SELECT {_NOW}, pg_export_snapshot()")
        return SessionSnapshot(at, snapshot)

    def joining(self, opened: SessionSnapshot) -> str:
        """Return the statement that begins a session of Spark's in the same snapshot."""
        snapshot = f"SET TRANSACTION SNAPSHOT '{opened.snapshot}'"
        first, zone, *_ = self.begin
        wait = f"SET LOCAL lock_timeout = '{LONGEST_WAIT}s'"
        return "; ".join((first, snapshot, zone, wait, *self.looks))

    def columns(self, session: Session, table: str) -> List[SourceColumn]:
        """Return the columns of a table, in its order; hidden and generated ones too."""
        name = table.replace("'", "''")
        return [
            SourceColumn(
                name=str(row[0]),
                type=str(row[1]),
                digits=_digits(row[4] or row[2] or ""),
                element=row[3] or "",
                nullable=row[5] != "t",
                generated=row[6] == "t",
            )
            for row in session.rows(_COLUMNS.format(f"'{name}'"))
        ]

    def is_sent(self, column: SourceColumn) -> bool:
        """Return whether Debezium sends values of a column."""
        if column.generated:
            return False
        if column.element:
            return column.element in _SENT and column.element not in _NO_LISTS_SENT
        return column.type in _SENT

    def now(self, session: Session) -> str:
        """Return the server's time, UTC, as text."""
        now = "CAST(clock_timestamp() AT TIME ZONE 'UTC' AS text)"
        return str(session.row(f"SELECT {now}")[0])

    def newest(
        self, session: Session, table: str, column: SourceColumn
    ) -> Optional[str]:
        """Return the last number of the sequence that belongs to the column, if any."""
        place, name = table.replace("'", "''"), column.name.replace("'", "''")
        # Only who may read the sequence sees it; a view has no sequence.
        return session.row(
            "SELECT (SELECT CAST(pg_sequence_last_value(d.objid) AS text) FROM pg_depend d"
            " JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S'"
            " JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid"
            f" WHERE d.refobjid = CAST('{place}' AS regclass) AND a.attname = '{name}'"
            " AND d.classid = CAST('pg_class' AS regclass) AND d.deptype IN ('a', 'i')"
            " AND has_sequence_privilege(d.objid, 'SELECT') LIMIT 1)"
        )[0]

    def reading(self, column: SourceColumn, wanted: TargetColumn) -> Reading:
        """Return how a column is read without loss."""
        name, kind = self.quoted(column.name), column.type
        if column.element and not wanted.as_text:
            return _array(name, column, wanted)
        if kind in (*_NUMBERS, "bytea", "int2"):
            if kind == "int2":
                name = f"CAST({name} AS int4)"
            if not wanted.as_text or wanted.as_events:
                return Reading(name)
        if wanted.as_text:
            events = _like_events(name, column) if wanted.as_events else ""
            return Reading(events or _text(name, kind))
        return _typed(name, column, wanted)

    def edges(
        self, session: Session, table: str, column: SourceColumn, parts: int
    ) -> List[str]:
        """Return literals that cut the column's values into so many ranges; [] for one."""
        name, kind = self.quoted(column.name), column.type
        if kind not in _WHOLE and kind not in _TIMES:
            return []
        number = "{}" if kind in _WHOLE else "floor(extract(epoch FROM {}))"
        ends = [number.format(f"{each}({name})") for each in ("min", "max")]
        texts = session.row(f"SELECT {', '.join(ends)} FROM {table}")
        numbers = [int(text) for text in texts if text and _DIGITS.fullmatch(text)]
        if len(numbers) < 2:
            return []  # no rows, or an infinite time
        low, high = numbers
        parts = min(parts, high - low + 1)
        cuts = [low + (high - low + 1) * each // parts for each in range(1, parts)]
        return [_FROM_SECONDS.get(kind, "{}").format(cut) for cut in cuts]

    def as_cursor(self, column: SourceColumn, sql: str) -> str:
        """Return SQL of the text of a cursor's value."""
        if column.type not in _TIMES:
            return f"CAST({sql} AS text)"
        if column.type == "timestamptz":
            sql = f"{sql} AT TIME ZONE 'UTC'"
        return f"CAST(CAST({sql} AS timestamp) AS text)"

    def literal(self, column: SourceColumn, value: str) -> str:
        """Return a cursor's value, as its text, in SQL."""
        if column.type not in _TIMES:
            return value
        if column.type == "timestamptz":
            return f"CAST('{value}+00' AS timestamptz)"
        return f"CAST('{value}' AS timestamp)"


def _digits(declared: str) -> Tuple[int, ...]:
    """Return the numbers in the parentheses of a type."""
    found = re.search(r"\((-?\d+)(?:,(-?\d+))?\)", declared)
    return tuple(int(each) for each in found.groups() if each) if found else ()


def _text(value: str, kind: str) -> str:
    """Return the text that the server shows to everybody."""
    if kind in _CASTS:
        return f"CAST({value} AS text)"
    if kind == "money":  # its text depends on the server's language
        return f"CAST(CAST({value} AS numeric) AS text)"
    return f"CASE WHEN num_nulls({value}) = 0 THEN format('%s', {value}) END"


def _typed(name: str, column: SourceColumn, wanted: TargetColumn) -> Reading:
    kind, digits = column.type, column.digits
    if wanted.is_a("bigint", "int") and kind in ("time", "interval"):
        return Reading(_number_of(name, kind, digits))
    if wanted.is_a("binary") and kind in ("bit", "varbit"):
        return Reading(f"CAST({name} AS text)", "bits")
    if kind == "point" and wanted.type is not None and wanted.type.name == "struct":
        parts = f"'x', CAST({name}[0] AS text), 'y', CAST({name}[1] AS text)"
        made = f"CAST(json_build_object({parts}) AS text)"
        found = f"CASE WHEN {name} IS NOT NULL THEN {made} END"
        return Reading(found, "struct<x:double,y:double>")
    if kind == "numeric":
        return Reading(_text(name, kind), decimal_of(digits))
    return Reading(_text(name, kind), _TIMES.get(kind))


def _number_of(value: str, kind: str, digits: Tuple[int, ...]) -> str:
    """Return a time of day or an interval as Debezium counts it."""
    if kind == "time":
        places = digits[0] if digits else 6
        unit = 1000 if places <= 3 else 1_000_000
        return f"CAST(extract(epoch FROM {value}) * {unit} AS int8)"
    month = 2_629_800_000_000  # of 365.25 days a year
    parts = (
        ("year", 12 * month),
        ("month", month),
        ("day", 86_400_000_000),
        ("hour", 3_600_000_000),
        ("minute", 60_000_000),
        ("microseconds", 1),
    )
    terms = (f"extract({part} FROM {value}) * {unit}" for part, unit in parts)
    return f"CAST({' + '.join(terms)} AS int8)"


def _like_events(value: str, column: SourceColumn) -> str:
    """Return the text that events have, where it is not the server's own; else ''."""
    if column.type == "timetz":
        shifted = f"CAST({value} AT TIME ZONE 'UTC' AS text)"
        return f"replace({shifted}, '+00', 'Z')"
    if column.type == "hstore":  # its cast to json needs no search path
        pairs = "string_agg(CAST(to_json(k) AS text) || ':' || CAST(v AS text), ',')"
        listed = f"SELECT {pairs} FROM json_each(CAST({value} AS json)) AS e (k, v)"
        made = f"'{{' || coalesce(({listed}), '') || '}}'"
        return f"CASE WHEN {value} IS NOT NULL THEN {made} END"
    return ""


def _array(name: str, column: SourceColumn, wanted: TargetColumn) -> Reading:
    """Read arrays of one dimension as JSON of texts; mark others."""
    kind = column.element
    inner = wanted.type.inner[0] if wanted.type and wanted.type.inner else None
    each = TargetColumn(inner, wanted.as_events)
    if kind == "composite":  # in FROM its fields would be columns
        values = f"SELECT {_text(f'{name}[i]', kind)}"
        values += f" FROM generate_subscripts({name}, 1) AS i ORDER BY i"
    else:
        values = f"SELECT {_element('e', column, each)}"
        values += f" FROM unnest({name}) WITH ORDINALITY AS u (e, n) ORDER BY n"
    made = f"CAST(to_json(ARRAY({values})) AS text)"
    if kind in _CASTS and kind != "timestamptz" and not each.as_events:
        made = f"CAST(to_json(CAST({name} AS text[])) AS text)"
    return Reading(
        f"CASE WHEN array_ndims({name}) > 1 THEN '!' || CAST({name} AS text)"
        f" WHEN {name} IS NOT NULL THEN {made} END",
        f"array<{_ELEMENTS.get(kind, 'string')}>",
    )


def _element(value: str, column: SourceColumn, wanted: TargetColumn) -> str:
    kind = column.element
    if wanted.as_events:
        if kind == "bytea":
            return f"replace(encode({value}, 'base64'), E'\\n', '')"
        if wanted.is_a("bigint", "int") and kind == "time":
            return f"CAST({_number_of(value, kind, column.digits)} AS text)"
        if wanted.is_a("bigint", "int") and kind == "date":
            return f"CAST({value} - DATE '1970-01-01' AS text)"
        if wanted.is_a("bigint", "int") and kind == "timestamp":
            unit = 1000 if (column.digits or (6,))[0] <= 3 else 1_000_000
            return f"CAST(CAST(extract(epoch FROM {value}) * {unit} AS int8) AS text)"
    is_time = wanted.type is not None and wanted.type.name == "timestamp"
    if kind == "timestamptz" and (wanted.as_events or is_time):
        return f"replace(replace(CAST({value} AS text), ' ', 'T'), '+00', 'Z')"
    return _text(value, kind)
