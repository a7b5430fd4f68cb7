"""Tables pulled from real databases keep their types.

In PostgreSQL one row with a value of every kind, and one of nulls; in MariaDB one.
"""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import pytest

from tests.servers.fixtures import (  # noqa: F401
    ended_in_order,
    mariadb,
    postgresql,
    servers_folder,
)
from tests.kinds import one_by_day
from tests.spark.pulling import (
    BY_CURSOR,
    FEED,
    PASSWORD,
    PullingLake,
    mariadb_at,
    postgresql_at,
    things,
)


@pytest.fixture(scope="module")
def shop(postgresql):  # noqa: F811
    postgresql.execute("CREATE ROLE lake LOGIN; GRANT pg_read_all_data TO lake")
    return postgresql


KINDS = {
    "id": ("int4", "7", "int", 7),
    "small": ("int2", "-3", "int", -3),
    "large": ("int8", "9007199254740993", "bigint", 9007199254740993),
    "exact": (
        "numeric(38,9)",
        "'12345678901234567890123456789.000000001'",
    )
    + ("decimal(38,9)", Decimal("12345678901234567890123456789.000000001")),
    "loose": ("numeric", "0.1234567890123456789012345", "string")
    + ("0.1234567890123456789012345",),
    "wide": ("numeric(50,2)", "1.10", "string", "1.10"),
    "price": ("money", "'$1,234.50'", "string", "1234.50"),
    "single": ("float4", "0.1", "float", None),
    "double": ("float8", "'NaN'", "double", None),
    "yes": ("bool", "true", "boolean", True),
    "code": ("char(4)", "'ab'", "string", "ab  "),
    "bytes": ("bytea", "'\\x00ff'", "binary", bytearray(b"\x00\xff")),
    "uid": ("uuid", "'5a3c1f00-0000-4000-8000-000000000001'", "string")
    + ("5a3c1f00-0000-4000-8000-000000000001",),
    "doc": ("jsonb", """'{"a": [1, null]}'""", "string", '{"a": [1, null]}'),
    "mood": ("mood", "'so so'", "string", "so so"),
    "many": ("int4[]", "'{1,NULL,3}'", "array<int>", [1, None, 3]),
    "exacts": ("numeric(9,2)[]", "'{1.10}'", "array<string>", ["1.10"]),
    "moods": ("mood[]", """'{good,"so so",NULL}'""", "array<string>")
    + (["good", "so so", None],),
    "none": ("ty.mood[]", "'{}'", "array<string>", []),
    "pairs": ("ty.pair[]", """'{"(1,\\"a b\\")","(,)"}'""", "array<string>")
    + (['(1,"a b")', "(,)"],),
    "ratios": ("float8[]", "'{NaN,-Infinity,-0,0.1}'", "array<double>", None),
    "flags": ("bool[]", "'{t,f,NULL}'", "array<boolean>", [True, False, None]),
    "docs": ("jsonb[]", """'{"{\\"a\\": 1}"}'""", "array<string>", ['{"a": 1}']),
    "words": ("varchar(4)[]", """'{"a\\"b","", "NULL"}'""", "array<string>")
    + (['a"b', "", "NULL"],),
    "square": ("int4[]", "'{{1,2},{3,4}}'", "string", "{{1,2},{3,4}}"),
    "shifted": ("int4[]", "'[0:1]={5,6}'", "array<int>", [5, 6]),
    "blank": ("bpchar", "'ab  '", "string", "ab  "),
    "one": ('"char"', "'x'", "string", "x"),
    "named": ("name", "'abc'", "string", "abc"),
    "place": ("inet", "'10.0.0.1'", "string", "10.0.0.1"),
    "net": ("cidr", "'10.0.0.0/8'", "string", "10.0.0.0/8"),
    "mac": ("macaddr8", "'08:00:2b:01:02:03:04:05'", "string")
    + ("08:00:2b:01:02:03:04:05",),
    "markup": ("xml", "'<a>1</a>'", "string", "<a>1</a>"),
    "bits": ("bit(9)", "B'100000001'", "string", "100000001"),
    "few_bits": ("varbit(9)", "B'101'", "string", "101"),
    "span": ("int4range", "'[1,5)'", "string", "[1,5)"),
    "spans": ("int4multirange", "'{[1,5)}'", "string", "{[1,5)}"),
    "both": ("ty.pair", "'(,\"a b\")'", "string", '(,"a b")'),
    "no_fields": ("ty.pair", "'(,)'", "string", "(,)"),
    "positive": ("ty.positive", "1.5", "decimal(9,3)", Decimal("1.500")),
    "sure": ("ty.sure", "'good'", "string", "good"),
    "places": ("ty.places", "'{1,2}'", "array<int>", [1, 2]),
    "rounded": ("numeric(5,-2)", "12345", "decimal(7,0)", Decimal(12300)),
    "tiny": ("numeric(2,5)", "0.00012", "decimal(5,5)", Decimal("0.00012")),
    "unknown": ("numeric(10,2)", "'NaN'", "string", "NaN"),
    "long_ago": ("date", "'0044-03-15 BC'", "string", "0044-03-15 BC"),
    "wait": ("interval", "'1 mon -2 days 03:04:05.6'", "string")
    + ("1 mon -2 days +03:04:05.6",),
    "in_zone": ("timetz", "'12:34:56.5+05:30'", "string", "12:34:56.5+05:30"),
    "object": ("oid", "4294967295", "string", "4294967295"),
    "at_log": ("pg_lsn", "'16/B374D848'", "string", "16/B374D848"),
    "search": ("tsvector", "'a fat cat'", "string", "'a' 'cat' 'fat'"),
    "path": ("jsonpath", "'$.a[*]'", "string", '$."a"[*]'),
    "spot": ("point", "'(1e300,0.1)'", "string", "(1e+300,0.1)"),
    "raw": ("bytea", "'\\x00ff'", "string", "\\x00ff"),
    "made": ("int GENERATED ALWAYS AS (id * 2) STORED", "DEFAULT", "int", 14),
    "updated_at": ("timestamptz", "'2026-01-01Z'", "timestamp", None),
    "day": ("date", "'1500-03-01'", "date", date(1500, 3, 1)),
    "local": ("timestamp", "'1500-03-01 01:02:03.000004'", "timestamp_ntz")
    + (datetime(1500, 3, 1, 1, 2, 3, 4),),
    "at": ("timestamptz", "'2026-03-29 02:30:00.000001+05:30'", "timestamp", None),
    "forever": ("date", "'infinity'", "string", "infinity"),
    "clock": ("time", "'01:02:03'", "string", "01:02:03"),
    "Odd Name": ("text", "'x'", "string", "x"),
}
"""Column: its type, a value in SQL, what it is landed as, and the value then."""


