"""Lakes that nobody kills, copies of their states and what is in them.

Each is played to its end once: a full load, then three times more files; a
dimension or a product next to its tables. What was killed must come to the same.
"""

from __future__ import annotations

import shutil
import threading
import time
from functools import cached_property
from pathlib import Path
from typing import Callable, Dict, List, Optional, Tuple

from pyspark.sql import SparkSession

from tests.crash.comparison import Tables
from tests.crash.kinds import Kind, Source
from tests.crash.lakes import (
    COMPACT,
    domain,
    open_lake,
    open_stall,
    rows_of,
    run_stage,
)
from tests.crash.landings import CORRECTED, LANDED, Files, Landings, landings
from tests.crash.stages import Stage
from tests.crash.watch import Watch
from tests.spark.lake import Lake
from tests.joins.pairs import Event, batches, files_of
from tests.spark.shop import SNAPSHOT_DAYS, Shop
from tests.spark.stall import Stall


class Undisturbed:
    """A lake of a feed or of snapshots: a copy and the rows of each of its states."""

    def __init__(self, spark: SparkSession, home: Path, kind: Kind, seed: int) -> None:
        self.kind = kind
        self.rows: Dict[str, Tables] = {}
        self._spark = spark
        self._home = home
        self._watches: Dict[Tuple[str, str], Watch] = {}
        self._seed = seed
        self._play(self.lake(home / "lake"))

    def lake(self, root: Path, maintenance: Optional[Dict[str, int]] = None) -> Lake:
        """A lake of this kind below the folder."""
        return open_lake(self._spark, root, self.kind, maintenance or {})

    @cached_property
    def _landings(self) -> Landings:
        """The files of a feed or of snapshots; a dimension has files of its own."""
        return landings(self.kind.source, self._seed)

    def _play(self, lake: Lake) -> None:
        first, second, _ = self._landings.batches
        _land(lake, self._landings.loads)
        self._watched(lake, "landed", "full_load")
        self._watched(lake, "loaded", "scd2")
        self._keep(lake, "recorded")
        _land(lake, first)
        _take_in(lake)
        self.lake(lake.root, COMPACT).done("maintenance")
        self._keep(lake, "kept up")
        _land(lake, second)
        self._watched(lake, "changed", "incremental")
        self._watched(lake, "ingested", "scd2")
        self._keep(lake, "built")
        self.go_on(lake)
        self.rows["gone on"] = rows_of(lake)

    def go_ways_to(self, stage: Stage) -> None:
        """Play the lakes that go another way, once, for a stage that needs them."""
        ways = self._ways()
        if stage.name in ways and not set(stage.states) <= set(self.rows):
            ways[stage.name]()

    def _ways(self) -> Dict[str, Callable[[], None]]:
        """By the name of a stage, how to play the lake that it needs."""
        return {
            "reprocess": self._reprocess,
            "erase": self._erase,
        }

    def _reprocess(self) -> None:
        """A lake that goes another way: what landed is corrected and reprocessed."""
        lake = self._another("built", "reprocessed")
        _land(lake, self._landings.corrected, at=CORRECTED)
        self._watched(lake, "corrected", "reprocess")
        self.rows["reprocessed"] = rows_of(lake)

    def _erase(self) -> None:
        """A lake that goes another way: a key is erased."""
        lake = self._another("built", "erased")
        run_stage(lake, "erase")
        self.rows["erased"] = rows_of(lake)

    def go_on(self, lake: Lake) -> None:
        """What comes after: the last files."""
        _land(lake, self._landings.batches[2])
        _take_in(lake)

    def _watched(self, lake: Lake, state: str, stage: str) -> None:
        self._keep(lake, state)
        self._watches[state, stage] = watched(lake, stage)

    def _keep(self, lake: Lake, state: str) -> None:
        shutil.copytree(lake.root, self._home / state)
        self.rows[state] = rows_of(lake)

    def _another(self, state: str, then: str) -> Lake:
        root = self._home / f"{state}, then {then}"
        self.copy(state, root)
        return self.lake(root)

    def copy(self, state: str, root: Path) -> None:
        """The lake as it was in that state, in a folder of its own."""
        shutil.copytree(self._home / state, root)

    def changes(self, stage: Stage) -> int:
        """How many changes the stage makes when nobody kills it."""
        name = stage.name if stage.runs == "maintenance" else stage.runs
        if (stage.begins_with, name) not in self._watches:
            root = self._home / name
            self.copy(stage.begins_with, root)
            lake = self.lake(root, stage.maintenance)
            self._watches[stage.begins_with, name] = watched(lake, stage.runs)
        return stage.counted(self._watches[stage.begins_with, name])


