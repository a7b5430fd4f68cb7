"""A whole lake in a folder: land files, run stages, read the tables."""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from textwrap import dedent
from typing import Any, Callable, Dict, List, Optional, Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lake_spec.hudi.options import Operation
from lake_spec.model import EnvironmentSpec, Maintenance, TableSpec
from lake_spec.state.report import Report
from lake_check.parsing.loader import load_domain
from lake_spark.stages.verify import verify
from lake_spark.step.application import STAGES, run_table
from lake_spark.storage.hudi_table import DELETED, without_hudi_columns
from lake_spark.storage.object_store import FolderStore
from lake_spark.tables import foreign_files
from lake_spark.tables.table_run import Accepted, TableRun, Window


def environment_in(root: Path) -> EnvironmentSpec:
    """An environment whose places, and the secret of erase, are in a folder."""
    names = ("landing", "warehouse", "artifacts", "runs", "logs")
    places = {name: f"file://{root}/{name}" for name in names}
    secret = str(root / "secret")
    return EnvironmentSpec(name="folder", region="none", erase_secret=secret, **places)


class Lake:
    """One table's lake below a folder; every stage is a run of its own."""

    def __init__(
        self,
        spark: SparkSession,
        root: Path,
        spec: TableSpec,
        domain: Sequence[TableSpec] = (),
    ) -> None:
        self.spark = spark
        self.root = root
        self.spec = spec
        self.domain = tuple(domain) or (spec,)
        self.store = FolderStore()
        self._runs = 0

    @property
    def environment(self) -> EnvironmentSpec:
        return environment_in(self.root)

    def land(
        self, path: str, content: "bytes | str", *, at: Optional[str] = None
    ) -> None:
        """Put a landing file, if wished as landed at that time."""
        file = self.root / "landing" / self.spec.source.path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        if at:
            timestamp = (
                datetime.fromisoformat(at).replace(tzinfo=timezone.utc).timestamp()
            )
            os.utime(file, (timestamp, timestamp))

    def remove(self, path: str) -> None:
        """Take a landing file away."""
        (self.root / "landing" / self.spec.source.path / path).unlink()

    def run(
        self,
        stage: str,
        *,
        window: Window = Window(),
        dry_run: bool = False,
        again: bool = False,
        accepted: Accepted = Accepted(),
        foreign: Callable[[TableRun], None] = foreign_files.refuse,
        **own: object,
    ) -> Report:
        """Run one stage and give its report, failed or not; `own` is for it alone.

        `foreign` is done first about files that the pipeline did not write. A stage
        belongs to the run that a prepare stage before it began; `again` leaves that run
        open.
        """
        run = self._table_run(self._report(stage), window, dry_run, accepted)
        run_table(run, partial(STAGES[stage], **own), foreign)
        self._runs += 0 if again else 1
        return run.report

    def verify(self, share: float = 1.0) -> Report:
        """Compare that share of the keys with the change log; the report."""
        run = self._table_run(self._report("rebuild"))
        run_table(run, partial(verify, share=share))
        return run.report

    def prepare(self, stage: str) -> TableRun:
        """Run the prepare stage of a stage; the stage itself is in the same run."""
        run = self._table_run(self._report(f"prepare_{stage}"))
        run_table(run, STAGES[run.report.stage])
        assert run.report.error is None, run.report.error
        return run

    def _report(self, stage: str) -> Report:
        spec = self.spec
        run = f"{spec.domain}_incremental/{self._runs}"
        return Report(run, "test", spec.domain, spec.name, stage, spec.engine.value)

    def done(self, *stages: str) -> List[Report]:
        """Run stages that must not fail."""
        reports = [self.run(stage) for stage in stages]
        for report in reports:
            assert report.error is None, report.error
        return reports

    def _table_run(
        self,
        report: Report,
        window: Window = Window(),
        dry_run: bool = False,
        accepted: Accepted = Accepted(),
    ) -> TableRun:
        return TableRun(
            self.spark,
            self.store,
            self.spec,
            self.environment,
            report,
            window,
            dry_run,
            accepted,
            domain_tables=self.domain,
        )

    @property
    def tables(self) -> TableRun:
        """Access to the tables, outside of any run."""
        return self._table_run(Report("", "", "", "", "", ""))

    @property
    def current(self) -> DataFrame:
        return without_hudi_columns(self.tables.current.read())

    @property
    def history(self) -> DataFrame:
        return without_hudi_columns(self.tables.history.read())

    @property
    def changes(self) -> DataFrame:
        return without_hudi_columns(self.tables.log.read())

    def overwrite(self, column: str, value: str, where: str = "true") -> None:
        """Change a column of current to a SQL expression, as another program might."""
        rows = self.current.where(where).withColumn(column, F.expr(value))
        rows = rows.withColumn(DELETED, F.lit(None).cast("boolean"))
        self.tables.current.write(rows, Operation.UPSERT, {})

    def files(self) -> Dict[str, float]:
        """Every file of the warehouse with its time: equal means untouched."""
        found = (self.root / "warehouse").rglob("*")
        return {str(f): f.stat().st_mtime for f in found if f.is_file()}

    def versions(self, *columns: str) -> List[tuple]:
        """History as sorted tuples of key, columns, from and to (dates as text)."""
        names = [*self.spec.key, *columns]
        rows = self.history.selectExpr(
            *names, "CAST(valid_from AS string)", "CAST(valid_to AS string)"
        ).collect()
        return sorted((tuple(row) for row in rows), key=lambda row: (row[0], row[-2]))

    def living(self, *columns: str) -> List[tuple]:
        """Current as sorted tuples of key and columns."""
        rows = self.current.select(*self.spec.key, *columns).orderBy(*self.spec.key)
        return [tuple(row) for row in rows.collect()]