def test_types_are_kept(spark, shop, tmp_path):
    shop.execute("CREATE TYPE mood AS ENUM ('good', 'so so')")
    shop.execute("CREATE SCHEMA ty")
    shop.execute("CREATE TYPE ty.mood AS ENUM ('good', 'bad')")
    shop.execute("CREATE TYPE ty.pair AS (a int, b text)")
    shop.execute("CREATE DOMAIN ty.positive AS numeric(9,3) CHECK (VALUE > 0)")
    shop.execute("CREATE DOMAIN ty.sure AS ty.mood")
    shop.execute("CREATE DOMAIN ty.places AS int[]")
    columns = ", ".join(f'"{name}" {kind[0]}' for name, kind in KINDS.items())
    values = ", ".join(kind[1] for kind in KINDS.values())
    shop.execute(f"CREATE TABLE kinds ({columns})")
    shop.execute(f"INSERT INTO kinds VALUES ({values})")
    shop.execute("INSERT INTO kinds VALUES (NULL)")
    texts = ("forever", "square", "unknown", "long_ago", "raw")
    declared = "local: timestamp, " + ", ".join(f"{each}: string" for each in texts)
    spec = things(FEED, "kinds", f"id: int, {declared}, updated_at: timestamp")
    lake = PullingLake(spark, tmp_path, spec, postgresql_at(shop))
    lake.pull("full_load")
    rows = lake.landed("load")
    assert dict(rows.dtypes) == {name: kind[2] for name, kind in KINDS.items()}
    (row,) = rows.where("id IS NOT NULL").collect()
    wanted = {n: kind[3] for n, kind in KINDS.items() if kind[3] is not None}
    assert {name: row[name] for name in wanted} == wanted
    text = rows.selectExpr("CAST(at AS string)", "CAST(single AS string)").first()
    assert tuple(text) == ("2026-03-28 21:00:00.000001", "0.1")
    text = rows.selectExpr("CAST(ratios AS string)").first()
    assert tuple(text) == ("[NaN, -Infinity, -0.0, 0.1]",)
    (row,) = rows.where("id IS NULL").collect()
    assert set(row) == {None}


