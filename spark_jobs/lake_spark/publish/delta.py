"""The Delta log of a table, by the public protocol: reader version 1, writer version 7.

One version for each commit, as one JSON file that is created and never replaced. No
statistics of columns: values of persons would stand there.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
import uuid
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple
from urllib.parse import quote

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from lake_spec.layout.published_tables import (
    DELTA_FOLDER,
    DELTA_WRITER_FEATURE,
    HUDI_INSTANT,
)
from lake_spec.text.schema_json import plain_schema
from lake_spark.publish.format import Format, Newest
from lake_spark.publish.instants import BaseFile, CommitChange
from lake_spark.publish.schema import described, partition_values
from lake_spark.storage.object_store import ObjectStore
from lake_spark.storage.parquet_file import by_footer

CHECKPOINT_EACH = 10
"""Versions after which readers need not read the older ones."""

_FILES, _BYTES, _SCHEMA = "lake.files", "lake.bytes", "lake.schema"
_DESCRIPTIONS, _FEATURE = "lake.descriptions", "lake.writer-feature"
_VERSION = re.compile(r"/(\d{20})\.(json|checkpoint\.parquet)$")
_LAST = "_last_checkpoint"
_TEXTS = "map<string,string>"
_ACTIONS = (
    "txn struct<appId:string,version:bigint,lastUpdated:bigint>,"
    f"add struct<path:string,partitionValues:{_TEXTS},size:bigint,"
    "modificationTime:bigint,dataChange:boolean,stats:string,tags:map<string,string>>,"
    "remove struct<path:string,deletionTimestamp:bigint,dataChange:boolean>,"
    "metaData struct<id:string,name:string,description:string,"
    f"format:struct<provider:string,options:{_TEXTS}>,schemaString:string,"
    f"partitionColumns:array<string>,configuration:{_TEXTS},createdTime:bigint>,"
    "protocol struct<minReaderVersion:int,minWriterVersion:int,"
    "writerFeatures:array<string>>"
)
"""The columns of a checkpoint."""

Action = Dict[str, Any]


class Delta(Format):
    """The Delta log of one table."""

    folder = DELTA_FOLDER

    def newest(self) -> Optional[Newest]:
        """Return what the newest version says; None where there is none."""
        versions = self._versions("json")
        if not versions:
            return None
        info = self._info(versions[-1])
        return Newest(
            versions[-1],
            info.get(HUDI_INSTANT, ""),
            info.get(_FILES),
            info.get(_BYTES),
            info,
        )

    def append(self, newest: Newest, steps: Sequence[CommitChange]) -> bool:
        """Write one version for each step; without any, one with what is out of date alone.

        Return False where another writer was first.
        """
        version, known = newest.version, newest.content
        if not steps:
            return self._add(version + 1, self._brought_up_to_date(version, known))
        for step in steps:
            version += 1
            actions = self._actions(step)
            info = actions[0]["commitInfo"]
            if any(known.get(name) != info[name] for name in (_SCHEMA, _DESCRIPTIONS)):
                actions.insert(1, self._meta_data())
            if known.get(_FEATURE) != info[_FEATURE]:
                actions.insert(1, protocol())
            known = info
            if not self._add(version, actions):
                return False
        return True

    def is_up_to_date(self, newest: Newest) -> bool:
        """Return whether the newest version has the descriptions, and keeps writers away."""
        known = newest.content
        is_described = known.get(_DESCRIPTIONS) == self._description_hash()
        return is_described and known.get(_FEATURE) == DELTA_WRITER_FEATURE

    def is_ours(self) -> bool:
        """Return whether any version names a commit of Hudi, as those written here do."""
        return any(map(self._instant, reversed(self._versions("json"))))

    def begin(self, step: CommitChange) -> bool:
        """Write one version with all files, and remove the older ones first.

        A log that does not begin with version 0 begins with a checkpoint.
        """
        found = self._versions("json") + self._versions("checkpoint.parquet")
        version = max(found, default=-1) + 1
        self.drop()
        actions = self._actions(step)
        actions[1:1] = [protocol(), self._meta_data()]
        if version:
            self._write_checkpoint(version, actions[1:])
        done = self._create(version, actions)
        if version:
            self._point_to(version)
        return done

    def expire(self, instants: Sequence[str]) -> None:
        """Remove the versions before the first of these instants."""
        versions = self._versions("json")
        first = next((v for v in versions if self._instant(v) in instants), None)
        if first is None or first == versions[0]:
            return
        checkpoints = self._versions("checkpoint.parquet")
        if first not in checkpoints:
            self._write_checkpoint(first, self._replay(first))
        if not any(each > first for each in checkpoints):
            self._point_to(first)
        for suffix in ("json", "checkpoint.parquet"):
            for version in self._versions(suffix):
                if version < first:
                    self.store.delete(self._uri(version, suffix))

    def glue_properties(self) -> Dict[str, str]:
        """Return the properties by which readers of Glue's entry know the format."""
        return {"table_type": "DELTA", "spark.sql.sources.provider": "delta"}

    def glue_partition_keys(self) -> Tuple[str, ...]:
        """Return the partition columns: Glue's entry must have the schema of the log."""
        return self.partitions

    def _instant(self, version: int) -> str:
        instant: str = self._info(version).get(HUDI_INSTANT, "")
        return instant

    def _info(self, version: int) -> Dict[str, Any]:
        """Return what a version says of its commit; other writers may not say it first."""
        actions = self._read(version)
        return next((a["commitInfo"] for a in actions if "commitInfo" in a), {})

    def _versions(self, suffix: str) -> List[int]:
        names = (_VERSION.search(each.uri) for each in self.store.list(self.root))
        return sorted(int(n.group(1)) for n in names if n and n.group(2) == suffix)

    def _uri(self, version: int, suffix: str = "json") -> str:
        return f"{self.root}{version:020}.{suffix}"

    def _read(self, version: int) -> List[Action]:
        content = self.store.read(self._uri(version)).decode()
        return [json.loads(line) for line in content.splitlines()]

    def _create(self, version: int, actions: Iterable[Action]) -> bool:
        return self.store.create(self._uri(version), lines(actions).encode())

    def _add(self, version: int, actions: Sequence[Action]) -> bool:
        """Add a version, with a checkpoint where one is due."""
        if not self._create(version, actions):
            return False
        if version % CHECKPOINT_EACH == 0:
            self._write_checkpoint(version, self._replay(version))
            self._point_to(version)
        return True

    def _actions(self, step: CommitChange) -> List[Action]:
        now = int(time.time() * 1000)
        gone = [remove(file, now) for file in step.removed]
        added = [add(f, step.rows[f.path], self.partitions, now) for f in step.added]
        info = {
            "timestamp": now,
            "operation": "WRITE",
            "operationParameters": {},
            HUDI_INSTANT: step.instant,
            _FILES: step.files,
            _BYTES: step.bytes,
            **self._fingerprints(),
        }
        return [{"commitInfo": info}, *gone, *added]

    def _brought_up_to_date(
        self, version: int, known: Mapping[str, Any]
    ) -> List[Action]:
        """Return the actions that change a version's descriptions and protocol alone."""
        found = [each for each in self._replay(version) if "metaData" in each]
        head = found[0]["metaData"]
        said = plain_schema(json.loads(head["schemaString"]), self.root)
        schema = StructType.fromJson(said)
        columns = described(schema, self.columns).json()
        changed = {**head, "description": self.description, "schemaString": columns}
        info = {
            **known,
            "timestamp": int(time.time() * 1000),
            "operation": "CHANGE COLUMN",
            _DESCRIPTIONS: self._description_hash(),
            _FEATURE: DELTA_WRITER_FEATURE,
        }
        return [{"commitInfo": info}, protocol(), {"metaData": changed}]

    def _meta_data(self) -> Action:
        return meta_data(
            self.table.path, self.description, self.schema, self.partitions
        )

    def _fingerprints(self) -> Dict[str, str]:
        """Return what `metaData` and `protocol` depend on, in short."""
        schema = f"{described(self.schema, {}).json()} {self.partitions}"
        return {
            _SCHEMA: _hash(schema),
            _DESCRIPTIONS: self._description_hash(),
            _FEATURE: DELTA_WRITER_FEATURE,
        }

    def _description_hash(self) -> str:
        return _hash(json.dumps([self.description, sorted(self.columns.items())]))

    def _replay(self, version: int) -> List[Action]:
        """Return the actions that are in force as of a version."""
        known = [v for v in self._versions("checkpoint.parquet") if v < version]
        start = max(known, default=None)
        actions: List[Action] = []
        if start is not None:
            uri = self._uri(start, "checkpoint.parquet")
            found = by_footer(self.spark, uri).parquet(uri)
            rows = found.select(F.to_json(F.struct("*")))
            actions = [json.loads(row[0]) for row in rows.collect()]
        first = 0 if start is None else start + 1
        for each in range(first, version + 1):
            actions += self._read(each)
        return in_force(actions)

    def _write_checkpoint(self, version: int, actions: Iterable[Action]) -> None:
        """Write what is in force as Parquet, by Spark: put once it is whole."""
        content = _parquet(self.spark, self.scratch, self.store, lines(actions))
        self.store.write(self._uri(version, "checkpoint.parquet"), content)

    def _point_to(self, version: int) -> None:
        content = json.dumps({"version": version, "size": -1})
        self.store.write(f"{self.root}{_LAST}", content.encode())


