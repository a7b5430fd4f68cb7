"""Every type of PostgreSQL and MariaDB on each way into the lake, on real servers.

    python -m tests.servers.types_matrix

writes docs/sources/types.md. A table has one column for each type, and one row for
each of its values, so that a value that is refused takes no other with it. Its spec
is the one that `onboard` writes. What arrives is compared with the server's own text.
"""

from __future__ import annotations

import base64
import struct
import sys
import tempfile
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any, Dict, Iterable, Iterator, Sequence, Tuple

from pyspark.sql import SparkSession

from lake_check.parsing.loader import load_domain
from lake_local.onboard import mariadb, postgresql
from lake_local.onboard.origin import JDBC, KAFKA, Origin
from lake_local.onboard.plan import Draft, Request, planned
from lake_local.onboard.server import Server as Asked
from lake_spec.model import TableSpec
from lake_spec.model.choices import Connector
from tests.loop.servers import Servers
from tests.servers.connectors import mariadb_connector, postgresql_connector
from tests.spark.pulling import (
    PASSWORD,
    ConnectedLake,
    kafka_at,
    logging_in,
    mariadb_at,
    postgresql_at,
)

PAGE = Path(__file__).resolve().parents[2] / "docs" / "sources" / "types.md"
SCHEMA, TABLE, ELSEWHERE = "types", "matrix", "elsewhere"

Types = Dict[str, Tuple[str, ...]]

POSTGRESQL: Types = {
    "boolean": ("true", "false"),
    "smallint": ("-32768",),
    "integer": ("2147483647",),
    "bigint": ("9007199254740993", "-9223372036854775808"),
    "oid": ("4294967295",),
    "real": ("0.1", "16777216", "'NaN'", "'-Infinity'", "'-0'"),
    "double precision": ("0.1", "1e300", "'NaN'", "'Infinity'", "'-0'"),
    "numeric(38,10)": ("123456789012345678.1234567891", "-0.0000000001"),
    "numeric(20,2)": ("99999999999999.99", "1.10"),
    "numeric(5,-2)": ("12345",),
    "numeric(45,3)": ("123456789012345678901234567890123456789012.001",),
    "numeric": ("0.123456789012345678", "12345678901234567890"),
    "money": ("'$1,234.50'",),
    "text": ("'a''b'", "''", "E'tab\\tline\\n'", "'日本 🙂'"),
    "varchar(20)": ("'ab  '",),
    "char(4)": ("'ab'",),
    "bpchar": ("'ab  '",),
    '"char"': ("'x'",),
    "name": ("'abc'",),
    "elsewhere.mood": ("'so so'",),
    "bytea": ("'\\x00ff'", "''"),
    "bit(1)": ("B'1'",),
    "bit(9)": ("B'100000001'",),
    "varbit(12)": ("B'101'", "B'100000000001'"),
    "date": ("'2024-02-29'", "'0001-01-01'", "'9999-12-31'"),
    "timestamp": ("'2024-02-29 12:34:56.123456'", "'1969-12-31 23:59:59.999999'"),
    "timestamp(3)": ("'2024-02-29 12:34:56.123'",),
    "timestamptz": ("'2024-02-29 12:34:56.123456+05:30'",),
    "time": ("'23:59:59.999999'", "'24:00:00'"),
    "time(3)": ("'12:34:56.789'",),
    "timetz": ("'12:34:56.5+05:30'",),
    "interval": ("'1 year 2 mons -3 days 04:05:06.7'",),
    "uuid": ("'5a3c1f00-0000-4000-8000-000000000001'",),
    "json": ("""'{"a": 1.10}'""",),
    "jsonb": ("""'{"a": [1.10, null]}'""",),
    "xml": ("'<a>1</a>'",),
    "inet": ("'10.0.0.1'", "'10.0.0.0/8'", "'::1'"),
    "cidr": ("'10.0.0.0/8'",),
    "macaddr": ("'08:00:2b:01:02:03'",),
    "macaddr8": ("'08:00:2b:01:02:03:04:05'",),
    "int4range": ("'[1,5)'", "'empty'"),
    "tstzrange": ("""'["2024-01-01 00:00:00+00",)'""",),
    "int4multirange": ("'{[1,5)}'",),
    "point": ("'(1e300,0.1)'",),
    "box": ("'(1,1),(0,0)'",),
    "tsvector": ("'a fat cat'",),
    "pg_lsn": ("'16/B374D848'",),
    "jsonpath": ("'$.a'",),
    "hstore": ("'a=>1, b=>NULL'",),
    "citext": ("'aB'",),
    "ltree": ("'a.b'",),
    "elsewhere.pair": ("'(1,x)'",),
    "elsewhere.positive": ("1.5",),
    "integer[]": ("'{1,NULL,3}'", "'{}'"),
    "bigint[]": ("'{9007199254740993}'",),
    "double precision[]": ("'{0.1,NaN}'",),
    "boolean[]": ("'{t,f}'",),
    "text[]": ("""'{a,"b,c",NULL,"NULL"}'""",),
    "numeric(9,2)[]": ("'{1.10}'",),
    "date[]": ("'{2024-02-29}'",),
    "timestamptz[]": ("'{2024-02-29 12:34:56.5+00}'",),
    "uuid[]": ("'{5a3c1f00-0000-4000-8000-000000000001}'",),
    "json[]": ("""'{"{\\"a\\": 1}"}'""",),
    "elsewhere.mood[]": ("""'{good,"so so"}'""",),
}
"""Types and values in SQL. `elsewhere` is a schema out of the search path."""

