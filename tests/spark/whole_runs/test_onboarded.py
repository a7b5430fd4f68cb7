"""Specs that `onboard` writes read what Debezium writes.

One row with a value of each type, as Debezium 3.0.8 (PostgreSQL) and 2.6.2 (MariaDB)
were seen to write it, and one without any value. Nothing goes to the quarantine.
"""

from __future__ import annotations

import json
from datetime import date, datetime
from decimal import Decimal

import pytest

from lake_spec.model.choices import Connector
from lake_check.parsing.loader import load_domain
from lake_local.onboard.catalog import Catalog, Column, Index, Table
from lake_local.onboard.origin import FILES, Origin
from lake_local.onboard.plan import Request, planned
from lake_local.onboard.writing import write
from tests.spark.lake import Lake

SECOND = datetime(2026, 1, 2, 3, 4, 5)
POSTGRESQL = (
    ("smallint", 1, 1),
    ("numeric(12,2)", "12.50", Decimal("12.50")),
    ("numeric", "1.25", Decimal("1.25")),
    ("numeric(5,-2)", "1200." + "0" * 2046, Decimal(1200)),
    ("real", 1.5, 1.5),
    ("money", "12.34", Decimal("12.34")),
    ("boolean", True, True),
    ("jsonb", '{"a": 1}', '{"a": 1}'),
    ("bytea", "AQI=", b"\1\2"),
    ("date", 20455, date(2026, 1, 2)),
    (
        "timestamp without time zone",
        1767323045678901,
        SECOND.replace(microsecond=678901),
    ),
    ("timestamp(3) without time zone", 1767323045000, SECOND),
    ("timestamp with time zone", "2026-01-02T03:04:05.000000Z", SECOND),
    ("time without time zone", 11045000000, 11045000000),
    ("bit(1)", True, True),
    ("bit(9)", "AQE=", b"\1\1"),
    ("integer[]", [1, 2], [1, 2]),
    ("numeric(8,3)[]", ["1.500"], [Decimal("1.500")]),
    ("date[]", [20455], [20455]),
    ("timestamp with time zone[]", ["2026-01-02T03:04:05.000000Z"], [SECOND]),
)
MARIADB = (
    ("tinyint(1)", 1, True),
    ("bigint(20) unsigned", 5, Decimal(5)),
    ("float", 1.5, 1.5),
    ("bit(1)", True, True),
    ("year(4)", 2026, 2026),
    ("date", 20455, date(2026, 1, 2)),
    ("datetime", 1767323045000, SECOND),
    ("datetime(4)", 1767323045000000, SECOND),
    ("timestamp", "2026-01-02T03:04:05Z", SECOND),
    ("varbinary(9)", "AQI=", b"\1\2"),
)
PLACES = {
    Connector.POSTGRESQL: {"sequence": '[null,"100"]'},
    Connector.MARIADB: {"file": "bin.000001", "pos": 4, "row": 0},
}


def onboarded(folder, connector, values):
    columns = [Column("id", "bigint", nullable=False)]
    columns += [Column(f"c{i}", kind) for i, (kind, _, _) in enumerate(values)]
    key = (Index("p", ("id",), unique=True, primary=True),)
    catalog = Catalog(connector.value, "shop", (Table("kinds", tuple(columns), key),))
    drafts = planned(catalog, Request("shop", Origin(FILES, "shop_db", connector)))
    write(drafts, folder, "shop", owner="", force=False)
    return load_domain("shop", folder).tables[0]


@pytest.mark.parametrize(
    "connector, values",
    [(Connector.POSTGRESQL, POSTGRESQL), (Connector.MARIADB, MARIADB)],
    ids=["postgresql", "mariadb"],
)
def test_each_type_arrives_as_its_value(spark, tmp_path, connector, values):
    lake = Lake(spark, tmp_path, onboarded(tmp_path / "tables", connector, values))
    whole = {"id": 1, **{f"c{i}": sent for i, (_, sent, _) in enumerate(values)}}
    empty = {**dict.fromkeys(whole), "id": 2}
    source = {**PLACES[connector], "ts_ms": 1767312000000}
    lines = [
        json.dumps({"before": None, "after": row, "source": source, "op": "r"})
        for row in (whole, empty)
    ]
    lake.land("changes/0.json", "\n".join(lines) + "\n", at="2026-03-01")
    lake.done("incremental")
    first, second = lake.current.orderBy("id").collect()
    got = [first[f"c{i}"] for i in range(len(values))]
    assert got == [expected for _, _, expected in values]
    assert {second[f"c{i}"] for i in range(len(values))} == {None}
