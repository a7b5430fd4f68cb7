"""Many tables in one step, as spark-submit starts it here: in its heap and its code cache.

With one compiler alone the JVM had 48 MB for compiled code, and six tables with a record
index ended it with `Out of space in CodeCache for adapters`.
"""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from lake_local.aws import runtimes
from lake_spec.model import DomainSpec
from lake_spec.parsing.json_codec import to_data
from tests.spark.lake import environment_in, table
from tests.spark.leased import grant

pytestmark = pytest.mark.nightly

PROJECT = Path(__file__).resolve().parents[3]
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


class Domain:
    """A domain of many tables in a folder, whose stages are steps of their own."""

    def __init__(self, root: Path, count: int, index: str) -> None:
        self.root, self.run = root, "tests_incremental/1"
        one = table(SPEC.replace("INDEX", f"index: {index}"))
        self.tables = [f"t{n:02}" for n in range(count)]
        environment = environment_in(root)
        specs = tuple(
            replace(one, name=name, source=replace(one.source, path=f"tests/{name}"))
            for name in self.tables
        )
        words = {"description": "Many tables of the tests", "owner": "test-team"}
        domain = DomainSpec(name="tests", tables=specs, **words)
        release = {
            "release": "r1",
            "environment": to_data(environment),
            "domain": to_data(domain),
        }
        (root / "specs").mkdir()
        (root / "specs" / "tests.json").write_text(json.dumps(release))
        grant(root, self.run)

    def land(self, path: str, head: str, values: str) -> None:
        rows = "".join(f"{values % {'id': each}}\n" for each in range(KEYS))
        for name in self.tables:
            file = self.root / "landing" / "tests" / name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"{head}\n{rows}")

    def step(self, stage: str) -> int:
        scratch = self.root / "scratch" / stage
        scratch.mkdir(parents=True)
        release = f"file://{self.root}"
        argv = ["spark-submit", str(PROJECT / "spark_jobs/main.py")]
        argv += ["--release", release, "--region", "eu-central-1"]
        argv += ["--domain", "tests", "--stage", stage]
        argv += ["--run", self.run, "--lease-token", "1"]
        made = runtimes.command(
            *("emr-7.13.0", argv),
            endpoint="http://127.0.0.1:9",
            secret="none",
            scratch=scratch,
            properties={"spark.lake.tablesAtOnce": "4"},
        )
        path = f"{PROJECT}/dags:{PROJECT}/spark_jobs"
        env = {**os.environ, **made.env, "PYTHONPATH": path}
        with open(self.root / f"{stage}.log", "wb") as log:
            return subprocess.call(made.argv, env=env, stderr=log, stdout=log)

    def reports(self, stage: str) -> dict:
        folder = self.root / "runs" / self.run / stage
        return {
            each.stem: json.loads(each.read_text())
            for each in sorted(folder.glob("*.json"))
        }


@pytest.mark.parametrize(
    "count, index", [(6, "record"), (30, "bucket")], ids=["record index", "thirty"]
)
def test_all_tables_of_a_step_are_done(tmp_path, count, index):
    lake = Domain(tmp_path, count, index)
    columns = ",".join(NAMES)
    lake.land("load/1.csv", f"id,ts,{columns}", "%(id)s,2020-01-01" + ",a" * 10)
    lake.land("changes/1.csv", f"op,id,ts,{columns}", "U,%(id)s,2021-01-01" + ",b" * 10)
    for stage in ("full_load", "incremental", "scd2"):
        code = lake.step(stage)
        log = (tmp_path / f"{stage}.log").read_text(errors="replace")
        assert code == 0, log[-3000:]
        assert "CodeCache" not in log
        found = lake.reports(stage)
        assert {name: each["state"] for name, each in found.items()} == dict.fromkeys(
            lake.tables, "done"
        )
        if stage != "scd2":
            assert {each["accepted"] for each in found.values()} == {KEYS}