MARIADB: Types = {
    "tinyint": ("-128",),
    "tinyint(1)": ("1", "0"),
    "tinyint unsigned": ("255",),
    "smallint unsigned": ("65535",),
    "mediumint": ("-8388608",),
    "int": ("-2147483648",),
    "int unsigned": ("4294967295",),
    "int(6) zerofill": ("42",),
    "bigint": ("-9223372036854775808",),
    "bigint unsigned": ("7", "9223372036854775807"),
    "decimal(38,10)": ("123456789012345678.1234567891",),
    "decimal(20,2)": ("99999999999999.99",),
    "decimal(65,30)": ("-12345678901234567890.123456789012345678901234567890",),
    "float": ("16777216", "1.234567"),
    "double": ("0.1", "-1e300"),
    "double(12,3)": ("-0.001",),
    "bit(1)": ("b'1'",),
    "bit(9)": ("b'100000001'",),
    "bit(64)": ("b'" + "1" * 64 + "'",),
    "char(5)": ("'é'", "'ab'"),
    "varchar(20)": ("'ab  '", "''"),
    "tinytext": ("'日本 🙂'",),
    "longtext": ("'a''b'",),
    "enum('a','B','c c')": ("'a'", "'c c'"),
    "set('x','y','zzz')": ("'x,zzz'", "''"),
    "json": ("""'{"a": 1.10}'""",),
    "binary(4)": ("x'6162'",),
    "varbinary(9)": ("x'00ff'", "''"),
    "blob": ("x'00ff'",),
    "date": ("'2024-02-29'", "'1000-01-01'", "'9999-12-31'"),
    "datetime": ("'2024-02-29 12:34:56'",),
    "datetime(6)": ("'2024-02-29 12:34:56.123456'",),
    "timestamp null": ("'2024-02-29 12:34:56'",),
    "timestamp(6) null": ("'2024-02-29 12:34:56.123456'",),
    "time": ("'12:34:56'", "'-838:59:59'", "'838:59:59'"),
    "time(6)": ("'23:59:59.999999'", "'-00:00:00.5'"),
    "year": ("2024", "1901"),
    "point": ("ST_GeomFromText('POINT(1.5 -2)')",),
    "linestring": ("ST_GeomFromText('LINESTRING(0 0,1 2.5)')",),
    "inet4": ("'10.0.0.1'",),
    "inet6": ("'::1'",),
    "uuid": ("'5a3c1f00-0000-4000-8000-000000000001'",),
    "int invisible": ("7",),
}
"""The same. MariaDB's own check of uuid and inet by Debezium is in debezium.md."""

