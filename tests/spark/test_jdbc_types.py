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
from tests.spark.pulling import (
    BY_CURSOR,
    FEED,
    PASSWORD,
    PullingLake,
    mariadb_at,
    postgresql_at,
    things,
)


@pytest.fixture
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
    shop.execute("CREATE TYPE mood AS ENUM ('so so')")
    columns = ", ".join(f'"{name}" {kind[0]}' for name, kind in KINDS.items())
    values = ", ".join(kind[1] for kind in KINDS.values())
    shop.execute(f"CREATE TABLE kinds ({columns})")
    shop.execute(f"INSERT INTO kinds VALUES ({values})")
    shop.execute("INSERT INTO kinds VALUES (NULL)")
    declared = "id: int, forever: string, updated_at: timestamp"
    spec = things(FEED, "kinds", declared)
    lake = PullingLake(spark, tmp_path, spec, postgresql_at(shop))
    lake.pull("full_load")
    rows = lake.landed("load")
    assert dict(rows.dtypes) == {name: kind[2] for name, kind in KINDS.items()}
    (row,) = rows.where("id IS NOT NULL").collect()
    wanted = {n: kind[3] for n, kind in KINDS.items() if kind[3] is not None}
    assert {name: row[name] for name in wanted} == wanted
    text = rows.selectExpr("CAST(at AS string)", "CAST(single AS string)").first()
    assert tuple(text) == ("2026-03-28 21:00:00.000001", "0.1")
    (row,) = rows.where("id IS NULL").collect()
    assert set(row) == {None}


ITEMS = """
CREATE TABLE shop.items (id int unsigned PRIMARY KEY, tiny tinyint(1), big bigint unsigned,
    exact decimal(38,9), wide decimal(60,2), flags bit(9), doc json, mood enum('so so'),
    day date, empty_day date, local_time datetime(6), updated_at timestamp(6) NULL,
    noon time, year year, bytes blob, `odd name` text, real_number double)
"""
ITEM = """
INSERT INTO shop.items VALUES (7, 5, 18446744073709551615,
    '12345678901234567890123456789.000000001', '1.10', b'100000001', '{"a": 1}', 'so so',
    '1500-03-01', '0000-00-00', '1500-03-01 01:02:03.000004', '2026-01-01 12:00:00.000001',
    '01:02:03', 2026, x'00ff', 'x', 0.5)
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
    declared = "id: bigint, empty_day: string, updated_at: timestamp"
    spec = things(BY_CURSOR, "items", declared)
    lake = PullingLake(spark, tmp_path, spec, mariadb_at(items, "shop"))
    lake.pull("full_load")
    lake.pull("incremental")
    assert lake.pulls("changes") == {}
    rows = lake.landed("load")
    assert [kind for _, kind in rows.dtypes] == [
        *("bigint", "int", "string", "decimal(38,9)", "string", "decimal(20,0)"),
        *("string", "string", "date", "string", "timestamp_ntz", "timestamp"),
        *("string", "int", "binary", "string", "double"),
    ]
    row = rows.withColumn("updated_at", rows.updated_at.cast("string")).first()
    assert list(row) == [
        *(7, 5, str(2**64 - 1), Decimal("12345678901234567890123456789.000000001")),
        *("1.10", Decimal(257), '{"a": 1}', "so so", date(1500, 3, 1), "0000-00-00"),
        *(datetime(1500, 3, 1, 1, 2, 3, 4), "2026-01-01 12:00:00.000001", "01:02:03"),
        *(2026, bytearray(b"\x00\xff"), "x", 0.5),
    ]
    items.execute(
        "INSERT INTO shop.items (id, updated_at) VALUES (8, '2026-01-01 11:59:30')"
    )
    lake.pull("incremental")
    assert [row.id for row in lake.landed("changes").collect()] == [8]