UNREADABLE = {
    "text[]": (
        "'{{a,b},{c,NULL}}'",
        "an array of several dimensions",
        "{{a,b},{c,NULL}}",
    ),
    "int[]": ("'{{1},{2}}'", "an array of several dimensions", "{{1},{2}}"),
    "numeric(10,2)": ("'NaN'", "not a decimal(10,2) of the lake", "NaN"),
    "date": ("'0044-03-15 BC'", "not a date of the lake", "0044-03-15 BC"),
    "timestamp": ("'infinity'", "not a timestamp of the lake", "infinity"),
}
"""Types with a value that they can have and the lake cannot: words of the refusal."""


@pytest.mark.parametrize("kind", one_by_day(UNREADABLE))
def test_a_value_that_the_lake_cannot_hold_is_refused_by_name(
    spark, shop, tmp_path, kind
):
    value, what, shown = UNREADABLE[kind]
    shop.execute("DROP TABLE IF EXISTS odd")
    shop.execute(f"CREATE TABLE odd (id int, v {kind}, updated_at timestamp)")
    shop.execute(f"INSERT INTO odd VALUES (1, {value}, '2026-01-01')")
    spec = things(FEED, "odd", "id: int, updated_at: timestamp")
    error = PullingLake(spark, tmp_path, spec, postgresql_at(shop)).run("full_load")
    assert error.error["type"] == "PullFailed"
    for words in ("connection 'shop': odd", f"column v holds a value that is {what}"):
        assert words in error.error["message"]
    assert "Declare the column as string" in error.error["message"]
    assert shown in error.error["message"]


EVENTS = """
source:
  kind: feed
  path: tests/things
  format: {type: json}
  load: load/**
  changes: changes/**
  envelope: {connector: postgresql}
  load_from: {connection: shop, table: THINGS}
key: [id]
load_effective_at: "1900-01-01"
"""


def test_a_load_before_events_has_what_they_send_in_their_form(spark, shop, tmp_path):
    shop.execute(
        "CREATE TABLE sent (id int, clock time, amount numeric(38,10), spot point,"
        " bits bit(9), more text, twice int GENERATED ALWAYS AS (id * 2) STORED,"
        " words name, span int4multirange, docs json[]);"
        "INSERT INTO sent VALUES (1, '24:00', 123456789012345678.1234567891,"
        " '(1e300,0.1)', B'100000001', 'x', DEFAULT, 'n', '{[1,2)}', '{1}')"
    )
    declared = 'id: int, clock: long, amount: "decimal(38,10)", bits: {type: binary,'
    declared += ' format: base64}, spot: "struct<x: double, y: double>"'
    spec = things(EVENTS, "sent", declared)
    lake = PullingLake(spark, tmp_path, spec, postgresql_at(shop))
    lake.pull("full_load")
    (row,) = lake.landed("load").collect()
    assert row.asDict(recursive=True) == {
        "id": 1,
        "clock": 86_400_000_000,
        "amount": "123456789012345678.1234567891",
        "spot": {"x": 1e300, "y": 0.1},
        "bits": "AQE=",
        "more": "x",
    }


