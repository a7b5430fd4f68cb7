"""Every reader finds Hudi's rows after each kind of maintenance, repair and change of columns.

Spark with Iceberg, pyiceberg, delta-rs and DuckDB, at the newest and at each published
commit (tests/readers).
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Callable, Dict, List

import pytest

from lake_spec.model import Index, TableSpec, TableType
from tests.readers.playing import LAYERS, Outcome, compare
from tests.spark.erasing import erased
from tests.kinds import TABLE_TYPES, one_by_day
from tests.spark.lake import LOAD_AND_CHANGES, Lake, stored, table
from tests.spark.publish.readers import iceberg_metadata, versions_of
from tests.spark.reprocessing import done_reprocess

SOURCE = LOAD_AND_CHANGES + """  format: {type: json}
key: [id]
order_by: [at]
effective_at: at
storage: {buckets: 1, readable_as: [iceberg, delta]}
maintenance: {keep_commits: 4, compact_after: 1, cluster_after: 3}
"""
COLUMNS = """columns: {id: int, amount: "decimal(8,2)", size: int, tags: "array<string>", \
note: string, at: timestamp}
"""
SPEC = table(SOURCE + COLUMNS)


def differences(lake: Lake) -> List[str]:
    """What a reader finds that Hudi does not, or the other way round."""
    outcome = Outcome()
    compare(lake.spark, lake, outcome)
    assert outcome.compared >= 6 * len(LAYERS)
    return outcome.differences


def row(key: int, day: int, note: str = '"note": "x"') -> str:
    return (
        f'{{"id": {key}, "at": "2026-02-{day:02}", "amount": {day}.25, "size": {day},'
        f' "tags": ["x", null], {note}}}\n'
    )


class Worked:
    """A lake with a load, to which changes and stages come."""

    def __init__(self, spark, root: Path, spec: TableSpec) -> None:
        self.lake = Lake(spark, root, spec)
        self.day = 1
        self.lake.land("load/1.json", "".join(row(key, 1) for key in range(9)))
        self.lake.done("full_load", "scd2")

    def change(self, note: str = '"note": "x"') -> str:
        """Change a key and add one; return the file."""
        self.day += 1
        path = f"changes/{self.day:02}.json"
        rows = row(self.day % 5, self.day, note) + row(9 + self.day, self.day, note)
        self.lake.land(path, rows)
        self.lake.done("incremental", "scd2")
        return path


def rebuilt(worked: Worked) -> None:
    worked.lake.done("rebuild")


def reprocessed(worked: Worked) -> None:
    path = worked.change()
    worked.lake.land(path, row(1, worked.day, '"note": "corrected"'))
    done_reprocess(worked.lake, path)


def maintained(worked: Worked) -> None:
    """Compact and cluster."""
    for _ in range(4):
        worked.change()
    (report,) = worked.lake.done("maintenance")
    done = {"changes_clustering"}
    if worked.lake.spec.storage.type is TableType.MERGE_ON_READ:
        done |= {"current_compaction", "history_compaction"}
    assert done <= set(report.commits)


def without_a_key(worked: Worked) -> None:
    erased(worked.lake, {"id": worked.day % 5})


WORK: Dict[str, Callable[[Worked], None]] = {
    "maintenance": maintained,
    "rebuild": rebuilt,
    "reprocess": reprocessed,
    "erase": without_a_key,
}


@pytest.fixture(scope="module", params=TABLE_TYPES, ids=lambda kind: kind.value)
def worked(request, spark, tmp_path_factory):
    root = tmp_path_factory.mktemp("worked")
    return Worked(spark, root, stored(SPEC, type=request.param))


@pytest.mark.nightly  # by day: the readers of test_readers.py
@pytest.mark.parametrize("work", one_by_day(list(WORK)))
def test_readers_find_the_rows_of_hudi_after_work_and_after_the_next_run(worked, work):
    worked.change()
    WORK[work](worked)
    assert differences(worked.lake) == []
    worked.change()
    assert differences(worked.lake) == []


INDEXES = one_by_day([Index.BLOOM, Index.SIMPLE, Index.RECORD])


@pytest.mark.nightly
@pytest.mark.parametrize("index", INDEXES, ids=lambda index: index.value)
def test_lists_beside_decimals_are_whole_after_a_compaction_and_new_keys(
    spark, tmp_path, index
):
    """New keys go to the file that was compacted, with the rows that are there."""
    kind = TableType.MERGE_ON_READ
    worked = Worked(spark, tmp_path, stored(SPEC, type=kind, index=index, buckets=None))
    worked.change()
    worked.lake.done("maintenance")
    worked.change()
    for rows in (worked.lake.current, worked.lake.history):
        assert {tuple(each.tags) for each in rows.collect()} == {("x", None)}
    assert differences(worked.lake) == []


@pytest.mark.nightly
def test_a_table_of_version_6_that_is_upgraded_is_read_alike(spark, tmp_path):
    worked = Worked(spark, tmp_path, stored(SPEC, table_version=6))
    worked.change()
    assert differences(worked.lake) == []
    worked.lake.spec = stored(worked.lake.spec, table_version=8)
    worked.lake.domain = (worked.lake.spec,)
    worked.lake.done("rebuild")
    assert differences(worked.lake) == []
    worked.change()
    assert differences(worked.lake) == []


@pytest.mark.nightly
def test_a_table_that_is_loaded_again_from_landing_is_read_alike(spark, tmp_path):
    worked = Worked(spark, tmp_path, SPEC)
    worked.change()
    shutil.rmtree(tmp_path / "warehouse")
    worked.lake.done("full_load", "incremental", "scd2")
    assert differences(worked.lake) == []


@pytest.mark.nightly
def test_a_copy_of_a_table_that_is_older_than_its_metadata_is_read_alike(
    spark, tmp_path
):
    """Of a replica or a backup nobody knows which file is of which time."""
    worked = Worked(spark, tmp_path, SPEC)
    worked.change()
    warehouse, copy = tmp_path / "warehouse", tmp_path / "copy"
    shutil.copytree(warehouse, copy)
    worked.change()
    for layer in LAYERS:
        for place in (
            f"tests/things/iceberg/{layer}",
            f"tests/things/{layer}/_delta_log",
        ):
            shutil.rmtree(copy / place)
            shutil.copytree(warehouse / place, copy / place)
    shutil.rmtree(warehouse)
    copy.rename(warehouse)
    worked.lake.done("incremental", "scd2")
    assert differences(worked.lake) == []
    for layer in LAYERS:
        found = versions_of(worked.lake.tables.table(layer).path)
        assert found["iceberg"] == found["delta"]


def fields_of(lake: Lake) -> Dict[str, tuple]:
    """Id and type of each column of current, as Iceberg has it."""
    metadata = iceberg_metadata(lake.tables.current.path)
    (schema,) = [
        each
        for each in metadata["schemas"]
        if each["schema-id"] == metadata["current-schema-id"]
    ]
    return {each["name"]: (each["id"], str(each["type"])) for each in schema["fields"]}


@pytest.mark.nightly
def test_columns_that_are_added_widened_and_renamed_are_read_alike(spark, tmp_path):
    worked = Worked(spark, tmp_path, SPEC)
    lake, first = worked.lake, fields_of(worked.lake)
    worked.change('"note": "x", "colour": "red"')
    added = fields_of(lake)
    assert {name: added[name] for name in first} == first
    assert set(added) - set(first) == {"colour"}
    assert differences(lake) == []
    wide = COLUMNS.replace("size: int", "size: bigint").replace("(8,2)", "(10,2)")
    lake.spec = table(SOURCE + wide)
    lake.domain = (lake.spec,)
    worked.change()
    widened = fields_of(lake)
    assert widened["size"] == (added["size"][0], "long")
    assert widened["amount"] == (added["amount"][0], "decimal(10, 2)")
    assert {name: each[0] for name, each in widened.items()} == {
        name: each[0] for name, each in added.items()
    }
    assert differences(lake) == []
    # A source renames a column: the old one stays, without values in new rows.
    renamed = wide.replace("note: string", "note: string, remark: string")
    lake.spec = table(SOURCE + renamed)
    lake.domain = (lake.spec,)
    worked.change('"remark": "y"')
    lake.done("rebuild")
    last = fields_of(lake)
    assert {name: last[name] for name in widened} == widened
    assert set(last) - set(widened) == {"remark"}
    assert differences(lake) == []
