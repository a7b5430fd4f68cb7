"""Whatever the table type, index and partitions: keys that move, go and return.

Each key plays one scenario over four runs. After every run, and after compaction
and cleaning, both tables are the oracle's.
"""

from __future__ import annotations

from typing import Dict

import pytest

from lake_spec.model import Index, TableType
from tests.oracle.beside import Beside, delete, upsert
from tests.spark.lake import LOAD_AND_CHANGES, Lake, stored, table

SPEC = LOAD_AND_CHANGES + """  format: {type: json}
  operation: {column: op}
columns: {id: string, ts: timestamp, country: string, note: string}
key: [id]
order_by: [ts]
maintenance: {compact_after: 1, keep_commits: 1}
"""


def row(key, day, country, note="a"):
    return upsert(key, day, country=country, note=note)


LOAD = {
    "load/1": [
        row("moves in every run", 0, "AT"),
        row("moves within a file", 0, "AT"),
        row("changes in place", 0, "CH"),
        row("is gone", 0, "AT"),
        row("is gone and returns", 0, "AT"),
        row("old key 1", 0, "AT"),
        row("old key 2", 0, "AT"),
        row("old key 3", 0, "AT"),
    ]
}
FIRST = {
    "changes/1-a": [
        row("moves in every run", 1, "CH"),
        row("moves within a file", 1, "CH"),
        row("moves within a file", 2, None),
        row("moves within a file", 3, "AT"),
        row("changes in place", 1, "CH", "b"),
        delete("is gone", 5),
        delete("is gone and returns", 1),
        row("I D I in a file", 1, "AT"),
        delete("I D I in a file", 2),
        row("I D I in a file", 3, "CH"),
        row("I D I in two files", 1, "AT"),
        delete("I D I in two files", 2),
        row("I D I in three runs", 1, "AT"),
        delete("is deleted first", 2),
        delete("is deleted first and returns", 2),
        row("is updated after its delete", 1, "AT"),
        delete("is updated after its delete", 2),
        row("all at one time", 1, "AT"),
        row("all at one time", 1, "CH", "b"),
        delete("all at one time", 1),
        row("all at one time", 1, "DE", "c"),
        delete("old key 1", 2),
        row("new key 2", 2, "AT"),
        delete("old key 3", 2),
        row("new key 3", 2, "AT"),
    ],
    "changes/1-b": [row("I D I in two files", 3, None)],
}
SECOND = {
    "changes/2-a": [
        row("moves in every run", 2, "DE"),
        row("is gone", 3, "CH"),
        row("is gone and returns", 2, "DE", "z"),
        delete("I D I in three runs", 2),
        row("is deleted first", 1, "AT"),
        row("is deleted first and returns", 1, "AT"),
        row("is deleted first and returns", 3, "CH"),
        row("is updated after its delete", 3, "CH"),
        delete("all at one time", 1),
        row("new key 1", 2, "AT"),
        delete("old key 2", 2),
    ]
}
THIRD = {
    "changes/3-a": [
        row("moves in every run", 3, None),
        row("I D I in three runs", 3, "CH"),
    ],
    # It stands before the rows of its time that are there already.
    "changes/0-late": [row("all at one time", 1, "CH", "late")],
}
AFTER_MAINTENANCE = {
    "changes/4-a": [
        row("moves in every run", 4, "AT"),
        row("is gone", 4, "DE", "older than its delete"),
        row("is deleted first", 0, "CH", "older than its delete"),
        row("old key 1", 1, "CH", "older than its delete"),
        row("changes in place", 0.5, "DE", "late"),
    ]
}
COUNTRY = ("country",)
KINDS = [
    pytest.param(
        TableType.COPY_ON_WRITE, Index.SIMPLE, COUNTRY, marks=pytest.mark.nightly
    ),
    pytest.param(TableType.COPY_ON_WRITE, Index.RECORD, (), marks=pytest.mark.nightly),
    (TableType.MERGE_ON_READ, Index.BUCKET, COUNTRY),
    pytest.param(
        TableType.MERGE_ON_READ, Index.BLOOM, COUNTRY, marks=pytest.mark.nightly
    ),
]


@pytest.mark.nightly  # by day: the random histories of whole_runs, whose rows move too
@pytest.mark.parametrize("kind, index, by", KINDS, ids=lambda each: str(each))
def test_every_run_leaves_the_tables_of_the_oracle(spark, tmp_path, kind, index, by):
    spec = stored(table(SPEC), type=kind, index=index, partition_by=by)
    things = Beside(Lake(spark, tmp_path, spec))
    for path, records in LOAD.items():
        things.landing(path, *records)
    things.lake.done("full_load")
    for files in (FIRST, SECOND, THIRD, AFTER_MAINTENANCE):
        for path, records in files.items():
            things.landing(path, *records)
        things.run()
        if files in (THIRD, AFTER_MAINTENANCE):
            done = maintenance(things)
    assert {"current_cleaning", "history_cleaning"} <= set(done)
    assert things.lake.verify().error is None


def maintenance(things: Beside) -> Dict[str, str]:
    """Compaction where the type has one, cleaning where there is something old."""
    done = things.lake.done("maintenance")[0].commits
    is_merged = things.lake.spec.storage.type is TableType.MERGE_ON_READ
    assert ("current_compaction" in done) == is_merged
    things.agree()
    return done
