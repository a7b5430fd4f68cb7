"""Play pairs through a lake, batch by batch, next to the oracle."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Dict, List, Sequence, Set, Tuple

from pyspark.sql import SparkSession

from lake_spec.model import Maintenance, TableType
from tests.joins.oracle import expected
from tests.joins.pairs import Event, batches, files_of
from tests.spark.reprocessing import done_reprocess
from tests.spark.stall import HEADERS, PRODUCTS, Stall

BATCHES = 5
SHARED = -1
"""The number of rows that are of several pairs: orders without a customer."""

FEW_COMMITS = Maintenance(compact_after=1, cluster_after=4, keep_commits=1)
"""So few that the commits which products were built from are cleaned."""

Texts = Tuple[str, ...]
Found = Dict[int, str]
"""By pair, the first difference in words."""


class Play:
    """Pairs that share tables, in tables of one kind."""

    def __init__(
        self, spark: SparkSession, root: Path, seed: int, numbers: Sequence[int]
    ) -> None:
        self._batches = batches(seed, numbers, BATCHES)
        self._random = Random(f"{seed}/play {numbers[0]}")
        self._stall = Stall(spark, root, list(PRODUCTS))
        kind = self._random.choice(list(TableType))
        self._stall.store_as(kind)
        for name, lake in self._stall.lakes.items():
            storage = lake.spec.storage
            if name == "enriched" and not storage.is_plain:
                storage = replace(storage, partition_by=("segment",))
            self._stall.redefine(name, storage=storage, maintenance=FEW_COMMITS)
        self.kind = kind.value
        self.partly = 0
        """How many times a product was built in part."""

    def mismatches(self) -> Found:
        """What differed first, by pair: after batches, a reprocess and a rebuild."""
        found: Found = {}
        seen: List[List[Event]] = []
        for nth, batch in enumerate(self._batches, 1):
            if nth == BATCHES:
                self._maintain()
            self._take(batch)
            seen.append(batch)
            if nth == BATCHES or self._random.random() < 0.7:
                self._compare(f"after batch {nth}", "product", seen, found)
        seen[1] = [each for each in seen[1] if self._random.random() < 0.7]
        self._reprocess(2, seen[1])
        self._compare("after a reprocess", "product", seen, found)
        self._verify(found)
        self._compare("after a rebuild", "rebuild_product", seen, found)
        return found

    def _take(self, batch: Sequence[Event]) -> None:
        self._stall.take(**files_of(batch))

    def _maintain(self) -> None:
        for lake in self._stall.lakes.values():
            lake.done("maintenance")

    def _reprocess(self, nth: int, events: Sequence[Event]) -> None:
        """Land other records in the files of a batch, and reprocess them."""
        for name, text in files_of(events).items():
            lake, path = self._stall.lakes[name], f"changes/{nth}.csv"
            lake.land(path, HEADERS[name] + text)
            done_reprocess(lake, path)

    def _verify(self, found: Found) -> None:
        for name in PRODUCTS:
            report = self._stall.lakes[name].verify()
            if report.error is not None:
                found.setdefault(SHARED, f"verify of {name}: {report.error}")

    def _compare(
        self, when: str, stage: str, seen: Sequence[Sequence[Event]], found: Found
    ) -> None:
        wanted = expected([event for batch in seen for event in batch])
        for name in PRODUCTS:
            report = self._stall.lakes[name].run(stage)
            if report.error is not None:
                found.setdefault(SHARED, f"{when}, {name}: {report.error}")
                continue
            self.partly += report.built == "in part"
            made, right = set(self._stall.rows(name)), wanted[name]
            for number, rows in _by_pair(name, made ^ right).items():
                sides = [sorted(rows & each, key=str) for each in (made, right)]
                words = (
                    f"{when}, {name} ({report.built}): has {sides[0]}, not {sides[1]}"
                )
                found.setdefault(number, words)


def _by_pair(name: str, rows: Set[Texts]) -> Dict[int, Set[Texts]]:
    """Rows by the number of their pair, with which their first column begins."""
    found: Dict[int, Set[Texts]] = defaultdict(set)
    for row in rows:
        number = row[0][:-1]
        found[int(number) if number.isdecimal() else SHARED].add(row)
    return found
