"""A domain in a folder whose stages are steps: processes, as spark-submit starts them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from subprocess import Popen
from typing import Dict, Sequence

from lake_spec.model import DomainSpec, TableSpec
from lake_spec.model.json_codec import to_data
from lake_emulator import runtimes
from tests.spark.lake import environment_in
from tests.spark.leased import grant

PROJECT = Path(__file__).resolve().parents[2]


class SubmittedDomain:
    """Tables of the domain `tests` below a folder, whose lease one run has."""

    def __init__(self, root: Path, tables: Sequence[TableSpec]) -> None:
        self.root, self.tables, self.run = root, tuple(tables), "tests_incremental/1"
        words = {"description": "Tables of the tests", "owner": "test-team"}
        domain = DomainSpec(name="tests", tables=self.tables, **words)
        release = {
            "release": "r1",
            "environment": to_data(environment_in(root)),
            "domain": to_data(domain),
        }
        (root / "specs").mkdir(parents=True)
        (root / "specs" / "tests.json").write_text(json.dumps(release))
        grant(root, self.run)

    def land(self, path: str, text: str) -> None:
        """Put the same landing file for every table."""
        for table in self.tables:
            file = self.root / "landing" / table.source.path / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)

    def start(self, stage: str, *then: str) -> "Popen[bytes]":
        """Start a step of stages; its output is in `<stage>.log`."""
        scratch = self.root / "scratch" / stage
        scratch.mkdir(parents=True, exist_ok=True)
        argv = ["spark-submit", str(PROJECT / "spark_jobs/main.py")]
        argv += ["--release", f"file://{self.root}", "--region", "eu-central-1"]
        argv += ["--domain", "tests", "--stage", stage]
        argv += ["--then", ",".join(then)] if then else []
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
            return Popen(made.argv, env=env, stderr=log, stdout=log)

    def step(self, stage: str, *then: str) -> int:
        """Run such a step; its exit code."""
        return self.start(stage, *then).wait()

    def log(self, stage: str) -> str:
        """What a step wrote."""
        return (self.root / f"{stage}.log").read_text(errors="replace")

    def reports(self, stage: str) -> Dict[str, dict]:
        """The reports of a stage, by table."""
        folder = self.root / "runs" / self.run / stage
        return {
            each.stem: json.loads(each.read_text())
            for each in sorted(folder.glob("*.json"))
        }