NOT_BY_EVENTS = {"uuid", "inet4", "inet6"}
"""Types of MariaDB that Debezium reads no table with."""

PG_SETUP = (
    f"CREATE SCHEMA {SCHEMA}",
    *(f"CREATE EXTENSION IF NOT EXISTS {e}" for e in ("hstore", "citext", "ltree")),
    "CREATE SCHEMA elsewhere",
    "CREATE TYPE elsewhere.mood AS ENUM ('good', 'so so')",
    "CREATE TYPE elsewhere.pair AS (a int, b text)",
    "CREATE DOMAIN elsewhere.positive AS numeric(9,3) CHECK (VALUE > 0)",
)

BY_NAME = {
    "postgresql": {
        "numeric(10,2)": "'NaN'",
        "date": "'infinity'",
        "timestamp": "'0044-03-15 00:00:00 BC'",
        "text[]": "'{{a,b},{c,d}}'",
        "int[]": "'{{1},{2}}'",
    },
    "mariadb": {"date": "'0000-00-00'", "datetime": "'2024-00-10 00:00:00'"},
}
"""Values that a pull refuses by name, unless the column is declared as string."""

EXACT, TEXT, NOT_SENT = "exact", "as text", "not sent"
QUARANTINED = "quarantined"


@dataclass
class Found:
    """What arrived of a type on one way: a word, or values that differ."""

    word: str = ""
    example: str = ""


