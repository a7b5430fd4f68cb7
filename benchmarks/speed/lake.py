"""Lakes in folders: land generated rows, run our stages on them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Sequence

from pyspark.sql import DataFrame, SparkSession

from lake_spark.publish.publication import publish
from lake_spec.model import TableSpec
from lake_spec.state.report import Report
from benchmarks.speed.generator import CHANGED_AT, COLUMNS, KEY, OPERATION
from tests.spark.lake import Lake, table


def spec_of(*, buckets: int) -> TableSpec:
    """The table of the generator: a feed of Parquet files, as DMS writes them."""
    columns = "\n".join(f"  {name}: {kind}" for name, kind in COLUMNS)
    return table(f"""\
source:
  kind: feed
  path: tests/things
  load: "load/*"
  changes: "changes/*"
  format: {{type: parquet}}
  operation: {{column: {OPERATION}}}
key: [{KEY}]
order_by: [{CHANGED_AT}]
effective_at: {CHANGED_AT}
columns:
{columns}
storage: {{type: merge_on_read, buckets: {buckets}}}
""")


class BenchLake(Lake):
    """One table's lake, its landing files made by Spark."""

    def land_rows(self, rows: DataFrame, name: str) -> Path:
        """Write rows as landing file(s) `name-<n>.parquet`; the folder they are in."""
        made = self.root / "made"
        rows.write.mode("overwrite").parquet(str(made))
        parts = sorted(made.glob("part-*.parquet"))
        target = self.root / "landing" / self.spec.source.path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        for nth, part in enumerate(parts):
            part.rename(f"{target}-{nth}.parquet")
        shutil.rmtree(made)
        return target.parent

    def stage(self, name: str) -> Report:
        """Run one stage, which must not fail."""
        (report,) = self.done(name)
        return report

    def publish(self, layers: Sequence[str]) -> None:
        """Publish the commits of these layers, as a stage does at its end."""
        publish(self._table_run(self._report("publication")), layers)

    def copied(self, root: Path, spec: TableSpec) -> BenchLake:
        """The same lake in another folder, with the times of its landing files."""
        shutil.copytree(self.root, root)
        return BenchLake(self.spark, root, spec)

    @property
    def warehouse(self) -> Path:
        """The folder of its tables."""
        return self.root / "warehouse"


def read_whole(*tables: DataFrame) -> None:
    """Every column of every row, and nothing done with it."""
    for rows in tables:
        rows.write.format("noop").mode("overwrite").save()


def new_lake(spark: SparkSession, root: Path, spec: TableSpec) -> BenchLake:
    """An empty lake in a folder that is made again."""
    shutil.rmtree(root, ignore_errors=True)
    return BenchLake(spark, root, spec)