class UndisturbedDimension(Undisturbed):
    """The same of a dimension of customers and their addresses."""

    def _play(self, lake: Lake) -> None:
        shop = Shop(self._spark, lake.root, domain())
        self._bring_up(shop, 0, "full_load")
        self._watched(lake, "landed", "dimension")
        self._keep(lake, "loaded")
        self._bring_up(shop, 1, "incremental")
        lake.done("dimension")
        self.lake(lake.root, COMPACT).done("maintenance")
        self._bring_up(shop, 2, "incremental")
        self._watched(lake, "changed", "dimension")
        self._keep(lake, "built")

    def _bring_up(self, shop: Shop, nth: int, stage: str) -> None:
        """Land the n-th files of both tables and take them in."""
        shop.land_customers(f"{CUSTOMER_FILES[nth]}/{nth}.csv", "", "")
        shop.land_addresses(SNAPSHOT_DAYS[nth], {})
        for name in ("customer", "address"):
            shop.lakes[name].done(stage, "scd2")


CUSTOMER_FILES = ("load", "changes", "changes")


class UndisturbedProduct(Undisturbed):
    """The same of a product of orders and the history of their customers."""

    @cached_property
    def _events(self) -> List[List[Event]]:
        return batches(self._seed, range(1, 31), 4)

    def _play(self, lake: Lake) -> None:
        first, second, third, _ = map(files_of, self._events)
        self._stall(lake).take(**first)
        self._watched(lake, "landed", "product")
        self._keep(lake, "loaded")
        self._stall(lake).take(**second)
        lake.done("product")
        self.lake(lake.root, COMPACT).done("maintenance")
        self._stall(lake).take(**third)
        self._watched(lake, "changed", "product")
        self._keep(lake, "built")
        self.go_on(lake)
        self.rows["gone on"] = rows_of(lake)

    def _ways(self) -> Dict[str, Callable[[], None]]:
        return {"erased product": self._erase_input}

    def _stall(self, lake: Lake) -> Stall:
        return open_stall(self._spark, lake.root, self.kind)

    def go_on(self, lake: Lake) -> None:
        """What comes after: the last files."""
        self._stall(lake).take(**files_of(self._events[-1]))
        run_stage(lake, "product")

    def _erase_input(self) -> None:
        """A lake that goes another way: a customer is erased, then made again."""
        lake = self._another("built", "input erased")
        run_stage(self._stall(lake).lakes["customer"], "erase")
        self._watched(lake, "input erased", "product")
        self.rows["made again"] = rows_of(lake)


def undisturbed(spark: SparkSession, home: Path, kind: Kind, seed: int) -> Undisturbed:
    """The undisturbed lake of a kind, below the folder."""
    kinds = {
        Source.DIMENSION: UndisturbedDimension,
        Source.PRODUCT: UndisturbedProduct,
    }
    return kinds.get(kind.source, Undisturbed)(spark, home, kind, seed)


def _land(lake: Lake, files: Files, at: str = LANDED) -> None:
    for path, text in files.items():
        lake.land(path, text, at=at)


def _take_in(lake: Lake) -> None:
    for stage in ("incremental", "scd2"):
        run_stage(lake, stage)


def watched(lake: Lake, stage: str) -> Watch:
    """Run a stage and count the changes that it makes."""
    watch, ended = Watch(str(lake.root)), threading.Event()

    def look() -> None:
        while not ended.is_set():
            watch.look()
            time.sleep(0.001)  # the stage needs the core too

    looking = threading.Thread(target=look)
    looking.start()
    try:
        run_stage(lake, stage)
    finally:
        ended.set()
        looking.join()
    watch.look()
    return watch
