"""Maintenance writes files as the table's own writes do."""

from __future__ import annotations

from typing import Dict

import pytest

from lake_spec.hudi.options import (
    clustering_options,
    log_options,
    table_options,
    maintenance_options,
)
from lake_spec.model import Storage
from lake_spec.model.choices import Index

PLAIN = {
    "hoodie.bloom.index.filter.type": "SIMPLE",
    "hoodie.embed.timeline.server": "false",
    "hoodie.index.bloom.fpp": "0.5",
    "hoodie.index.bloom.num_entries": "1",
    "hoodie.metadata.enable": "false",
    "hoodie.parquet.bloom.filter.enabled": "false",
    "hoodie.parquet.compression.codec": "zstd",
    "hoodie.write.table.version": "8",
}
SCHEMA = "struct<a:int,b:array<int>>"
VERSION = {"hoodie.write.table.version": "6", "hoodie.write.auto.upgrade": "false"}


def read(text: str) -> Dict[str, str]:
    return dict(each.split("=") for each in text.split(","))


def current(index: Index) -> Dict[str, str]:
    storage = Storage(index=index)
    return table_options("t", storage=storage, record_key=("id",), keep_commits=10)


def test_a_compaction_is_due_at_once_and_writes_the_same_files():
    found = read(maintenance_options(current(Index.BUCKET), SCHEMA))
    assert found == {**PLAIN, "hoodie.compact.inline.max.delta.commits": "1"}


@pytest.mark.parametrize("nested", ["array<int>", "map<string,int>"])
def test_a_compaction_of_lists_beside_decimals_writes_as_an_upsert_does(nested):
    schema = f"struct<a:decimal(8,2),b:{nested}>"
    found = read(maintenance_options(current(Index.BUCKET), schema))
    assert found["hoodie.file.group.reader.enabled"] == "false"


def test_a_compaction_keeps_the_filters_that_an_index_reads():
    found = read(maintenance_options(current(Index.BLOOM), SCHEMA))
    assert found["hoodie.parquet.bloom.filter.enabled"] == "true"
    assert "hoodie.index.bloom.num_entries" not in found


def test_a_clustering_keeps_the_table_version_of_a_log_that_is_pinned():
    log = log_options("t", keep_commits=10, pinned=False)
    pinned = log_options("t", keep_commits=10, pinned=True)
    small = {
        "hoodie.clustering.plan.strategy.small.file.limit": "4096",
        "hoodie.clustering.plan.strategy.target.file.max.bytes": str(2**27),
    }
    assert read(clustering_options(log, 4096)) == {**PLAIN, **small}
    assert read(clustering_options(pinned, 4096)) == {**PLAIN, **VERSION, **small}
    assert read(clustering_options(log)) == PLAIN


def test_a_table_of_version_6_is_compacted_and_cleaned_in_its_version():
    storage = Storage(table_version=6)
    older = table_options("t", storage=storage, record_key=("id",), keep_commits=10)
    assert VERSION.items() <= older.items()
    assert VERSION.items() <= read(maintenance_options(older, SCHEMA)).items()
    newer = current(Index.BUCKET)
    assert VERSION.keys() & newer.keys() == {"hoodie.write.table.version"}
