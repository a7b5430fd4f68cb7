"""Random snapshots of snapshot tables, played through a lake next to their oracle.

Every number has things of its own (its first key part), so that any number of
stories can share the snapshots. The same seed makes the same ones.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any, Dict, Iterator, List, Sequence, Set, Tuple

from pyspark.sql import SparkSession

from lake_spec.model import CurrentDeletes, TableSpec, TableType
from tests.oracle.large_tables import as_large
from tests.oracle import comparison, oracle
from tests.oracle.comparison import Rows
from tests.oracle.snapshots_oracle import LATE, SourceSnapshot, Source, Story, of_keys
from tests.oracle.oracle import UPSERT, Delivery
from tests.oracle.tables import settings_of
from tests.spark.lake import Lake, stored, table
from tests.spark.reprocessing import done_reprocess

HISTORY = (*comparison.TIMES, *comparison.FLAGS)
LANDED = datetime(2026, 2, 1)
DAY = timedelta(days=1)
REGIONS = ("eu", "us", "ap")
TABLE = """
source:
  kind: snapshot
  path: tests/things
  files: "**/*.csv"
  format: {type: csv}
  snapshot_time: {pattern: "(\\\\d{4}-\\\\d{2}-\\\\d{2})"}
  %s
columns:
  history: int
  a: string
  region: string
  since: timestamp
  score: double
  note: string