ITEMS = """
CREATE TABLE shop.items (id int unsigned PRIMARY KEY, tiny tinyint(1), big bigint unsigned,
    exact decimal(38,9), wide decimal(60,2), flags bit(9), doc json, mood enum('so so'),
    day date, empty_day date, local_time datetime(6), updated_at timestamp(6) NULL,
    noon time, year year, bytes blob, `odd name` text, real_number double, code char(5),
    small float, hidden int INVISIBLE DEFAULT 7, twice int AS (tiny * 2) VIRTUAL,
    tags set('a','b'), uid uuid, address inet6, whole tinyint unsigned,
    zeros int(6) zerofill, fixed binary(4), spot point, ages time(6), `(x)` int)
"""
ITEM = """
INSERT INTO shop.items (id, tiny, big, exact, wide, flags, doc, mood, day, empty_day,
    local_time, updated_at, noon, year, bytes, `odd name`, real_number, code, small,
    hidden, tags, uid, address, whole, zeros, fixed, spot, ages, `(x)`)
    VALUES (7, 5, 18446744073709551615,
    '12345678901234567890123456789.000000001', '1.10', b'100000001', '{"a": 1}', 'so so',
    '1500-03-01', '0000-00-00', '1500-03-01 01:02:03.000004', '2026-01-01 12:00:00.000001',
    '01:02:03', 2026, x'00ff', 'x', 0.5, 'é', 16777216, 8, 'a,b',
    '5a3c1f00-0000-4000-8000-000000000001', '::1', 255, 42, 'ab',
    ST_GeomFromText('POINT(1.5 -2)'), '-838:59:59', 1)
"""


@pytest.fixture
def items(mariadb):  # noqa: F811
    mariadb.execute("CREATE DATABASE shop")
    mariadb.execute(f"CREATE USER lake IDENTIFIED BY '{PASSWORD}'")
    mariadb.execute("GRANT SELECT ON shop.* TO lake")
    mariadb.execute(ITEMS)
    with mariadb.connect(autocommit=True) as connection:
        connection.cursor().execute("SET sql_mode = ''")
        connection.cursor().execute(ITEM)
    return mariadb


def test_a_table_of_mariadb_is_pulled_with_its_types(spark, items, tmp_path):
    declared = (
        "id: bigint, empty_day: string, local_time: timestamp, updated_at: timestamp"
    )
    spec = things(BY_CURSOR, "items", declared)
    lake = PullingLake(spark, tmp_path, spec, mariadb_at(items, "shop"))
    lake.pull("full_load")
    lake.pull("incremental")
    assert lake.pulls("changes") == {}
    rows = lake.landed("load")
    assert [kind for _, kind in rows.dtypes] == [
        *("bigint", "int", "string", "decimal(38,9)", "string", "decimal(20,0)"),
        *("string", "string", "date", "string", "timestamp_ntz", "timestamp"),
        *("string", "int", "binary", "string", "double", "string", "float", "int"),
        *("int", "string", "string", "string", "int", "bigint", "binary", "string"),
        "string",
    ]
    row = rows.withColumn("updated_at", rows.updated_at.cast("string")).first()
    assert list(row) == [
        *(7, 5, str(2**64 - 1), Decimal("12345678901234567890123456789.000000001")),
        *("1.10", Decimal(257), '{"a": 1}', "so so", date(1500, 3, 1), "0000-00-00"),
        *(datetime(1500, 3, 1, 1, 2, 3, 4), "2026-01-01 12:00:00.000001", "01:02:03"),
        *(2026, bytearray(b"\x00\xff"), "x", 0.5, "é", 16777216.0, 8, 10, "a,b"),
        *("5a3c1f00-0000-4000-8000-000000000001", "::1", 255, 42),
        *(bytearray(b"ab\0\0"), "POINT(1.5 -2)", "-838:59:59.000000"),
    ]
    items.execute(
        "INSERT INTO shop.items (id, updated_at) VALUES (8, '2026-01-01 11:59:30')"
    )
    lake.pull("incremental")
    assert [row.id for row in lake.landed("changes").collect()] == [8]