def _parquet(spark: SparkSession, folder: str, store: ObjectStore, text: str) -> bytes:
    """Return one Parquet file of actions; `folder` is temporary."""
    rows = spark.createDataFrame([(line,) for line in text.splitlines()], "line string")
    typed = rows.select(F.from_json("line", _ACTIONS).alias("action"))
    try:
        typed.select("action.*").coalesce(1).write.mode("overwrite").parquet(folder)
        (part,) = [each for each in store.list(f"{folder}/part-") if each.size]
        return store.read(part.uri)
    finally:
        for each in store.list(f"{folder}/"):
            store.delete(each.uri)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def lines(actions: Iterable[Action]) -> str:
    """Return actions as the lines of a log file."""
    return "".join(json.dumps(each, separators=(",", ":")) + "\n" for each in actions)


def in_force(actions: Iterable[Action]) -> List[Action]:
    """Return what is left of actions in their order: protocol, metadata and files."""
    heads: Dict[str, Action] = {}
    files: Dict[str, Action] = {}
    for each in actions:
        for name, value in each.items():
            if name in ("protocol", "metaData"):
                heads[name] = each
            elif name == "add":
                files[value["path"]] = each
            elif name == "remove":
                files.pop(value["path"], None)
    return [*heads.values(), *files.values()]


