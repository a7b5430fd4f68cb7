"""Descriptions of tables and columns, as readers of Iceberg and of Delta show them.

A changed description is a change of metadata alone: no commit, no data file, no snapshot,
and each column keeps its id.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Dict, List

import pytest

from lake_spark.publish import delta
from tests.readers.playing import LAYERS, Outcome, compare, described
from tests.kinds import TABLE_TYPES
from tests.spark.lake import FEED_FILES, Lake, stored, table
from tests.spark.publish.readers import iceberg_file, iceberg_metadata, versions_of

TEXT = FEED_FILES + """\
key: [id]
order_by: [at]
effective_at: at
columns:
  id: string
  name: {type: string, description: Name as the source writes it}
  at: {type: timestamp, description: Time of the change}
storage: {buckets: 1, readable_as: [iceberg, delta]}
"""
SPEC = table(TEXT)
WORDS = {"name": "Name as the source writes it", "at": "Time of the change"}
OTHER = {"name": 'Name, "as it is"', "id": "Number of the person"}
CHANGED = replace(
    table(
        TEXT.replace("id: string", f"id: {{type: string, description: {OTHER['id']}}}")
        .replace(WORDS["name"], f"'{OTHER['name']}'")
        .replace("{type: timestamp, description: Time of the change}", "timestamp")
    ),
    description="Another text about the same rows",
)


def use(lake: Lake, spec) -> None:
    lake.spec, lake.domain = spec, (spec,)


def paths(lake: Lake) -> List[str]:
    return [lake.tables.table(layer).path for layer in LAYERS]


def shown(lake: Lake) -> List[Any]:
    """What every reader shows of each table, once where all show the same."""
    found: List[Any] = []
    for readers in described(paths(lake)).values():
        for each in readers.values():
            if each not in found:
                found.append(each)
    return found


def differences(lake: Lake) -> List[str]:
    """What the readers of rows, DuckDB among them, find that Hudi does not."""
    outcome = Outcome()
    compare(lake.spark, lake, outcome)
    return outcome.differences


def ids(lake: Lake) -> List[Dict[str, int]]:
    """The id of each column in each schema that Iceberg keeps of current."""
    schemas = iceberg_metadata(lake.tables.current.path)["schemas"]
    return [{each["name"]: each["id"] for each in s["fields"]} for s in schemas]


@pytest.fixture(params=TABLE_TYPES, ids=lambda kind: kind.value)
def lake(request, spark, tmp_path, monkeypatch):
    monkeypatch.setattr(delta, "CHECKPOINT_EACH", 2)  # some are read of a checkpoint
    lake = Lake(spark, tmp_path, stored(SPEC, type=request.param))
    lake.land("load/1.csv", "id,name,at\na,x,2026-01-01\nb,y,2026-01-01\n")
    lake.done("full_load", "scd2")
    return lake


def changed(lake: Lake):
    return stored(CHANGED, type=lake.spec.storage.type)


def test_readers_show_the_descriptions_and_follow_them_without_a_commit(lake):
    assert shown(lake) == [[SPEC.description, WORDS]]
    before, (first, *_) = lake.files(), ids(lake)
    versions = [versions_of(path) for path in paths(lake)]
    use(lake, changed(lake))
    lake.done("incremental", "scd2")
    assert shown(lake) == [[CHANGED.description, OTHER]]
    assert differences(lake) == []
    assert all(each == first for each in ids(lake)), "columns keep their ids"
    for path, then in zip(paths(lake), versions):
        now = versions_of(path)
        assert now["iceberg"] == then["iceberg"], "no snapshot"
        assert now["delta"] == [*then["delta"], then["delta"][-1]]
    written = {path for path, seen in lake.files().items() if before.get(path) != seen}
    published = {p for p in written if "/metadata/v" in p or "/_delta_log/" in p}
    assert written == published != set()


def test_descriptions_that_did_not_change_are_not_written_again(lake):
    use(lake, changed(lake))
    lake.done("incremental", "scd2")
    before = lake.files()
    lake.done("incremental", "scd2")
    assert lake.files() == before


@pytest.mark.nightly
def test_the_next_commit_and_a_new_column_keep_the_descriptions(lake):
    use(lake, changed(lake))
    lake.done("incremental")
    lake.land("changes/1.csv", "op,id,name,at,seen\nU,a,z,2026-02-01,1\n")
    lake.done("incremental", "scd2", "rebuild")
    assert shown(lake) == [[CHANGED.description, OTHER]]
    assert differences(lake) == []
    text = iceberg_file(lake.tables.current.path).read_text()
    assert json.dumps(OTHER["name"])[1:-1] in text
