"""Many tables in one step, as spark-submit starts it here: in its heap and its code cache.

With one compiler alone the JVM had 48 MB for compiled code, and six tables with a record
index ended it with `Out of space in CodeCache for adapters`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.spark.lake import table
from tests.spark.submitted import SubmittedDomain

pytestmark = pytest.mark.nightly

NAMES = [f"c{n}" for n in range(10)]
SPEC = (
    """
source:
  kind: feed
  path: tests/things
  load: "load/*"
  changes: "changes/*"
  format: {type: csv}
  operation: {column: op}
columns:
  id: int
  ts: timestamp
"""
    + "".join(f"  {name}: string\n" for name in NAMES)
    + """key: [id]
order_by: [ts]
load_effective_at: "2020-01-01"
storage: {INDEX, buckets: 1}
"""
)
KEYS = 300


def domain(root: Path, count: int, index: str) -> SubmittedDomain:
    """A domain of so many tables."""
    one = table(SPEC.replace("INDEX", f"index: {index}"))
    names = [f"t{n:02}" for n in range(count)]
    return SubmittedDomain(
        root,
        [
            replace(one, name=name, source=replace(one.source, path=f"tests/{name}"))
            for name in names
        ],
    )


def file(head: str, values: str) -> str:
    """A line for each key."""
    rows = "".join(f"{values % {'id': each}}\n" for each in range(KEYS))
    return f"{head}\n{rows}"


@pytest.mark.parametrize(
    "count, index", [(6, "record"), (30, "bucket")], ids=["record index", "thirty"]
)
def test_all_tables_of_a_step_are_done(tmp_path, count, index):
    lake = domain(tmp_path, count, index)
    columns = ",".join(NAMES)
    load, changes = f"id,ts,{columns}", f"op,id,ts,{columns}"
    lake.land("load/1.csv", file(load, "%(id)s,2020-01-01" + ",a" * 10))
    lake.land("changes/1.csv", file(changes, "U,%(id)s,2021-01-01" + ",b" * 10))
    for stage in ("full_load", "incremental", "scd2"):
        code = lake.step(stage)
        log = lake.log(stage)
        assert code == 0, log[-3000:]
        assert "CodeCache" not in log
        found = lake.reports(stage)
        assert {name: each["state"] for name, each in found.items()} == dict.fromkeys(
            [each.name for each in lake.tables], "done"
        )
        if stage != "scd2":
            assert {each["accepted"] for each in found.values()} == {KEYS}