key: [history, a]
quarantine: {max_share: 1.0}
storage: {buckets: 1}
%s
"""
MARKED = 'complete: {marker: "*.done"}'
"""What a snapshot waits for, in some of the tables."""
BY_PATH = 'scope: {column: region, pattern: "region=([a-z]+)/"}'
SNAPSHOT_SPECS = {
    "whole": TABLE
    % (
        MARKED,
        "effective_at: since\ncurrent: {deletes: soft}\nhistory: {deletes: tombstone}",
    ),
    "by_path": TABLE % (f"{BY_PATH}\n  {MARKED}", "history: {ignore: [note, region]}"),
    "by_column": TABLE
    % (
        "scope: {column: region}\n  lost_share: 0.8",
        "effective_at: since\nload_effective_at: 1900-01-01",
    ),
    "ignoring": TABLE % ("missing_keys: ignore", "history: {track: [since, note]}"),
}


@dataclass(frozen=True)
class SnapshotWorld:
    """Stories that share the snapshots of one table."""

    name: str
    seed: int
    numbers: range

    @property
    def spec(self) -> TableSpec:
        """Their table."""
        return table(SNAPSHOT_SPECS[self.name])

    @property
    def source(self) -> Source:
        """What the oracle must know of it."""
        source = self.spec.source
        column = source.scope.column if source.scope else None
        return Source(
            settings_of(self.spec), column, source.missing_keys.value, source.lost_share
        )

    def play(self, spark: SparkSession, root: Path, kind: TableType) -> SnapshotPlay:
        """A play of it in one kind of table."""
        return SnapshotPlay(spark, root, self, kind)

    def snapshots(self) -> Dict[str, SourceSnapshot]:
        """Path of the only file -> snapshot, in the order of their times."""
        random = Random(f"{self.seed}/{self.name}/{self.numbers[0]}")
        by_path = self.name == "by_path"
        things = [(n, a) for n in self.numbers for a in "xyz"]
        found: Dict[str, SourceSnapshot] = {}
        told: Dict[Tuple, List[Dict[str, Any]]] = {}
        for day in range(4 if by_path else 6):
            at = datetime(2026, 1, 1) + (2 * day + random.randint(0, 1)) * DAY
            for key in things:
                if random.random() < 0.4 or day == 0:
                    told[key] = self._rows(random, at)
            covered = [r for r in REGIONS if random.random() < 0.7] or ["eu"]
            for regions in [[each] for each in covered] if by_path else [covered]:
                path = f"region={regions[0]}/{at:%Y-%m-%d}.csv"
                is_broken = day > 0 and random.random() < 0.1
                rows = [] if is_broken else self._landed(random, told, regions, path)
                covers = (None,) if self.source.scope is None else tuple(regions[:1])
                if self.name == "by_column":
                    covers = ()
                found[path] = SourceSnapshot(at, tuple(rows), covers)
        return found

    def _rows(self, random: Random, at: datetime) -> List[Dict[str, Any]]:
        """Where a thing is now: nowhere, in one region, at times in two."""
        count = random.choice([0, 1, 1, 1, 1, 2]) if self.source.scope else 1
        if not self.source.scope and random.random() < 0.2:
            count = 0
        sinces = [at - 4 * DAY, at - DAY, at, datetime(2025, 12, 1), None]
        return [
            {
                "region": region,
                "since": random.choice(sinces),
                "score": random.choice([0.0, -0.0, 1.5, float("nan"), None]),
                "note": random.choice(["x", "y", None]),
            }
            for region in random.sample(REGIONS, count)
        ]

    def _landed(
        self, random: Random, told: Dict, regions: List[str], path: str
    ) -> List[Delivery]:
        """The rows of a snapshot, a few of them twice and a few of them bad."""
        wanted = regions if self.source.scope else REGIONS
        rows = [
            (key, values)
            for key, all_values in told.items()
            for values in all_values
            if values["region"] in wanted
        ]
        rows += [(key, {**v, "note": "z"}) for key, v in rows if random.random() < 0.03]
        rows += [each for each in rows if random.random() < 0.03]
        random.shuffle(rows)
        if random.random() < 0.1:
            rows.append(((self.numbers[0], None), {"region": wanted[0]}))
        late = LANDED + 2 * DAY
        records = []
        for i, (key, values) in enumerate(rows):
            if self.spec.effective_at and random.random() < 0.03:
                values = {**values, "since": late}
            if self.name == "by_column" and random.random() < 0.03:
                values = {**values, "region": None}
            shown = {name: values.get(name) for name in self.source.table.columns}
            records.append(Delivery(key, UPSERT, shown, path, i + 1, LANDED))
        return records


class SnapshotPlay:
    """One world in one table: its snapshots in their order, split into random runs."""

    def __init__(
        self, spark: SparkSession, root: Path, world: SnapshotWorld, kind: TableType
    ) -> None:
        self.world = world
        self.snapshots = world.snapshots()
        self.story = Story(world.source)
        self.random = Random(f"{world.seed}/{kind.value}")
        self.lake = Lake(spark, root, stored(world.spec, type=kind))
        self.batches = self._batches()
        self.waiting: List[str] = []
        self.unmarked: Set[str] = set()

    def _batches(self) -> List[List[str]]:
        """Runs that follow each other; us may come late, one file comes again."""
        paths = list(self.snapshots)
        if self.lake.spec.storage.type is TableType.MERGE_ON_READ:
            paths.sort(key=lambda path: path.startswith("region=us"))
        cuts = sorted(
            self.random.sample(range(1, len(paths)), self.random.choice([1, 2]))
        )
        bounds = zip([0, *cuts], [*cuts, len(paths)])
        batches = [paths[start:end] for start, end in bounds]
        first = self.snapshots[paths[0]]
        again = paths[0].replace(".csv", "-again.csv")
        self.snapshots[again] = replace(first, rows=first.rows[1:])
        self.random.choice(batches[1:]).append(again)
        return batches

    def mismatches(self) -> Dict[int, str]:
        """By number, what differed first between the lake and the oracle."""
        with as_large(self.lake):
            return self._mismatches()

    def _mismatches(self) -> Dict[int, str]:
        found: Dict[int, str] = {}
        for i, batch in enumerate(self.batches):
            for number, difference in [*self._take(batch), *self._differing()]:
                words = f"after run {i + 1} of {self.batches}\n"
                words += comparison.story(self._rows(number), difference)
                found.setdefault(number, words)
        return found

    def reprocess(self) -> Dict[int, str]:
        """Reprocess the snapshots from one on; what differs then, by number."""
        for path in self.waiting:
            self._remove(path)
        taken = [each.path for each in self.lake.tables.ingested_files().all]
        path = self.random.choice(taken)
        done_reprocess(self.lake, path)
        return {
            number: f"after a reprocess of {path}\n"
            + comparison.story(self._rows(number), difference)
            for number, difference in self._differing()
        }

    def _take(self, batch: List[str]) -> List[Tuple[int, Tuple[Rows, Rows]]]:
        """Land and run; number -1 tells that other snapshots were refused."""
        for path in batch:
            text = csv_text(self.world.spec, self.snapshots[path].rows)
            self.lake.land(path, text, at="2026-02-01")
        self._mark(batch)
        report = self.lake.run("incremental")
        self.lake.done("scd2")
        made = {each["path"] for each in report.set_aside}
        wanted = self._refused(batch)
        for path in made:
            self._remove(path)
        if made == wanted:
            return []
        return [(-1, ([("refused", *sorted(made))], [("refused", *sorted(wanted))]))]

    def _mark(self, batch: List[str]) -> None:
        """End the snapshots of this run and of those before; some wait for the next."""
        if self.lake.spec.source.complete is None:
            return
        late = set()
        if batch not in (self.batches[0], self.batches[-1]):
            late = {path for path in batch if self.random.random() < 0.3}
        for path in {*batch, *self.unmarked} - late:
            self.lake.land(path.replace(".csv", ".done"), "")
        self.unmarked = late

    def _remove(self, path: str) -> None:
        self.lake.remove(path)
        if self.lake.spec.source.complete is not None and path not in self.unmarked:
            self.lake.remove(path.replace(".csv", ".done"))
        self.unmarked.discard(path)

    def _refused(self, batch: List[str]) -> Set[str]:
        """What the oracle refuses, but for what one of the same regions holds back."""
        self.waiting += batch
        refused: Set[str] = set()
        held: Set[Tuple] = set()
        for path in sorted(self.waiting, key=lambda path: self.snapshots[path].at):
            snapshot = self.snapshots[path]
            if snapshot.covers in held:
                continue
            is_late = self.story.is_late(snapshot.at, snapshot.covers)
            if path in self.unmarked and not is_late:
                held.add(snapshot.covers)
                continue
            self.waiting.remove(path)
            why = self.story.take(snapshot)
            if why is not None:
                refused.add(path)
            if why not in (None, LATE):
                held.add(snapshot.covers)
        return refused

    def _differing(self) -> Iterator[Tuple[int, Tuple[Rows, Rows]]]:
        source = self.world.source
        events = of_keys(self.story.events, source.scope)
        wanted = oracle.tables(events, source.of_events)
        is_soft = self.world.spec.current.deletes is CurrentDeletes.SOFT
        flags = ("is_deleted",) if is_soft else ()
        made = (("current", flags), ("history", HISTORY))
        for (layer, names), should_be in zip(made, wanted):
            shown: Rows = []  # until a first snapshot is ingested there is no table
            if self.lake.tables.table(layer).has_data():
                rows = getattr(self.lake, layer)
                shown = comparison.rows_of(rows, self.world.spec, *names)
            expected = comparison.expected(should_be, *names)
            yield from comparison.differing(shown, expected).items()

    def _rows(self, number: int) -> List[Delivery]:
        told = (row for each in self.snapshots.values() for row in each.rows)
        return [row for row in told if row.key[0] == number]


def csv_text(spec: TableSpec, rows: Sequence[Delivery]) -> str:
    """A file of one snapshot; a value that is not there is an empty field."""
    names = [name for name, _ in spec.columns]
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, names)
    writer.writeheader()
    for each in rows:
        writer.writerow({**dict(zip(spec.key, each.key)), **each.values})
    return out.getvalue()