class Matrix:
    """One database with its table, and the lakes that follow it."""

    def __init__(
        self, spark: SparkSession, servers: Servers, database: str, root: Path
    ) -> None:
        self.spark, self.servers, self.database = spark, servers, database
        self.root = root
        self.root.mkdir(parents=True, exist_ok=True)
        self.is_pg = database == "postgresql"
        self.types = POSTGRESQL if self.is_pg else MARIADB
        self.server: Any = servers.postgresql if self.is_pg else servers.mariadb
        self.columns = {f"c{n}": kind for n, kind in enumerate(self.types)}
        self._make()

    def _make(self) -> None:
        setup = PG_SETUP if self.is_pg else (f"CREATE DATABASE {SCHEMA}",)
        for each in setup:
            self.server.execute(each)
        self._make_table(TABLE, self.columns)
        number = 0
        for column, kind in self.columns.items():
            for value in self.types[kind]:
                number += 1
                self.server.execute(
                    f"INSERT INTO {SCHEMA}.{TABLE} (id, {column}) VALUES"
                    f" ({number}, {value})"
                )
        if not self.is_pg:
            kept = {c: k for c, k in self.columns.items() if k not in NOT_BY_EVENTS}
            self._make_table("sent", kept)
            names = ", ".join(("id", "n", "updated_at", *kept))
            self.server.execute(
                f"INSERT INTO {SCHEMA}.sent ({names}) SELECT {names}"
                f" FROM {SCHEMA}.{TABLE}"
            )

    def _make_table(self, name: str, columns: Dict[str, str]) -> None:
        at = "timestamptz" if self.is_pg else "timestamp(6)"
        now = "now()" if self.is_pg else "now(6)"
        listed = ", ".join(f"{column} {kind}" for column, kind in columns.items())
        self.server.execute(
            f"CREATE TABLE {SCHEMA}.{name} (id int PRIMARY KEY, n int DEFAULT 0,"
            f" updated_at {at} NOT NULL DEFAULT {now}, {listed})"
        )

    @property
    def sent(self) -> str:
        """The table that events are of."""
        return TABLE if self.is_pg else "sent"

    def source_values(self) -> Dict[int, Tuple[str, Any]]:
        """By row its column and the server's own text, of an array a list of them."""
        rows = {}
        for column, kind in self.columns.items():
            text = self._text(column, kind)
            query = (
                f"SELECT id, {text} FROM {SCHEMA}.{TABLE} WHERE {column} IS NOT NULL"
            )
            for number, value in self.server.execute(query):
                rows[int(number)] = (column, value)
        return rows

    def _text(self, column: str, kind: str) -> str:
        if not self.is_pg:
            if kind == "float":
                return f"{column} + 0e0"
            if kind.startswith(("point", "line")):
                return f"ST_AsText({column})"
            if kind.startswith(("bin", "varbin", "blob")):
                return f"hex({column})"
            if kind.startswith("bit"):
                return f"CAST({column} + 0 AS char)"
            return f"CAST({column} AS char)"
        if kind.endswith("[]"):
            return f"{column}::text[]"
        if kind == "money":
            return f"CAST({column} AS numeric)::text"
        return f"format('%s', {column})"

    def spec(self, way: str) -> TableSpec:
        """The spec that `onboard` writes of the table, on a way."""
        server: Any = self.server
        name = server.database if self.is_pg else SCHEMA
        asked = Asked(
            "postgresql" if self.is_pg else "mariadb",
            *(server.host, server.port, name, server.user, "", False),
        )
        read = postgresql.read if self.is_pg else mariadb.read
        catalog = read(asked, SCHEMA)
        connector = Connector.POSTGRESQL if self.is_pg else Connector.MARIADB
        kind = KAFKA if way == "events" else JDBC
        origin = Origin(
            kind, "shop", connector if kind == KAFKA else None, "loop", SCHEMA
        )
        table = self.sent if way == "events" else TABLE
        (draft,) = planned(catalog, Request(SCHEMA, origin, (table,)))
        assert isinstance(draft, Draft), draft
        source = dict(draft.text.source)
        if way == "events":
            place = {"connection": "shop", "table": f"{SCHEMA}.{table}"}
            source.update(load="load/**", load_from=place)
        text = replace(draft.text, source=source).text
        text += "quarantine: {max_share: 1}\n"
        if way == "events":
            text += 'load_effective_at: "1900-01-01"\n'
        folder = self.root / f"specs-{way}" / SCHEMA
        folder.mkdir(parents=True)
        (folder / "_domain.yml").write_text(
            f"name: {SCHEMA}\ndescription: All the types there are\nowner: test-team\n"
        )
        (folder / f"{draft.text.name}.yml").write_text(text)
        return load_domain(SCHEMA, folder.parent).tables[0]

    def declared(self, way: str) -> Dict[str, str]:
        """The types of the columns in the spec of a way."""
        folder = self.root / f"specs-{way}"
        columns = load_domain(SCHEMA, folder).tables[0].columns
        return {name: column.type for name, column in columns}

    def by_jdbc(self) -> Dict[str, Found]:
        """By column, what arrived by JDBC alone."""
        lake = self.lake("jdbc")
        lake.done("full_load")
        return self._judged(lake, self.source_values(), self._values(lake))

    def lake(self, way: str) -> ConnectedLake:
        """A lake of the table, on a way."""
        if self.is_pg:
            if not self.server.execute("SELECT 1 FROM pg_roles WHERE rolname = 'lake'"):
                self.server.execute("CREATE ROLE lake LOGIN")
                self.server.execute("GRANT pg_read_all_data TO lake")
            connection: Any = postgresql_at(self.server)
        else:
            user = f"CREATE USER IF NOT EXISTS lake IDENTIFIED BY '{PASSWORD}'"
            self.server.execute(user)
            self.server.execute(f"GRANT SELECT ON {SCHEMA}.* TO lake")
            connection = mariadb_at(self.server, SCHEMA)
        root = self.root / way
        root.mkdir()
        known = {
            "shop": logging_in(connection, root / "shop.json"),
            "loop": kafka_at(self.servers.kafka),
        }
        return ConnectedLake(self.spark, root, self.spec(way), known)

    @contextmanager
    def captured(self) -> Iterator[None]:
        """Changes of the table are captured, and every row is changed once."""
        name = f"types-{self.database}"
        kafka, connect = self.servers.kafka, self.servers.connect
        if self.is_pg:
            self.server.execute(
                f"CREATE PUBLICATION {SCHEMA} FOR TABLES IN SCHEMA {SCHEMA}"
            )
            config = postgresql_connector(
                self.server,
                prefix=SCHEMA,
                schema=SCHEMA,
                publication=SCHEMA,
                slot=SCHEMA,
            )
        else:
            config = mariadb_connector(
                self.server, kafka, prefix=SCHEMA, database=SCHEMA, server_id=4711
            )
            config["table.include.list"] = f"{SCHEMA}.sent"
            config["schema.history.internal.store.only.captured.tables.ddl"] = "true"
        config["snapshot.mode"] = "no_data"
        topic = f"{SCHEMA}.{SCHEMA}.{self.sent}"
        kafka.create_topic(topic)
        with connect.running(name, config):
            place = f"{SCHEMA}.{self.sent}"
            self.server.execute(f"INSERT INTO {place} (id) VALUES (0)")
            kafka.read_until(topic, lambda found: len(found) > 0, seconds=90)
            self.server.execute(f"UPDATE {place} SET n = n + 1")
            rows = self.server.execute(f"SELECT count(*) FROM {place}")[0][0]
            kafka.read_until(topic, lambda found: len(found) > rows, seconds=90)
            yield

    def found(self) -> Dict[str, Dict[str, Found]]:
        """By way and column, what arrived."""
        by_jdbc, source = self.by_jdbc(), self.source_values()
        events = self.lake("events")
        events.done("full_load")
        loaded = self._values(events)
        with self.captured():
            events.done("incremental")
        changed = self._values(events)
        return {
            "jdbc": by_jdbc,
            "load": self._judged(events, source, loaded),
            "events": self._judged(events, source, changed, since=1),
        }

    @staticmethod
    def _values(lake: ConnectedLake) -> Dict[int, Dict[str, Any]]:
        kinds = {n: stored.type for n, stored in lake.spec.columns}
        listed = [
            f"CAST({n} AS string) AS {n}" if kinds.get(n) == "timestamp" else n
            for n in kinds
            if n == "id" or n == "n" or n.startswith("c")
        ]
        rows = lake.current.selectExpr(*listed).collect()
        return {row.id: row.asDict() for row in rows}

    def _judged(
        self,
        lake: ConnectedLake,
        source: Dict[int, Tuple[str, Any]],
        values: Dict[int, Dict[str, Any]],
        since: int = 0,
    ) -> Dict[str, Found]:
        kinds = {name: column.type for name, column in lake.spec.columns}
        found: Dict[str, Found] = {c: Found() for c in self.columns}
        for number, (column, wanted) in sorted(source.items()):
            kind, told = kinds.get(column), found[column]
            if kind is None:
                told.word = NOT_SENT
                continue
            row = values.get(number)
            if row is None or row["n"] != since:
                told.word, told.example = QUARANTINED, str(wanted)
                continue
            if not same(row[column], wanted, kind, self.columns[column]):
                told.word, told.example = "other", f"{wanted} is {row[column]}"
            elif not told.word:
                is_text = kind == "string" and not _is_text(self.columns[column])
                told.word = TEXT if is_text else EXACT
        return found

    def refused(self) -> Dict[str, str]:
        """By type the message of a pull of a value that it refuses."""
        told = {}
        for n, (kind, value) in enumerate(BY_NAME[self.database].items()):
            name = f"refused_{n}"
            self._make_table(name, {"c": kind})
            with ExitStack() as stack:
                connection = stack.enter_context(self.server.connect(autocommit=True))
                cursor = connection.cursor()
                if not self.is_pg:
                    cursor.execute("SET sql_mode = ''")
                cursor.execute(
                    f"INSERT INTO {SCHEMA}.{name} (id, c) VALUES (1, {value})"
                )
            lake = self.lake(name)
            spec = lake.spec
            pulled = replace(spec.source.load_from, table=f"{SCHEMA}.{name}")
            lake.spec = replace(
                spec,
                source=replace(spec.source, load_from=pulled, changes_from=None),
                columns=tuple(e for e in spec.columns if e[0] in ("id", "updated_at")),
            )
            told[kind] = lake.run("full_load").error["message"]
        return told


