"""Readers that opened a table before other runs go on, as long as its commit is kept.

They opened the newest commit of the change log and of current. Runs, a compaction, a
clustering and cleanings follow; then the commit is no longer kept, and no metadata offers
it any more before its files go.
"""

from __future__ import annotations

import json
import subprocess
from contextlib import contextmanager

import pytest

from lake_spec.model import TableType
from lake_local.workspace import project
from lake_spark.storage.hudi_table import HudiTable
from tests.readers.playing import PROJECT
from tests.kinds import TABLE_TYPES
from tests.spark.lake import FEED_FILES, Lake, stored, table
from tests.spark.publish.readers import versions_of

SPEC = table(FEED_FILES + """\
columns: {id: int, name: string, at: timestamp}
key: [id]
order_by: [at]
effective_at: at
storage: {buckets: 1, readable_as: [iceberg, delta]}
maintenance: {keep_commits: 4, compact_after: 1, cluster_after: 3}
""")
READERS = {"pyiceberg", "delta-rs", "duckdb iceberg", "duckdb delta"}


class Readers:
    """The program of the readers, which opened tables when it began."""

    def __init__(self, paths) -> None:
        python = project.find().readers_python
        self._process = subprocess.Popen(
            [str(python), "-m", "tests.readers.staying", *paths],
            cwd=PROJECT,
            env={"PYTHONPATH": "dags:emulator:local:.", "TZ": "UTC"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.opened = self._answer()

    def again(self) -> dict:
        """What they find now."""
        self._process.stdin.write("again\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> dict:
        return json.loads(self._process.stdout.readline())

    def end(self) -> None:
        self._process.stdin.close()
        self._process.wait(60)


@contextmanager
def opened(*paths: str):
    readers = Readers(paths)
    try:
        yield readers
    finally:
        readers.end()


def change(lake: Lake, number: int) -> None:
    lake.land(
        f"changes/{number}.csv", f"op,id,name,at\nU,1,n{number},2026-02-{number:02}\n"
    )
    lake.done("incremental", "scd2")


@pytest.mark.nightly
@pytest.mark.parametrize("kind", TABLE_TYPES, ids=lambda kind: kind.value)
def test_a_reader_goes_on_while_its_commit_is_kept(spark, tmp_path, monkeypatch, kind):
    lake = Lake(spark, tmp_path, stored(SPEC, type=kind))
    lake.land("load/1.csv", "id,name,at\n1,a,2026-01-01\n2,b,2026-01-01\n")
    lake.done("full_load", "scd2")
    change(lake, 1)
    layers = ("changes", "current")
    paths = {layer: lake.tables.table(layer).path for layer in layers}
    began = {layer: versions_of(path)["iceberg"][-1] for layer, path in paths.items()}
    cleaned, clean = [], HudiTable.clean

    def looked_at(self, options):
        cleaned.append((self.path, versions_of(self.path)))
        return clean(self, options)

    monkeypatch.setattr(HudiTable, "clean", looked_at)
    done, stayed = set(), 0
    with opened(*paths.values()) as readers:
        for path in paths.values():
            assert set(readers.opened[path]) == READERS
            assert all(isinstance(each, list) for each in readers.opened[path].values())
        for number in range(2, 9):
            change(lake, number)
            (report,) = lake.done("maintenance")
            done |= set(report.commits)
            found = readers.again()
            for layer, path in paths.items():
                offered = versions_of(path)
                kept = [each.instant for each in lake.tables.table(layer).commits()]
                is_kept = began[layer] in sorted(kept)[-SPEC.maintenance.keep_commits :]
                assert offered["iceberg"] == offered["delta"]
                assert began[layer] in offered["iceberg"] or not is_kept
                if began[layer] in offered["iceberg"]:
                    assert found[path] == readers.opened[path], (layer, number)
                    stayed += 1
    assert stayed >= 2 * (SPEC.maintenance.keep_commits - 2)
    assert {"changes_clustering", "changes_cleaning", "current_cleaning"} <= done
    assert kind is TableType.COPY_ON_WRITE or "current_compaction" in done
    for layer, path in paths.items():
        offered = versions_of(path)
        assert began[layer] not in offered["iceberg"] + offered["delta"]
        before = [versions for of_path, versions in cleaned if of_path == path]
        assert before[-1] == offered, "they ended before their files were removed"
