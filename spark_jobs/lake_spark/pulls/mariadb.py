"""MariaDB and MySQL: one session, one statement, one snapshot."""

from __future__ import annotations

from typing import Dict, List

from lake_spec.model import MariaDb
from lake_spark.pulls.database import (
    LONGEST_WAIT,
    Opened,
    Reading,
    Session,
    SourceColumn,
)

_WHOLE = ("tinyint", "smallint", "mediumint", "int", "integer", "bigint", "year")
_KEPT = ("float", "double", "varchar", "char", "tinytext", "text", "mediumtext")
_KEPT += ("longtext", "binary", "varbinary", "tinyblob", "blob", "mediumblob")
_KEPT += ("longblob",)
_GEOMETRIES = ("geometry", "point", "linestring", "polygon", "multipoint")
_GEOMETRIES += ("multilinestring", "multipolygon", "geometrycollection")
_TIMES = {"date": "date", "datetime": "timestamp_ntz", "timestamp": "timestamp"}
_MOST_DIGITS = 38


class MariaDbDialect:
    """A snapshot is of one session: a table is read by one statement."""

    driver = "org.mariadb.jdbc.Driver"
    begin = ("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",)
    cursors = {**dict.fromkeys((*_WHOLE, "decimal"), "number"), **_TIMES}

    def url(self, database: MariaDb) -> str:
        """Its JDBC address: by this name Spark quotes as MySQL does."""
        place = f"{database.host}:{database.port}/{database.database}"
        return f"jdbc:mysql://{place}?permitMysqlScheme=true"

    def properties(self, database: MariaDb) -> Dict[str, str]:
        """Further properties of every session."""
        return {
            "sslMode": "trust" if database.tls else "disable",
            "tcpKeepAlive": "true",
            "tinyInt1isBit": "false",
            "yearIsDateType": "false",
            "sessionVariables": (
                f"time_zone='+00:00',lock_wait_timeout={LONGEST_WAIT}"
            ),
        }

    def quoted(self, name: str) -> str:
        """An identifier in SQL."""
        return "`" + name.replace("`", "``") + "`"

    def opened(self, session: Session, table: str) -> Opened:
        """The time of a session that has just begun: what ALTER TABLE or TRUNCATE made
        of the table since then, the server itself refuses to read."""
        (at,) = session.row("SELECT date_format(utc_timestamp(), '%Y-%m-%dT%H-%i-%s')")
        return Opened(at)

    def joining(self, opened: Opened) -> str:
        """The statement that begins a session of Spark's."""
        return self.begin[0]

    def reading(self, column: SourceColumn, *, as_text: bool) -> Reading:
        """How a column is read without loss."""
        name, kind = self.quoted(column.name), column.type
        plain = kind.replace(" unsigned", "").replace(" zerofill", "")
        is_exact = plain == "decimal" and column.precision <= _MOST_DIGITS
        if kind in (*_KEPT, *_WHOLE) or is_exact:
            return Reading(name)
        if plain in _WHOLE and plain != "bigint":
            return Reading(f"CAST({name} AS signed)")
        if kind == "bit":
            return Reading(f"CAST({name} + 0 AS decimal(20,0))")
        if kind in _GEOMETRIES:
            return Reading(f"ST_AsText({name})")
        text = f"CAST({name} AS char)"
        if kind == "timestamp":
            text = f"concat({text}, '+00:00')"
        return Reading(text, None if as_text else _TIMES.get(kind))

    def edges(
        self, session: Session, table: str, column: SourceColumn, parts: int
    ) -> List[str]:
        """None: several sessions have no snapshot in common."""
        return []

    def greatest(self, column: SourceColumn) -> str:
        """SQL of a cursor's greatest value, as text."""
        greatest = f"max({self.quoted(column.name)})"
        if column.type in _TIMES:
            greatest = f"CAST({greatest} AS datetime(6))"
        return f"CAST({greatest} AS char)"

    def literal(self, column: SourceColumn, value: str) -> str:
        """A cursor's value, as its text, in SQL."""
        return f"TIMESTAMP '{value}'" if column.type in _TIMES else value