_TEXTS = ("text", "varchar", "char", "bpchar", '"char"', "name", "tinytext", "longtext")


def _is_text(kind: str) -> bool:
    return kind.split("(")[0] in _TEXTS


EPOCH = datetime(1970, 1, 1)


def same(value: Any, text: Any, lake: str, kind: str) -> bool:
    """Whether a lake's value is what a server's text says."""
    if value is None or text is None:
        return value is None and text is None
    if lake.startswith("array<"):
        inner = "days" if kind == "date[]" and lake == "array<int>" else lake[6:-1]
        return len(value) == len(text) and all(
            same(one, other, inner, kind[:-2]) for one, other in zip(value, text)
        )
    if lake in ("float", "double"):
        return _digits(value, lake) == _digits(float(text), lake)
    if lake == "binary":
        return _bytes(bytes(value), str(text), kind)
    if lake.startswith("struct<"):
        return _is_geometry(value.asDict(), str(text))
    if lake in ("int", "bigint") or lake.startswith("decimal"):
        return _is_number(value, str(text), kind)
    if lake == "timestamp":
        return _timestamp(str(value)) == _timestamp(str(text))
    if lake == "boolean":
        return value == (text in ("t", "true", "1"))
    if lake == "days":
        return EPOCH + timedelta(value) == datetime.fromisoformat(text)
    return str(value) == str(text)


