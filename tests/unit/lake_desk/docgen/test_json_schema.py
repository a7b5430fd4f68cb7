"""Which schemas keep a write away from Hudi's row writer."""

from __future__ import annotations

import pytest

from lake_spec.hudi.options import schema_options

AVOIDED = {"hoodie.datasource.write.row.writer.enable": "false"}


@pytest.mark.parametrize(
    "schema", ["struct<a:int,b:decimal(8,2)>", "struct<a:array<int>>", "struct<a:int>"]
)
def test_most_schemas_need_nothing(schema):
    assert schema_options(schema) == {}


@pytest.mark.parametrize("nested", ["array<int>", "map<string,int>"])
def test_lists_beside_decimals_avoid_the_row_writer(nested):
    assert schema_options(f"struct<a:decimal(8,2),b:{nested}>") == AVOIDED