def protocol() -> Action:
    """Return what readers and writers must know: writers a feature that none has.

    Version 7 of writers is the one that names features; the other two are those that
    every table had by the versions before it.
    """
    return {
        "protocol": {
            "minReaderVersion": 1,
            "minWriterVersion": 7,
            "writerFeatures": ["appendOnly", "invariants", DELTA_WRITER_FEATURE],
        }
    }


def meta_data(
    path: str, description: str, schema: StructType, partitions: Tuple[str, ...]
) -> Action:
    """Return the action that says what a table is; its id belongs to its path."""
    return {
        "metaData": {
            "id": str(uuid.uuid5(uuid.NAMESPACE_URL, path)),
            "description": description,
            "format": {"provider": "parquet", "options": {}},
            "schemaString": schema.json(),
            "partitionColumns": list(partitions),
            "configuration": {},
            "createdTime": int(time.time() * 1000),
        }
    }


def add(file: BaseFile, rows: int, partitions: Tuple[str, ...], now: int) -> Action:
    """Return the action that a file is part of the table."""
    return {
        "add": {
            "path": quote(file.path, safe="/="),
            "partitionValues": partition_values(file, partitions),
            "size": file.size,
            "modificationTime": now,
            "dataChange": True,
            "stats": json.dumps({"numRecords": rows}),
        }
    }


def remove(file: BaseFile, now: int) -> Action:
    """Return the action that a file is no longer part of the table."""
    return {
        "remove": {
            "path": quote(file.path, safe="/="),
            "deletionTimestamp": now,
            "dataChange": True,
        }
    }