SNAPSHOTS = """
source:
  kind: snapshot
  path: tests/things
  files: "*.csv"
  format: {type: csv}
  snapshot_time: {pattern: "^(.*)[.]csv$"}
"""
"""The source of a table of snapshots; more of its settings, or columns, may follow."""

LOAD_AND_CHANGES = """
source:
  kind: feed
  path: tests/things
  load: "load/*"
  changes: "changes/*"
"""
"""The same of a full load and change files; their format must follow."""

DATED = LOAD_AND_CHANGES + """  format: {type: csv}
columns: {id: int, at: timestamp}
key: [id]
order_by: [at]
storage: {buckets: 1}
"""
"""A table of such files that have ids and times alone."""

FEED_FILES = LOAD_AND_CHANGES + """  format: {type: csv}
  operation: {column: op}
"""
"""Such a source with files of CSV, whose column `op` says what happened."""

NAMED = FEED_FILES + """\
key: [id]
order_by: [at]
effective_at: at
columns: {id: int, name: string, at: timestamp}
"""
"""A table of such files whose rows have a name that changes."""

HEAD = """
name: things
description: Things that change in tests
owner: test-team
"""

NO_PROFILE = "profile: never\n"
"""Spares most tests the seconds of a profile, which changes no table."""

DOMAIN = """
name: tests
description: Tables of the tests
owner: test-team
"""


def table(text: str) -> TableSpec:
    """The table of a spec that says only what the test is about."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "tests"
        home.mkdir()
        (home / "_domain.yml").write_text(DOMAIN)
        own = dedent(text)
        more = "" if "profile:" in own else NO_PROFILE
        (home / "things.yml").write_text(HEAD + more + own)
        return load_domain("tests", Path(folder)).tables[0]


def stored(spec: TableSpec, **storage: Any) -> TableSpec:
    """The same table, stored in another way; maintenance is due early if it does not say."""
    maintenance = spec.maintenance
    if maintenance == Maintenance():
        maintenance = Maintenance(compact_after=1, cluster_after=4)
    kept = replace(spec.storage, **storage)
    return replace(spec, storage=kept, maintenance=maintenance)
