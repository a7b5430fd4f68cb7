"""One seed on one database: work, its capture, the lake that follows, and the end."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Dict, Iterator, List, Sequence, Tuple

from pyspark.sql import SparkSession

from lake_spec.model import HUDI_TYPES, Connection
from tests.loop.capture import Capture
from tests.loop.differences import differences
from tests.loop.kinds import MARIADB
from tests.loop.servers import Servers
from tests.loop.source import Source
from tests.loop.tables import CONNECTION, TABLES, Table
from tests.loop.transactions import Work
from tests.loop.workload import beside, play
from tests.spark.lake import stored
from tests.spark.pulling import ConnectedLake, kafka_at

AMID = 40
"""Steps of work next to the making of a connector."""


@dataclass(frozen=True)
class Size:
    """How much is done: steps before the capture and in each phase of it."""

    before: int = 80
    phases: int = 3
    steps: int = 150
    kills: int = 2
    lives: int = 1
    """Before so many phases the way of the changes is made again."""
    looks: int = 3
    """How many tables are compared after a phase; after the last one, all are."""
    only: Tuple[str, ...] = ()
    """The tables that the lake follows, all if none are named."""

    @property
    def followed(self) -> List[Table]:
        """Those tables; work is done on all."""
        return [each for each in TABLES if not self.only or each.name in self.only]


class Loop:
    """A source, its lakes, one for each table, and what is between them."""

    has_load = False
    """Whether rows that were there before the capture come by a load, not from it."""

    def __init__(
        self,
        spark: SparkSession,
        servers: Servers,
        root: Path,
        database: str,
        seed: int,
    ) -> None:
        self.random = Random(f"{seed}/{database}")
        self.spark, self.root = spark, root
        self.source: Source = servers.source(database, seed)
        self.source.is_loaded = self.has_load
        self.source.create()
        self.capture = Capture(servers, self.source)
        self.work = Work(self.source, f"{seed}/{database}/work")
        kafka = kafka_at(servers.kafka)
        self.connections: Dict[str, Connection] = {CONNECTION: kafka}
        self.lakes: Dict[str, ConnectedLake] = {}

    def follow(self, table: Table, **words: Any) -> ConnectedLake:
        """The lake of a table, whose spec may say more than that of others."""
        source = self.source
        most = self.random.choice([7, 100, 100_000])
        spec = table.spec(source.database, source.topic(table.name), most, **words)
        spec = stored(spec, type=self.random.choice(HUDI_TYPES))
        root = self.root / table.name
        self.lakes[table.name] = ConnectedLake(self.spark, root, spec, self.connections)
        return self.lakes[table.name]

    def play(self, size: Size) -> List[str]:
        """Work, with kills in some phases, and compare after each; what differs."""
        found: List[str] = []
        play(self.work, size.before)
        killed = self.random.sample(range(size.phases), size.kills)
        lives = self.random.sample(range(1, size.phases), size.lives)
        # Rows of a second snapshot have no value in a column that is gone, and no
        # trigger says so.
        self.work.drops_columns = not lives
        with self.captured(size):
            for phase in range(size.phases):
                self.before_phase(phase, size)
                if phase in lives:
                    self.live()
                    self.work.drops_columns = True
                self._work(size.steps, kill=phase in killed)
                self.capture.wait_until_here()
                is_last = phase == size.phases - 1
                tables = size.followed if is_last else self.some_tables(size)
                found += self._take(tables, f"phase {phase + 1}")
        self.work.close()
        return found

    @contextmanager
    def captured(self, size: Size) -> Iterator[None]:
        """Changes are captured until the block ends; what is there, before them."""
        self.work.settle()
        self.loaded: Dict[str, int] = {}
        for each in size.followed:
            self.follow(each)
            self.source.shapes[each.name].begin()
            self.loaded[each.name] = self.source.last_change(each)
        with self.capture.running():
            yield

    def before_phase(self, phase: int, size: Size) -> None:
        """What else is done, before the work of a phase."""

    def live(self) -> None:
        """What happens to a source in its life: its connector or its log begins again."""
        ways = [self._new_slot, self._same_slot]
        if self.source.database == MARIADB:
            ways = [self._new_connector, self._other_log]
        way = self.random.choice(ways)
        print(f"{self.source.database}: {way.__name__}")
        way()

    def _same_slot(self) -> None:
        """A new connector, amid work: it reads all rows, and what the slot has kept."""
        with beside(self.work, AMID):
            self.capture.end()
            self.capture.begin_again()

    def _new_slot(self) -> None:
        """The same with a new slot, while nothing is done: else changes were lost."""
        self._ended()
        self.source.forget()
        self.capture.begin_again()

    def _new_connector(self) -> None:
        self._ended()
        self.capture.begin_again()

    def _other_log(self) -> None:
        """The binary log has another name, and begins with its first file."""
        self._ended()
        self.work.close()
        self.source.start_log_over()
        self.work.connect()
        self.capture.begin_again()

    def _ended(self) -> None:
        self.work.settle()
        self.capture.wait_until_here()
        self.capture.end()

    def some_tables(self, size: Size) -> List[Table]:
        """Those to look at before the end."""
        return self.random.sample(size.followed, size.looks)

    def _work(self, steps: int, *, kill: bool) -> None:
        """The worker is killed while changes come, and comes back to more of them."""
        if kill:
            play(self.work, self.random.randrange(steps // 2))
            time.sleep(self.random.random() * 0.5)
            self.capture.kill()
            play(self.work, steps // 2)
            self.capture.restart()
        play(self.work, steps // 2)
        self.work.settle()

    def _take(self, tables: Sequence[Table], when: str) -> List[str]:
        found: List[str] = []
        for table in tables:
            lake = self.lakes[table.name]
            reports = lake.done("incremental", "scd2")
            words = self.compare(table)
            words += [
                f"{self.source.database} {table.name}: {each.quarantined} rows in the"
                f" quarantine, {each.unresolved} values unresolved"
                for each in reports
                if each.quarantined or (each.unresolved and not self.has_load)
            ]
            found += [f"{when}: {each}" for each in words]
        return found

    def compare(self, table: Table) -> List[str]:
        """What differs now between a table's lake and its source."""
        lake, loaded = self.lakes[table.name], self.loaded[table.name]
        return differences(lake, self.source, table, loaded)
