"""Publication that is killed at one of its changes, run again, and read by every reader.

A writer dies before or after a change of published metadata or of the catalogue: no later
change of it happens. Manifests of Iceberg are written by Iceberg's own library; they are
there, and unnamed, where the writer dies before a metadata file.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple
from unittest.mock import patch

from pyspark.sql import SparkSession

from lake_spec.model import ReadableAs, TableType
from lake_spark.ingest.reprocess import Selection
from lake_spark.publish import glue_tables, publication
from lake_spark.storage.object_store import FolderStore
from tests.readers.playing import KEPT, LAYERS, Outcome, compare
from tests.spark.erasing import ask
from tests.spark.lake import FEED_FILES, Lake, stored, table
from tests.spark.publish.readers import iceberg_file, versions_of

SPEC = table(FEED_FILES + """\
columns: {id: int, place: string, amount: "decimal(10,2)", tags: "array<string>", \
at: timestamp}
key: [id]
order_by: [at]
effective_at: at
storage: {buckets: 1, partition_by: [place], readable_as: [iceberg, delta]}
""")
HEADER = "op,id,place,amount,tags,at"
IDS = range(30)
STAGES = ("incremental", "scd2", "maintenance", "rebuild", "reprocess", "erase")
OWN = ("maintenance", "erase")
"""Stages that remove versions, which no other stage does in their place."""

USUAL_CHANGES = 6
"""How many changes a stage is taken to make before it was seen."""

_PUBLISHED = re.compile(
    r"/((iceberg/)?(changes|current|history)/(metadata|_delta_log)|published)/.*"
)


class Killed(BaseException):
    """The process is gone: no handler of errors may go on."""


@dataclass
class Death:
    """When a writer dies: before or after the n-th of its changes of a form."""

    form: str = ""
    nth: int = 0
    after: bool = False
    changes: List[str] = field(default_factory=list)
    died: str = ""

    def change(self, name: str, make: Callable[[], Any]) -> Any:
        """Make a change, unless it is the one, or the writer is dead."""
        if self.died:
            raise Killed(self.died)
        found = [each for each in self.changes if re.search(self.form, each)]
        is_due = len(found) == self.nth and bool(re.search(self.form, name))
        self.changes.append(name)
        if is_due and not self.after:
            self._die(f"before {name}")
        made = make()
        if is_due:
            self._die(f"after {name}")
        return made

    def _die(self, when: str) -> None:
        self.died = when
        raise Killed(when)


class DyingStore(FolderStore):
    """The files of a lake, as a writer changes them until it dies."""

    def __init__(self, death: Death) -> None:
        self._death = death

    def write(self, uri: str, content: bytes) -> None:
        """Put a file, replacing one of that name."""
        self._change("put", uri, partial(FolderStore.write, self, uri, content))

    def create(self, uri: str, content: bytes) -> bool:
        """Put a file unless there is one."""
        make = partial(FolderStore.create, self, uri, content)
        return self._change("create", uri, make)

    def delete(self, uri: str) -> None:
        """Remove a file."""
        self._change("delete", uri, partial(FolderStore.delete, self, uri))

    def _change(self, verb: str, uri: str, make: Callable[[], Any]) -> Any:
        found = _PUBLISHED.search(uri)
        if found is None:
            if self._death.died:
                raise Killed(self._death.died)
            return make()
        return self._death.change(f"{verb} {found.group(0)[1:]}", make)


class KilledLake:
    """A published lake whose stages are killed, one after the other."""

    def __init__(
        self, spark: SparkSession, root: Path, kind: TableType, seed: int
    ) -> None:
        self.spark = spark
        self.lake = Lake(
            spark, root, replace(stored(SPEC, type=kind), maintenance=KEPT)
        )
        self.outcome = Outcome()
        self.catalogue: Dict[Tuple[str, str], Dict[str, Any]] = {}
        self._random = Random(f"{seed}/{kind.value}")
        self._files = 0
        self._usual: Dict[str, int] = {}
        lines = [self._row(each)[2:] for each in IDS]
        self.lake.land("load/1.csv", "\n".join([HEADER[3:], *lines]) + "\n")
        self._run("full_load")
        self._run("scd2")

    def at_random(self) -> str:
        """Kill a stage, at times twice, run what follows, compare; return when it died."""
        stage = self._random.choice(STAGES)
        nth = self._random.randrange(self._usual.get(stage, USUAL_CHANGES))
        again = self._random.random() < 0.25
        return self.at(stage, nth=nth, after=self._random.random() < 0.5, again=again)

    def at(
        self,
        stage: str,
        form: str = "",
        *,
        nth: int = 0,
        after: bool = False,
        again: bool = False,
    ) -> str:
        """Kill a stage there; an empty text where it makes no such change."""
        own = self._prepare(stage)
        deaths = [Death(form, nth, after)]
        self._run(stage, deaths[0], **own)
        if not deaths[0].died:
            self._usual[stage] = max(1, len(deaths[0].changes))
        elif again:
            deaths.append(Death(nth=self._random.randrange(USUAL_CHANGES)))
            self._run(stage, deaths[1], **own)
        is_next = self._random.random() < 0.5
        if not is_next:  # another run comes first, or instead
            self._change()
            self._run("incremental")
            self._run("scd2")
        if is_next or stage in OWN:
            self._run(stage, **own)
        self._run("incremental")
        self._run("scd2")
        compare(self.spark, self.lake, self.outcome)
        self.outcome.differences += list(self._of_versions())
        died = "; again ".join(each.died for each in deaths if each.died)
        return died and f"{stage}, {died}"

    def _prepare(self, stage: str) -> Dict[str, Any]:
        """Give the stage something to do; return what it is asked."""
        if stage == "erase":
            return {
                "request_uri": ask(self.lake, {"id": str(self._random.choice(IDS))})
            }
        if stage == "reprocess":
            path = self._change()
            self._run("incremental")
            self._land(path)
            return {"selection": Selection((path,))}
        self._change()
        if stage == "scd2":
            self._run("incremental")
        while stage == "maintenance" and not self._is_cleaning_due():
            self._run("incremental")
            self._run("scd2")
            self._change()
        return {}

    def _is_cleaning_due(self) -> bool:
        return sum(1 for _ in self.lake.tables.history.commits()) > KEPT.keep_commits

    def _change(self) -> str:
        """Land a file of changes; return its path."""
        self._files += 1
        path = f"changes/{self._files:03}.csv"
        self._land(path)
        return path

    def _land(self, path: str) -> None:
        rows = [self._row(each) for each in self._random.sample(IDS, 5)]
        deleted = f"D,{self._random.choice(IDS)},,,,{self._at()}"
        self.lake.land(path, "\n".join([HEADER, *rows, deleted]) + "\n")

    def _at(self) -> str:
        return f"2026-03-01 {self._files // 60:02}:{self._files % 60:02}:00"

    def _row(self, key: int) -> str:
        place = self._random.choice(["north", "a:b", "ü b"])
        amount = self._random.randint(0, 10**6) / 100
        tags = self._random.choice(['"[""x"",null]"', "[]", ""])
        return f"U,{key},{place},{amount},{tags},{self._at()}"

    def _run(self, stage: str, death: Optional[Death] = None, **own: Any) -> None:
        """Run a stage that may die, and may not fail."""
        death = death or Death(nth=-1)
        self.lake.store = DyingStore(death)
        try:
            with self._catalogued(death):
                report = self.lake.run(stage, **own)
            assert report.error is None, (stage, report.error)
        except Killed:
            assert death.died
        finally:
            self.lake.store = FolderStore()

    @contextmanager
    def _catalogued(self, death: Death) -> Iterator[None]:
        """Keep what is registered, for a folder has no catalogue."""

        def register(run, layer, kind, form, *, look=False) -> None:
            key, wanted = (layer, kind.value), glue_tables.entry(run, layer, form)
            if self.catalogue.get(key) != wanted:
                put = partial(self.catalogue.__setitem__, key, wanted)
                death.change(f"register {layer} {kind.value}", put)

        with patch.object(publication.glue_tables, "register", register):
            yield

    def _of_versions(self) -> Iterator[str]:
        """Yield instants with other than one version, and entries of older metadata."""
        for layer in LAYERS:
            path = self.lake.tables.table(layer).path
            found = versions_of(path)
            for form, instants in found.items():
                if len(instants) != len(set(instants)):
                    yield f"{layer}, {form}: a commit has two versions: {instants}"
            if not found["iceberg"]:
                continue
            entry = self.catalogue.get((layer, ReadableAs.ICEBERG.value), {})
            named = entry.get("Parameters", {}).get("metadata_location", "")
            if named.rsplit("/", 1)[-1] != iceberg_file(path).name:
                yield f"{layer}: the catalogue names {named}, which is not the newest"
