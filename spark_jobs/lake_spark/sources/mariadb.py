"""MariaDB and MySQL: one session, one statement, one snapshot."""

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

_INTS = ("tinyint", "smallint", "mediumint", "int", "year")
_WHOLE = (*_INTS, "int unsigned", "bigint")
_BYTES = ("binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob")
_TEXTS = ("varchar", "tinytext", "text", "mediumtext", "longtext")
"""Never within a function: one that gives more than max_allowed_packet gives NULL."""

_GEOMETRIES = (
    *("geometry", "point", "linestring", "polygon", "multipoint"),
    *("multilinestring", "multipolygon", "geometrycollection", "geomcollection"),
)
_TIMES = {"date": "date", "datetime": "timestamp_ntz", "timestamp": "timestamp"}


class MariaDbDialect:
    """A snapshot is of one session: a table is read by one statement."""

    driver = "org.mariadb.jdbc.Driver"
    begin: Tuple[str, ...] = ("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",)
    cursors = {**dict.fromkeys((*_WHOLE, "decimal"), "number"), **_TIMES}

    def url(self, database: Database) -> str:
        """Return its JDBC address: by this name Spark quotes as MySQL does."""
        place = f"{database.host}:{database.port}/{database.database}"
        return f"jdbc:mysql://{place}?permitMysqlScheme=true"

    def properties(self, database: Database, ca: Optional[str]) -> Dict[str, str]:
        """Return further properties of every session; `ca` is a file of certificates."""
        tls = {"sslMode": "trust" if database.tls else "disable"}
        if ca is not None:
            tls = {"sslMode": "verify-full", "serverSslCert": ca}
        return {
            **tls,
            # Else a server may ask for any file of the machine that reads it.
            "allowLocalInfile": "false",
            "tcpKeepAlive": "true",
            "tinyInt1isBit": "false",
            "yearIsDateType": "false",
            # A mode of the server's could fill up CHAR, or read "x" as a name.
            "sessionVariables": (
                f"time_zone='+00:00',sql_mode='',lock_wait_timeout={LONGEST_WAIT}"
            ),
        }

    def quoted(self, name: str) -> str:
        """Quote an identifier in SQL."""
        return "`" + name.replace("`", "``") + "`"

    def opened(self, session: Session, table: str) -> SessionSnapshot:
        """Return the time of a session that just began: what ALTER TABLE or TRUNCATE made
        of the table since then, the server itself refuses to read."""
        (at,) = session.texts(
            "SELECT date_format(utc_timestamp(), '%Y-%m-%dT%H-%i-%s')"
        )
        return SessionSnapshot(at)

    def joining(self, opened: SessionSnapshot) -> str:
        """Return the statement that begins a session of Spark's."""
        return self.begin[0]

    def columns(self, session: Session, table: str) -> List[SourceColumn]:
        """Return the columns of a table, in its order; hidden and generated ones too."""
        return [
            _column(str(name), str(declared), nullable == "YES")
            for name, declared, _, nullable, *_ in session.rows(
                f"SHOW FULL COLUMNS FROM {table}"
            )
        ]

    def is_sent(self, column: SourceColumn) -> bool:
        """Return whether Debezium sends values of a column."""
        return True

    def now(self, session: Session) -> str:
        """Return the server's time, UTC, as text."""
        return str(session.row("SELECT CAST(utc_timestamp(6) AS char)")[0])

    def newest(
        self, session: Session, table: str, column: SourceColumn
    ) -> Optional[str]:
        """Return None: AUTO_INCREMENT follows the greatest number, whoever gave it."""
        return None

    def reading(self, column: SourceColumn, wanted: TargetColumn) -> Reading:
        """Return how a column is read without loss."""
        name, kind = self.quoted(column.name), column.type
        made = _like_events(name, column) if wanted.as_events else None
        if made is not None and wanted.is_a(*_EVENT_TYPES[kind]):
            return made
        if kind in (*_BYTES, *_TEXTS):
            return Reading(name)
        if kind == "float":  # its text has six digits, its value seven
            return Reading(f"{name} + 0e0", "float")
        if kind == "double" and not (wanted.as_text and not wanted.as_events):
            return Reading(name)
        if kind in _WHOLE and not wanted.as_text:
            number = f"CAST({name} AS signed)"
            return Reading(number, "int" if kind in _INTS else None)
        if kind in _GEOMETRIES:
            return Reading(_text(f"ST_AsText({name})"))
        if kind == "bit":
            return Reading(_text(f"{name} + 0"), None if wanted.as_text else _BITS)
        text = _text(name)
        if kind == "timestamp":
            text = _text(f"concat({name}, '+00:00')")
        if wanted.as_text:
            return Reading(text)
        exact = decimal_of(column.digits) if kind == "decimal" else None
        return Reading(text, exact or _TIMES.get(kind))

    def edges(
        self, session: Session, table: str, column: SourceColumn, parts: int
    ) -> List[str]:
        """Return []: several sessions have no snapshot in common."""
        return []

    def as_cursor(self, column: SourceColumn, sql: str) -> str:
        """Return SQL of the text of a cursor's value."""
        if column.type in _TIMES:
            sql = f"CAST({sql} AS datetime(6))"
        return f"CAST({sql} AS char)"

    def literal(self, column: SourceColumn, value: str) -> str:
        """Return a cursor's value, as its text, in SQL."""
        return f"TIMESTAMP '{value}'" if column.type in _TIMES else value


_BITS = "decimal(20,0)"
_EVENT_TYPES = {
    "time": ("bigint",),
    "bit": ("binary",),
    **dict.fromkeys(_GEOMETRIES, ("struct",)),
}
"""Types in which a table takes what events have of a kind."""


def _column(name: str, declared: str, nullable: bool) -> SourceColumn:
    """Return the column: `decimal(10,2) unsigned` as decimal of 10 and 2 digits."""
    found = re.match(r"(\w+)(?:\((\d+)(?:,(\d+))?\))?(.*)", declared.lower())
    kind, *digits = found.groups()[:3] if found else (declared,)
    ends = found[4] if found else ""
    if "unsigned" in ends and kind in ("int", "bigint"):
        kind += " unsigned"
    numbers = tuple(int(each) for each in digits if each)
    return SourceColumn(name, kind, numbers, nullable=nullable)


def _text(value: str) -> str:
    """Return the server's text.

    CAST AS CHAR is CHAR(n) to the driver, which fills it up.
    """
    return f"concat(CAST({value} AS char), '')"


def _like_events(name: str, column: SourceColumn) -> Optional[Reading]:
    """Return a value as Debezium writes it; None where that is the server's own text."""
    kind = column.type
    if kind == "time":
        return Reading(f"CAST(round(time_to_sec({name}) * 1000000) AS signed)")
    if kind == "bit":
        pairs = (((column.digits or (1,))[0] + 7) // 8) * 2
        return Reading(f"reverse(unhex(lpad(hex({name} + 0), {pairs}, '0')))")
    if kind == "point":
        made = f'concat(\'{{"x":"\', ST_X({name}), \'","y":"\', ST_Y({name}), \'"}}\')'
        return Reading(made, "struct<x:double,y:double>")
    if kind in _GEOMETRIES:
        wkb = f"replace(to_base64(ST_AsWKB({name})), '\\n', '')"
        srid = f"coalesce(nullif(ST_SRID({name}), 0), 'null')"
        made = f"concat('{{\"wkb\":\"', {wkb}, '\",\"srid\":', {srid}, '}}')"
        return Reading(made, "struct<wkb:string,srid:int>")
    return None
