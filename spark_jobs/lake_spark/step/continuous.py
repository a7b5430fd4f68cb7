"""Near real time: the rounds of a continuous run, each of them an incremental run.

A round ingests what has landed, brings current and history up to it, then the
dimensions and the products, by the stages of every other run: each with a TableRun of
its own, so that nothing is remembered but what is in the tables. What a table that had
nothing new would cost is saved where its landing folder says so. Decision 031.
"""

from __future__ import annotations

import hashlib
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from functools import partial
from typing import Callable, List, Optional, Sequence

from lake_spec.facts.product_inputs import logs_of, reads_of
from lake_spec.facts.pull_folders import pulls_of
from lake_spec.model import DimensionTable, FileTable, ProductTable, TableSpec
from lake_spec.model.continuous import Continuous, stop_uri
from lake_spec.state.report import Report
from lake_spark.stages.dimension import dimension
from lake_spark.stages.ingest import incremental
from lake_spark.stages.maintenance import maintenance
from lake_spark.stages.product import product
from lake_spark.stages.scd2 import scd2
from lake_spark.step.micro_batch_loop import Rounds
from lake_spark.step.micro_batch_report import MOST_FAILURES, TableRounds
from lake_spark.step.report_file import put_report
from lake_spark.step.run_stage import Stage, run_stage
from lake_spark.step.table_order import waves
from lake_spark.tables.table_run import EarlierRounds, TableRun

MAINTENANCE_EVERY = 3600.0
"""Seconds after which a table gets its maintenance in a round: it is looked at then
whatever its folder says, and files that were set aside are tried again."""


class Table:
    """A table of a continuous run: its rounds, and what they know of each other."""

    def __init__(
        self,
        spec: TableSpec,
        table_run: Callable[[TableSpec], TableRun],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.spec = spec
        self._table_run = table_run
        self._clock = clock
        self._earlier = EarlierRounds()
        self._listed: Optional[str] = None
        self._upkept = clock()
        run = table_run(spec)
        run.report.started = datetime.now(timezone.utc).isoformat(timespec="seconds")
        self.rounds = TableRounds(run.report, partial(put_report, run))

    @property
    def is_maintenance_due(self) -> bool:
        """Return whether its next round is one that looks at everything."""
        return self._clock() - self._upkept >= MAINTENANCE_EVERY

    def play(self, number: int) -> None:
        """Play one round; never raise for what is wrong with the table."""
        listed, is_maintenance = self._listing(), self.is_maintenance_due
        if is_maintenance:
            self._earlier = EarlierRounds()
        elif listed is not None and listed == self._listed:
            return self.rounds.quiet()
        done = [self._attempt(each) for each in _stages_of(self.spec)]
        if is_maintenance:
            done.append(self._attempt(maintenance))
        self.rounds.take(number, done)
        self._earlier.is_registered = not self.rounds.has_failed
        self._listed = None if self.rounds.has_failed else listed
        if is_maintenance and not self.rounds.has_failed:
            self._upkept = self._clock()

    def _attempt(self, stage: Stage) -> Report:
        run = self._table_run(self.spec)
        run.earlier = self._earlier
        run_stage(run, stage)
        return run.report

    def _listing(self) -> Optional[str]:
        """Return a text that represents its landing files.

        None where only the stage can know.
        """
        if not isinstance(self.spec, FileTable) or pulls_of(self.spec):
            return None
        run = self._table_run(self.spec).of_kind(FileTable)
        try:
            found = run.store.list(f"{run.landing.rstrip('/')}/")
        except Exception:  # the stage will meet it too, and report it
            return None
        digest = hashlib.sha256()
        for each in found:
            digest.update(f"{each.uri} {each.etag} {each.modified}\n".encode())
        return digest.hexdigest()


OF_FILES: List[Stage] = [incremental, scd2]


def _stages_of(spec: TableSpec) -> List[Stage]:
    if isinstance(spec, DimensionTable):
        return [dimension]
    return [product] if isinstance(spec, ProductTable) else OF_FILES


class MicroBatches:
    """The rounds of a continuous run over all of its tables."""

    def __init__(
        self,
        tables: Sequence[TableSpec],
        table_run: Callable[[TableSpec], TableRun],
        *,
        at_once: int,
    ) -> None:
        self._run = table_run(tables[0])
        # One for all rounds: each new thread here would leave one in the JVM.
        self._pool = ThreadPoolExecutor(max_workers=at_once)
        made = [Table(spec, table_run) for spec in tables]
        self._files = [each for each in made if isinstance(each.spec, FileTable)]
        self._dimensions = [
            each for each in made if isinstance(each.spec, DimensionTable)
        ]
        self._products = waves(
            [each for each in made if isinstance(each.spec, ProductTable)]
        )
        self._tables = made
        self._stop = stop_uri(self._run.environment.runs, self._run.report.run)

    def play(self, pace: Continuous) -> List[Report]:
        """Play rounds until something ends them; return a report of each table.

        A request to stop from before the step is deleted: who waits asks again, and a
        run that was stopped and cleared must work.
        """
        self._run.store.delete(self._stop)
        rounds = Rounds(pace, play=self.round, stop=self.asked_to_stop)
        with self._pool:
            self._say(f"ended: {rounds.run()}")
        for each in self._tables:
            each.rounds.end(dry_run=self._run.dry_run)
        return [each.rounds.report for each in self._tables]

    def round(self, number: int) -> Optional[str]:
        """Play all tables once, tables of files first.

        Return why there must be no other round.
        """
        run, began = self._run, time.monotonic()
        run.check_lease()
        try:
            for wave in waves(self._files):
                list(self._pool.map(lambda table: table.play(number), wave))
            for wave in (self._dimensions, *self._products):
                behind = [each for each in wave if self._is_behind(number, each)]
                list(self._pool.map(lambda table: table.play(number), behind))
        finally:
            run.spark.catalog.clearCache()  # also what a failed table left
        self._report(number, time.monotonic() - began)
        return "a dry run has one micro-batch" if run.dry_run else self._broken()

    def _is_behind(self, number: int, table: Table) -> bool:
        """Return whether a dimension or a product may have something to do."""
        is_product = isinstance(table.spec, ProductTable)
        reads = reads_of(table.spec) if is_product else logs_of(table.spec)
        made = {each.spec.full_name: each for each in self._tables}
        # What runs of other domains commit is not known here.
        moved = any(n not in made or made[n].rounds.has_committed for n in reads)
        if number == 1 or moved or table.rounds.has_failed or table.is_maintenance_due:
            return True
        table.rounds.quiet()
        return False

    def _report(self, number: int, seconds: float) -> None:
        busy = [t.spec.name for t in self._tables if t.rounds.has_committed]
        if busy or number == 1:
            what = f"committed {', '.join(busy) or 'nothing'} in {seconds:.1f} s"
            self._say(f"micro-batch {number} {what}")

    def _broken(self) -> Optional[str]:
        names = [
            each.spec.name
            for each in self._tables
            if each.rounds.failures >= MOST_FAILURES
        ]
        if not names:
            return None
        return f"{', '.join(names)} failed in {MOST_FAILURES} micro-batches in a row"

    def asked_to_stop(self) -> Optional[str]:
        """Return words of who asks the run to end, if somebody does."""
        try:
            asked = self._run.store.read(self._stop).decode()
        except KeyError:
            return None
        return f"asked to stop: {' '.join(asked.split())}"

    def _say(self, what: str) -> None:
        run = self._run
        print(f"LAKE {run.spec.domain} {run.report.stage}: {what}", flush=True)
