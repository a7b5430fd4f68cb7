"""dbt's snapshots of the same files: versions of a Delta table, kept by its own MERGE."""

from __future__ import annotations

import json
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

from dbt.cli.main import dbtRunner
from pyspark.sql import SparkSession

from benchmarks.speed.generator import CHANGED_AT, COLUMNS, KEY

PROJECT = Path(__file__).parent / "dbt_project"
_CATALOGUE = "spark.sql.catalog.spark_catalog"
_DELTA = "org.apache.spark.sql.delta.catalog.DeltaCatalog"


class DbtHistory:
    """A Delta table of all versions, kept by `dbt snapshot` by the time of a change.

    dbt runs within this process, on its session method: its users wait for a process
    and a JVM more. Its source are the newest rows of the landing file alone, not all
    rows of a table, which is the least that it can be asked to compare.
    """

    def __init__(self, spark: SparkSession, path: Path) -> None:
        self._path = path
        # Delta's tables are known by name to Delta's own catalogue only.
        self._spark = spark.newSession()
        self._spark.conf.set(_CATALOGUE, _DELTA)
        # Its source is a file, which a step's session refuses as a name in SQL.
        self._spark.conf.set("spark.sql.runSQLOnFiles", "true")

    def load(self, landing: Path) -> None:
        """The first versions, all open."""
        self._snapshot(landing)

    def merge(self, file: Path) -> None:
        """Close and open the versions of the keys of a landing file."""
        self._snapshot(file)

    def _snapshot(self, landed: Path) -> None:
        values = {
            "alias": "versions_" + "".join(filter(str.isalnum, self._path.parent.name)),
            "root": str(self._path),
            "key": KEY,
            "changed_at": CHANGED_AT,
            "columns": ", ".join(name for name, _ in COLUMNS),
            "landed": str(landed),
        }
        options = {
            "--project-dir": PROJECT,
            "--profiles-dir": PROJECT,
            "--target-path": self._path / "target",
            "--log-path": self._path / "logs",
            "--vars": json.dumps(values),
        }
        words = [str(word) for option in options.items() for word in option]
        with _as_only_session(self._spark):
            done = dbtRunner().invoke(["--quiet", "snapshot", *words])
        if not done.success:
            raise RuntimeError(f"dbt snapshot: {done.exception or done.result}")


@contextmanager
def _as_only_session(spark: SparkSession) -> Iterator[None]:
    """What `SparkSession.builder.getOrCreate()` gives, as dbt asks for its session."""
    before = SparkSession._instantiatedSession
    SparkSession._instantiatedSession = spark
    try:
        yield
    finally:
        SparkSession._instantiatedSession = before
