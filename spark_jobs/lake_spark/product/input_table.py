"""A layer of a table that a product reads, as of one commit, and what changed since another."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import takewhile
from typing import Dict, Iterator, Optional, Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lake_spec.layout.table_folders import layer_folder, table_folder
from lake_spec.model import ProductInput
from lake_spark.changelog import retractions
from lake_spark.changelog.table import ChangeLog
from lake_spark.landing.ingested_files import IngestedFilesFolder
from lake_spark.scd2.all_key_deletes import about_all_keys
from lake_spark.scd2.events import KEY
from lake_spark.scd2.key_changes import with_families
from lake_spark.schema.spark_types import typed_names, with_types
from lake_spark.storage.commit_values import CommitValue
from lake_spark.storage.hudi_table import HudiTable, without_hudi_columns
from lake_spark.storage.object_store import ObjectStore
from lake_spark.storage.parquet_table import ParquetTable
from lake_spark.storage.timeline import Commit
from lake_spark.storage.unions import union_of


class BuildWhole(Exception):
    """What changed in an input cannot be found, so the product is built whole."""


@dataclass(frozen=True)
class Pin:
    """A commit of a layer, and the log instants that it was built up to, by table.

    `at` is the instant to read it at: that of a compaction, if one followed.
    """

    commit: str
    logs: Dict[str, Optional[str]]
    at: str = field(compare=False)


class InputTable:
    """The layer that one view of a product's SQL shows."""

    def __init__(
        self,
        spark: SparkSession,
        store: ObjectStore,
        warehouse: str,
        used: ProductInput,
    ) -> None:
        self._spark, self._store, self._warehouse = spark, store, warehouse
        self.used = used
        path = layer_folder(warehouse, used.folder_of, used.layer.value)
        self._table = (
            ParquetTable(spark, store, path)
            if used.is_plain
            else HudiTable(spark, path)
        )
        self._read: Dict[str, DataFrame] = {}

    @property
    def name(self) -> str:
        """Return the table and its layer, as messages and commits name them."""
        return f"{self.used.table} {self.used.layer.value}"

    @cached_property
    def pin(self) -> Optional[Pin]:
        """Return the newest commit that built the layer; None before the first."""
        is_product = self.used.is_product
        name = CommitValue.INPUTS_READ if is_product else CommitValue.LOG_INSTANT
        commit = self._table.last_instant(name)
        if commit is None:
            return None
        newest = self._table.last_commit()
        assert newest is not None, f"{self.name} has a commit"
        logs = self._logs(self._table.last_value(name))
        return Pin(commit, logs, newest.instant)

    def _logs(self, built: Optional[str]) -> Dict[str, Optional[str]]:
        """Return the log instants by table: of a dimension, they are of two tables."""
        logs = self.used.logs
        if len(logs) < 2:
            return {name: built for name in logs}
        found = json.loads(built or "{}")
        return {name: found.get(name.partition(".")[2]) for name in logs}

    @property
    def _pinned(self) -> Pin:
        assert self.pin is not None, f"{self.name} has no commit"
        return self.pin

    def rows(self, pin: Optional[Pin] = None) -> DataFrame:
        """Return the rows as of a commit, of the newest one if left out."""
        chosen = pin or self.pin
        assert chosen is not None, f"{self.name} has no commit"
        return without_hudi_columns(self._as_of(chosen))

    def _as_of(self, pin: Pin) -> DataFrame:
        """Return the stored rows as of a commit, whose files are listed once."""
        if pin.at not in self._read:
            self._read[pin.at] = self._table.read_as_of(pin.at)
        return self._read[pin.at]

    def is_readable(self, pin: Pin) -> bool:
        """Return whether all files of a commit are still there."""
        return self._table.keeps(pin.at)

    def changed_keys(self, since: Pin) -> Optional[DataFrame]:
        """Return the keys whose rows may differ from those of that commit; None if none.

        Each as `lake_key` and its columns, maybe several times. Raise BuildWhole where
        they cannot be found.
        """
        if self._pinned.commit == since.commit:
            return None
        self._require_ordinary_commits(since)
        if self.used.is_product:
            return self._of_commits(since)
        found = list(self._of_logs(since))
        if not found:
            return None
        return union_of(found)

    def _require_ordinary_commits(self, since: Pin) -> None:
        if self.used.is_plain:
            raise BuildWhole(f"{self.name} is plain Parquet, written whole each time")
        order = self._table.instants()
        names = [each.requested for each in order]
        if since.commit not in names:
            raise BuildWhole(
                f"commit {since.commit} of {self.name}, from which it was built, is no "
                "longer in the timeline"
            )
        later = order[names.index(since.commit) + 1 :]
        if any(each.action == "replacecommit" for each in later):
            raise BuildWhole(f"{self.name} was rebuilt")

    def erased_since(self, since: Pin) -> str:
        """Return in words that keys of it were erased since, or may have been; else empty.

        Of plain Parquet nothing is left to know of commits that were cleaned.
        """
        if any(
            CommitValue.ERASED in each.metadata for each in self._later_commits(since)
        ):
            return f"keys were erased in {self.name}"
        if self.used.is_plain and not self._table.keeps(since.commit):
            return f"keys may have been erased in {self.name}, whose older commits are gone"
        return ""

    def _later_commits(self, since: Pin) -> Iterator[Commit]:
        return takewhile(lambda c: c.instant > since.commit, self._table.commits())

    def _of_logs(self, since: Pin) -> Iterator[DataFrame]:
        """Yield the keys of what the logs hold between both commits."""
        for table, until in self._pinned.logs.items():
            then = since.logs.get(table)
            if until is not None and until != then:
                yield self._of_log(table, then, until)

    def _of_log(self, table: str, since: Optional[str], until: str) -> DataFrame:
        home = table_folder(self._warehouse, table)
        log = ChangeLog(self._spark, f"{home}/changes")
        folder = IngestedFilesFolder(self._store, f"{home}/inputs", table)
        ingested = folder.load(log.last_value(CommitValue.INPUTS))
        judged = retractions.judged(retractions.until(log.read(), until), ingested)
        if since is None:
            return self._keys(judged)
        moved = judged.where(retractions.moved_after(judged, since))
        contents = ingested.contents
        if contents.has_all_key_events and not moved.where(about_all_keys()).isEmpty():
            raise BuildWhole(f"all keys of {table} changed")
        keys = self._keys(moved)
        if contents.has_key_changes:
            live = retractions.live(judged)
            family = with_families(keys.select(KEY).distinct(), live)
            keys = keys.unionByName(self._keys(live.join(family, KEY, "left_semi")))
        return keys

    def _keys(self, deliveries: DataFrame) -> DataFrame:
        """Return keys in the layer's own types, for the log's may be narrower."""
        kinds = [e for e in typed_names(self.rows().schema) if e[0] in self.used.key]
        keys = deliveries.where(~about_all_keys()).select(KEY, *self.used.key)
        return with_types(keys, kinds)

    def _of_commits(self, since: Pin) -> DataFrame:
        """Return the keys whose rows one of two commits wrote, or that one of them lacks.

        Hudi keeps with each row the commit that wrote it.
        """
        columns = [KEY, *self.used.key]
        now = self._as_of(self._pinned)
        written = now.where(F.col(retractions.COMMIT) > since.commit).select(*columns)
        if not self._removed_since(since):
            return written
        if not self.is_readable(since):
            raise BuildWhole(
                f"files of commit {since.commit} of {self.name}, from which it was "
                "built, were cleaned"
            )
        before = self._as_of(since).select(*columns)
        gone = before.join(now.select(KEY), KEY, "left_anti").select(*columns)
        return written.unionByName(gone)

    def _removed_since(self, since: Pin) -> bool:
        later = self._later_commits(since)
        removed = (each.metadata.get(CommitValue.REMOVED_ROWS) for each in later)
        return any(each not in (None, "0") for each in removed)


def to_text(inputs: Sequence[InputTable]) -> str:
    """Return the commits that the inputs are read at, as a commit's metadata says it."""
    pins = {each.name: each.pin for each in inputs}
    said = {name: asdict(pin) for name, pin in pins.items() if pin}
    return json.dumps(said, sort_keys=True)


def from_text(text: Optional[str]) -> Dict[str, Pin]:
    """Return by input the commit that a product's commit says it was built from."""
    said = json.loads(text or "{}")
    return {name: Pin(**each) for name, each in said.items()}