def _is_geometry(value: Any, text: str) -> bool:
    if "x" in value:
        numbers = text.strip("POINT()").replace(",", " ").split()
        return [value["x"], value["y"]] == [float(each) for each in numbers]
    content = base64.b64decode(value["wkb"])
    numbers = struct.unpack(f"<{len(content) // 8 - 1}d", content[9:])
    points = zip(numbers[::2], numbers[1::2])
    return text == "LINESTRING(%s)" % ",".join(f"{x:g} {y:g}" for x, y in points)


def _is_number(value: Any, text: str, kind: str) -> bool:
    if kind.startswith("time"):
        unit = 1000 if kind == "time(3)" else 1_000_000
        return Decimal(value) / unit == _seconds(text)
    if kind == "interval":  # a number of microseconds is none: months have no length
        return False
    return Decimal(value) == Decimal(text)


def _digits(number: float, lake: str) -> bytes:
    if number != number:
        return b"NaN"
    return struct.pack("f" if lake == "float" else "d", number + 0.0)


def _bytes(value: bytes, text: str, kind: str) -> bool:
    if "bit" in kind:
        base = 2 if set(text) <= {"0", "1"} else 10
        return int.from_bytes(value, "little") == int(text, base)
    return value == bytes.fromhex(text[2:] if text.startswith("\\x") else text)


def _seconds(text: str) -> Decimal:
    hours, minutes, seconds = text.lstrip("-").split(":")
    whole = Decimal(hours) * 3600 + Decimal(minutes) * 60 + Decimal(seconds)
    return -whole if text.startswith("-") else whole


def _timestamp(text: str) -> datetime:
    text = text.replace("T", " ").replace("Z", "+00:00")
    text = text + ":00" if text[-3:] in ("+00",) else text
    whole, dot, rest = text.partition(".")
    digits = "".join(c for c in rest.split("+")[0])
    zone = "+00:00" if "+" in rest or "+" in whole else ""
    whole = whole.split("+")[0]
    parsed = datetime.fromisoformat(f"{whole}.{digits.ljust(6, '0')}{zone}")
    if parsed.tzinfo:
        parsed = parsed.astimezone(timezone.utc).replace(tzinfo=None)
    return parsed


