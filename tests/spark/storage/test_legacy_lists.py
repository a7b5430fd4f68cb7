"""Files with lists in Parquet's legacy form are not compacted: their lists would be null.

Earlier versions compacted tables with a decimal that way; a rebuild writes them again.
"""

from __future__ import annotations

import pytest

from lake_spec.model import TableType
from lake_spark.stages import maintenance
from lake_spark.storage.parquet_file import schema_has_legacy_lists
from tests.spark.lake import LOAD_AND_CHANGES, Lake, stored, table

SPEC = table(LOAD_AND_CHANGES + """  format: {type: json}
columns:
  id: int
  at: timestamp
  price: "decimal(8,2)"
  tags: "array<string>"
  place: "struct<names:array<string>,x:double>"
  sizes: "map<string,double>"
key: [id]
order_by: [at]
effective_at: at
storage: {buckets: 1}
""")
ROW = (
    '{"id": %d, "at": "2026-01-0%d", "price": 1.5, "tags": ["x", null],'
    ' "place": {"names": ["n"], "x": 1}, "sizes": "{\\"a\\": 1}"}\n'
)
VALUES = (["x", None], (["n"], 1.0), {"a": 1.0})


def values(lake: Lake) -> list:
    """The nested values of all rows, each once."""
    columns = ["tags", "place", "sizes"]
    found: list = []
    for rows in (lake.current, lake.history):
        for row in rows.select(columns).collect():
            if row not in found:
                found.append(row)
    return found


def as_before(options: dict, schema: str) -> str:
    """The options of a compaction in versions that wrote lists in the legacy form."""
    return NOW(options, "struct<id:int>")


NOW = maintenance.maintenance_options


@pytest.fixture
def lake(spark, tmp_path, monkeypatch):
    """A lake that an earlier version compacted, and a change after it."""
    lake = Lake(spark, tmp_path, stored(SPEC, type=TableType.MERGE_ON_READ))
    lake.land("load/1", ROW % (1, 1) + ROW % (2, 1))
    lake.done("full_load", "scd2")
    lake.land("changes/1", ROW % (1, 2))
    with monkeypatch.context() as earlier:
        earlier.setattr(maintenance, "maintenance_options", as_before)
        lake.done("incremental", "scd2", "maintenance")
    lake.land("changes/2", ROW % (1, 3))
    lake.done("incremental", "scd2")
    return lake


@pytest.mark.nightly
def test_such_a_table_is_compacted_after_a_rebuild_only(lake):
    before = lake.current.count(), values(lake)
    error = lake.run("maintenance").error
    assert error["type"] == "LegacyLists"
    assert ".parquet: an earlier version compacted this file" in error["message"]
    assert "Run tests_rebuild for the table things" in error["message"]
    assert (lake.current.count(), values(lake)) == before == (2, [VALUES])
    lake.done("rebuild")
    lake.land("changes/3", ROW % (1, 4))
    lake.done("incremental", "scd2", "maintenance")
    assert values(lake) == [VALUES]


STANDARD = (
    "optional group tags (LIST) {\n repeated group list {\n optional int32 element;"
)
HIVE = STANDARD.replace("group list", "group bag").replace("element", "array")
TWO_LEVELS = "optional group tags (LIST) = 3 {\n    repeated int32 array;\n  }"
MAP = "optional group m (MAP) {\n repeated group key_value {\n required int32 key;"


@pytest.mark.parametrize(
    "schema, is_legacy",
    [
        (STANDARD, False),
        (MAP, False),
        (HIVE, True),
        (TWO_LEVELS, True),
        (STANDARD + HIVE, True),
    ],
)
def test_lists_are_legacy_unless_they_are_lists_of_elements(schema, is_legacy):
    assert schema_has_legacy_lists(f"message row {{\n  {schema}") is is_legacy
