"""Tables of Hudi's table version 6, which Hudi 0.14 reads; it cannot read version 8.

Three keys: 1 changes twice, 2 stays, 3 is deleted. So current has two rows, history five
versions, the change log six entries.
"""

from __future__ import annotations

import pytest

from lake_spec.model import TableType
from tests.spark.hudi_014 import read_by_014
from tests.spark.lake import FEED_FILES, Lake, stored, table
from tests.spark.shop import DIMENSIONS, Shop, domain_of

SPEC = FEED_FILES + """columns:
  id: int
  ts: timestamp
  day: date
  amount: "decimal(10,2)"
  note: string
key: [id]
order_by: [ts]
storage: {buckets: 1, table_version: 6}
"""
LAYERS = ("changes", "current", "history")
ROWS = {"changes": 6, "current": 2, "history": 5}
LOAD = """id,ts,day,amount,note
1,2026-01-01,2026-01-01,1.50,a
2,2026-01-01,1969-12-31,-0.01,b
3,2026-01-01,0999-01-01,99999999.99,"c, ""d"" e"
"""
CHANGES = (
    "op,id,ts,day,amount,note\nU,1,2026-01-02T00:00:00.000001,2026-01-02,2,x\n",
    "op,id,ts,day,amount,note\nD,3,2026-01-03,,,\nU,1,2026-01-03,,,\n",
)


@pytest.fixture(scope="module")
def lake(spark, tmp_path_factory):
    """A table with a full load, two runs of changes and maintenance."""
    made = Lake(spark, tmp_path_factory.mktemp("older"), table(SPEC))
    made.land("load/1.csv", LOAD)
    made.done("full_load", "scd2")
    for number, text in enumerate(CHANGES):
        made.land(f"changes/{number}.csv", text)
        made.done("incremental", "scd2", "maintenance")
    return made


def properties(lake: Lake, layer: str) -> dict:
    file = lake.root / f"warehouse/tests/things/{layer}/.hoodie/hoodie.properties"
    lines = file.read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)


@pytest.mark.nightly
@pytest.mark.parametrize("layer", LAYERS)
def test_every_table_keeps_its_version(lake, layer):
    assert properties(lake, layer)["hoodie.table.version"] == "6"


@pytest.mark.nightly
def test_hudi_014_reads_the_rows_of_every_table(lake, spark, tmp_path):
    folders = [lake.root / "warehouse/tests/things" / layer for layer in LAYERS]
    for layer, found in zip(LAYERS, read_by_014(spark, folders, tmp_path)):
        made = getattr(lake, layer)
        assert sorted(found.columns) == sorted(made.columns)
        found = found.select(made.columns)
        assert found.count() == made.count() == ROWS[layer]
        assert found.exceptAll(made).take(3) == made.exceptAll(found).take(3) == []


@pytest.mark.nightly
def test_hudi_014_reads_the_tables_of_snapshots_and_of_dimensions(spark, tmp_path):
    domain = [
        stored(spec, table_version=6, type=TableType.COPY_ON_WRITE)
        for spec in domain_of(tmp_path / "specs")
    ]
    shop = Shop(spark, tmp_path, domain)
    shop.land_customers("load/1.csv", "", ",1,Ann,2022-07-01\n,2,Bob,2022-07-01\n")
    shop.land_addresses("2026-01-01", {1: "here,n,", 2: "there,n,"})
    shop.bring_up("full_load", "scd2")
    shop.land_customers("changes/1.csv", "", "U,1,Anne,2026-01-05\nD,2,,2026-01-06\n")
    shop.land_addresses("2026-01-10", {1: "elsewhere,n,"})
    shop.bring_up("incremental", "scd2", "maintenance")
    lakes = {name: shop.lakes[name] for name in ("address", *DIMENSIONS)}
    layers = {name: LAYERS if name == "address" else LAYERS[1:] for name in lakes}
    made = {
        tmp_path / f"warehouse/tests/{name}/{layer}": getattr(lake, layer)
        for name, lake in lakes.items()
        for layer in layers[name]
    }
    for rows, found in zip(made.values(), read_by_014(spark, list(made), tmp_path)):
        assert sorted(found.columns) == sorted(rows.columns)
        found = found.select(rows.columns)
        assert found.count() == rows.count() > 0
        assert found.exceptAll(rows).take(3) == rows.exceptAll(found).take(3) == []


@pytest.mark.nightly
def test_a_rebuild_keeps_the_version_and_the_rows(lake):
    before = lake.versions("note", "amount")
    lake.done("rebuild")
    assert lake.versions("note", "amount") == before
    assert lake.verify().error is None
    assert {properties(lake, e)["hoodie.table.version"] for e in LAYERS} == {"6"}


@pytest.mark.nightly
def test_version_8_is_refused_until_a_rebuild_and_then_there_is_no_way_back(lake):
    before = lake.versions("note", "amount")
    newer = Lake(lake.spark, lake.root, stored(lake.spec, table_version=8))
    refused = newer.run("incremental").error["message"]
    assert "storage.table_version was 6, now 8" in refused
    assert "run tests_rebuild --param tables=things" in refused
    newer.done("rebuild")
    versions = {properties(lake, e)["hoodie.table.version"] for e in LAYERS[1:]}
    assert (versions, newer.versions("note", "amount")) == ({"8"}, before)
    for stage in ("incremental", "rebuild"):
        refused = lake.run(stage).error["message"]
        assert "storage.table_version was 8, now 6" in refused
        assert "load the table under another name" in refused