HEAD = """# Types: what arrives of each, on each way

Made by `python -m tests.servers.types_matrix` from PostgreSQL 15 and MariaDB 10.11, with specs
as [onboard](../onboarding.md) writes them; a test compares the pulls with this page. *By JDBC*
is `load_from`, `pulled_from` and `changes_from: {kind: jdbc}` ([jdbc.md](jdbc.md)); *by
Debezium* are changes through Kafka ([debezium.md](debezium.md), which has more of what
connectors send otherwise); *load, then events* is a load by JDBC that such changes follow.

- **exact**: the value of the database, in a type of the lake.
- **as text**: the text that the server shows, for the lake has no such type.
- **not sent**: Debezium has no values of it; `onboard` leaves the column out.
- **other**: what arrives is not the database's value; the example says how.
- **quarantined**: the row is refused, with its column and value.
- *load, then events* is **alike** where both give one value, so that the first event of a row
  opens no version and a key stays one key.

An `interval` with months has no length, and Debezium gives it one: 30.4375 days a month, so
`3 mons` is 91.3 days. To keep months, set `interval.handling.mode: string` at the connector and
declare the column `string`; its load has the server's text (`3 mons`), events have ISO 8601
(`P0Y3M...`), so the first event of such a row opens a version: pull a view for the load
that writes the same text, or leave the column out of `history.track`.

A column that is declared `string` always has the server's own text by JDBC (numbers of MariaDB
that are `float`, and bytes, keep their values).
"""


COLUMNS = (
    "type|declared by JDBC|by JDBC|declared by Debezium|by Debezium|load, then events"
)
REFUSED = """Refused by name, with the pull, unless the column is declared `string`:
"""


def page(
    found: Dict[str, Dict[str, Dict[str, Found]]], refused: Any, specs: Any
) -> str:
    """The page."""
    lines = [HEAD]
    for database, title in (("postgresql", "PostgreSQL"), ("mariadb", "MariaDB")):
        types = POSTGRESQL if database == "postgresql" else MARIADB
        rows = [
            _row(kind, f"c{number}", found[database], specs[database])
            for number, kind in enumerate(types)
        ]
        lines += [f"## {title}", *_table(COLUMNS.split("|"), rows), "", REFUSED]
        told = [
            (kind, f"`{BY_NAME[database][kind]}`", words.partition("were landed: ")[2])
            for kind, words in refused[database].items()
        ]
        lines += [*_table(("type", "value", "message"), told), ""]
    return "\n".join(lines)


def _row(
    kind: str, column: str, ways: Dict[str, Dict[str, Found]], specs: Any
) -> Sequence[str]:
    jdbc, load, events = (ways[way][column] for way in ("jdbc", "load", "events"))
    declared = [specs[way].get(column, "-") for way in ("jdbc", "events")]
    seam = f"load {_words(load)}; events {_words(events)}"
    if NOT_SENT in (load.word, events.word):
        seam = "-"
    elif load == events and load.word != QUARANTINED:
        seam = "alike"
    return (kind, declared[0], _words(jdbc), declared[1], _words(events), seam)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{' --- |' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(map(cell, row))} |"


def _words(found: Found) -> str:
    return f"{found.word}: {found.example}" if found.example else found.word


def cell(text: str) -> str:
    """A text in a table of the page."""
    plain = text.replace(f"{ELSEWHERE}.", "").replace("|", "\\|").replace("\n", " ")
    return plain.replace("<", "&lt;")


def played(spark: SparkSession, servers: Servers, root: Path) -> str:
    """Play all types on both servers and give the page."""
    found, refused, specs = {}, {}, {}
    for database in ("postgresql", "mariadb"):
        matrix = Matrix(spark, servers, database, root / database)
        found[database] = matrix.found()
        refused[database] = matrix.refused()
        specs[database] = {way: matrix.declared(way) for way in ("jdbc", "events")}
    return page(found, refused, specs)


def main() -> int:
    """Write the page."""
    from tests.spark.local_session import local_session

    with tempfile.TemporaryDirectory(prefix="lake-types-") as home:
        with Servers() as servers:
            spark = local_session()
            text = played(spark, servers, Path(home))
            spark.stop()
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
