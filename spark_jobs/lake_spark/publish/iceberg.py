"""The Iceberg metadata of a table, format version 2, made by Iceberg's own library.

Its library writes manifests and makes the metadata; the metadata file is put here, under
the condition that there is none of its number: a rename is no commit on S3.
"""

from __future__ import annotations

import json
import re
from typing import Any, Dict, List, Mapping, Optional, Sequence, Set

from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JJavaError
from pyspark.sql.types import StructType

from lake_spark.publish.format import CannotFollow, Format, INSTANT, Newest
from lake_spark.publish.instants import BaseFile, ICEBERG_FOLDER, Step
from lake_spark.publish.schema import COMMENT, partition_values, same_columns
from lake_spark.storage.hudi_table import DELETED, HUDI_COLUMNS

_VERSION = re.compile(r"/v(\d+)\.metadata\.json$")
_HINT = "version-hint.text"
_TABLE_COMMENT = "comment"
_MAPPING = "schema.name-mapping.default"
_MANIFESTS = "commit.manifest.min-count-to-merge"
_HUDI_ID = 2_000_000_000
"""Far above all columns of tables, and below what Iceberg keeps for itself."""
KEPT_METADATA = 10
"""Older metadata files that stay for readers which were given their address."""

PROPERTIES = {
    "format-version": "2",
    # Hudi's cleaner removes data files, nobody else.
    "gc.enabled": "false",
    # Least and greatest values would be values of persons.
    "write.metadata.metrics.default": "none",
}


class Iceberg(Format):
    """The Iceberg metadata of one table."""

    folder = ICEBERG_FOLDER

    def newest(self) -> Optional[Newest]:
        """Return what the newest metadata says; None where there is none."""
        version = max(self._versions(), default=None)
        if version is None:
            return None
        metadata = self._read(version)
        summary = _current(metadata).get("summary", {})
        return Newest(
            version,
            summary.get(INSTANT, ""),
            int(summary.get("total-data-files", 0)),
            int(summary.get("total-files-size", 0)),
            metadata,
        )

    def append(self, newest: Newest, steps: Sequence[Step]) -> bool:
        """Add a snapshot for each step; without any, change the descriptions alone.

        Return False where another writer was first.
        """
        operations = self._tables().load(self.table.path).operations()
        changes = self._iceberg.Transactions.newTransaction(self.table.path, operations)
        before = newest.content
        self._set_properties(changes, before, steps)
        if steps:
            self._evolve(changes, before)
        self._describe(changes)
        for step in steps:
            self._snapshot(changes, step)
        metadata = self._json(changes)
        log = [
            *before.get("metadata-log", []),
            {
                "timestamp-ms": before["last-updated-ms"],
                "metadata-file": self._uri(newest.version),
            },
        ]
        metadata["metadata-log"] = log[-KEPT_METADATA:]
        return self._put(newest.version + 1, metadata)

    def is_described(self, newest: Newest) -> bool:
        """Return whether the newest version has the descriptions of table and columns."""
        metadata = newest.content
        comment = metadata.get("properties", {}).get(_TABLE_COMMENT)
        return comment == self.description and all(
            each.get("doc") == self.columns.get(each["name"])
            for each in _current_schema(metadata)["fields"]
        )

    def begin(self, step: Step) -> bool:
        """Make metadata with one snapshot of all files, then remove what was before."""
        version = max(self._versions(), default=0)
        jvm = self.spark._jvm
        schema = self._convert(self.schema)
        spec = self._iceberg.PartitionSpec.builderFor(schema)
        for name in self.partitions:
            spec = spec.identity(name)
        properties = jvm.java.util.HashMap()
        properties.put(_TABLE_COMMENT, self.description)
        for name, value in PROPERTIES.items():
            properties.put(name, value)
        changes = self._tables().newReplaceTableTransaction(
            self.table.path, schema, spec.build(), properties, True
        )
        mapping = self._iceberg.mapping
        names = mapping.MappingUtil.create(changes.table().schema())
        known = json.loads(mapping.NameMappingParser.toJson(names))
        text = json.dumps([*known, *mapping_of_hudi()])
        changes.updateProperties().set(_MAPPING, text).commit()
        self._snapshot(changes, step)
        metadata = self._json(changes)
        current = metadata["current-snapshot-id"]
        keep_snapshots(metadata, {current})
        metadata["metadata-log"] = []
        done = self._put(version + 1, metadata)
        if done:
            self._sweep(keep=1)
        return done

    def expire(self, instants: Sequence[str]) -> None:
        """Remove the snapshots of other instants, and the files that only they name.

        Of older metadata files the newest stay, whether a snapshot goes or not.
        """
        versions = self._versions()
        if not versions:
            return
        version = versions[-1]
        metadata = self._read(version)
        kept = {
            each["snapshot-id"]
            for each in metadata["snapshots"]
            if each["summary"].get(INSTANT) in instants
        }
        kept.add(metadata["current-snapshot-id"])
        if len(kept) < len(metadata["snapshots"]):
            keep_snapshots(metadata, kept)
            if self._put(version + 1, metadata):
                self._sweep(keep=KEPT_METADATA)
        elif len(versions) > KEPT_METADATA:
            self._sweep(keep=KEPT_METADATA)

    def heal(self, newest: Newest) -> None:
        """Let the hint name the newest version."""
        self._hint(newest.version)

    def glue_properties(self) -> Dict[str, str]:
        """Return the properties by which readers of Glue's entry know the format."""
        newest = self._uri(max(self._versions()))
        return {"table_type": "ICEBERG", "metadata_location": newest}

    @property
    def _iceberg(self) -> Any:
        return self.spark._jvm.org.apache.iceberg

    def _tables(self) -> JavaObject:
        settings = self.spark._jsc.hadoopConfiguration()
        return self._iceberg.hadoop.HadoopTables(settings)

    def _versions(self) -> List[int]:
        names = (_VERSION.search(each.uri) for each in self.store.list(self.root))
        return sorted(int(name.group(1)) for name in names if name)

    def _uri(self, version: int) -> str:
        return f"{self.root}v{version}.metadata.json"

    def _read(self, version: int) -> Dict[str, Any]:
        return json.loads(self.store.read(self._uri(version)))

    def _json(self, changes: JavaObject) -> Dict[str, Any]:
        metadata = changes.currentMetadata()
        return json.loads(self._iceberg.TableMetadataParser.toJson(metadata))

    def _put(self, version: int, metadata: Dict[str, Any]) -> bool:
        """Commit metadata as this version; the hint for readers comes last."""
        content = json.dumps(metadata, separators=(",", ":")).encode()
        if not self.store.create(self._uri(version), content):
            return False
        self._hint(version)
        return True

    def _hint(self, version: int) -> None:
        """Name the newest version for readers without a catalogue."""
        uri, content = f"{self.root}{_HINT}", str(version).encode()
        try:
            known = self.store.read(uri)
        except KeyError:
            known = b""
        if known != content:
            self.store.write(uri, content)

    def _convert(self, schema: StructType) -> JavaObject:
        kind = self.spark._jvm.org.apache.spark.sql.types.DataType
        return self._iceberg.spark.SparkSchemaUtil.convert(kind.fromJson(schema.json()))

    def _columns(self, changes: JavaObject) -> StructType:
        found = self._iceberg.spark.SparkSchemaUtil.convert(changes.table().schema())
        return StructType.fromJson(json.loads(found.json()))

    def _set_properties(
        self, changes: JavaObject, before: Mapping[str, Any], steps: Sequence[Step]
    ) -> None:
        """Set the table's description, and from how many manifests on they are merged.

        A commit that removes files writes each manifest again that names one of them: one
        manifest for all files is the least. Merging at each commit that only adds files, as
        to a change log, would write the names of all files each time.
        """
        wanted = {_TABLE_COMMENT: self.description}
        if steps:
            wanted[_MANIFESTS] = "2" if steps[-1].removed else "100"
        known = before.get("properties", {})
        new = {
            name: value for name, value in wanted.items() if known.get(name) != value
        }
        if new:
            update = changes.updateProperties()
            for name, value in new.items():
                update = update.set(name, value)
            update.commit()

    def _evolve(self, changes: JavaObject, before: Mapping[str, Any]) -> None:
        """Add columns under new ids, widen types, drop what is gone.

        A name that comes back has another id in newer snapshots, and the mapping of
        names to ids is one for all: older ones would read null.
        """
        known, names = self._columns(changes), self.schema.fieldNames()
        if same_columns(known, self.schema):
            return
        former = {field["name"] for s in before["schemas"] for field in s["fields"]}
        if former.difference(known.fieldNames()).intersection(names):
            raise CannotFollow(f"{self.table.path}: a dropped column came back")
        update = changes.updateSchema().unionByNameWith(self._convert(self.schema))
        for name in set(known.fieldNames()).difference(names):
            update = update.deleteColumn(name)
        try:
            update.commit()
        except Py4JJavaError as error:
            raise CannotFollow(f"{self.table.path}: {error.java_exception}") from None
        if not same_columns(self._columns(changes), self.schema):
            raise CannotFollow(f"{self.table.path}: a column has another type")

    def _describe(self, changes: JavaObject) -> None:
        """Give columns their descriptions; ids and types stay."""
        found = {f.name: f.metadata.get(COMMENT) for f in self._columns(changes).fields}
        wanted = {name: self.columns.get(name) for name in found}
        if wanted != found:
            update = changes.updateSchema()
            for name, description in wanted.items():
                update = update.updateColumnDoc(name, description)
            update.commit()

    def _snapshot(self, changes: JavaObject, step: Step) -> None:
        # Looked up once: each name of a class is searched for in all jars.
        data_files, spec = self._iceberg.DataFiles, changes.table().spec()

        def data_file(file: BaseFile, rows: int) -> JavaObject:
            return self._data_file(data_files.builder(spec), file, rows)

        if step.removed:
            update = changes.newOverwrite()
            for file in step.removed:
                update.deleteFile(data_file(file, 0))
            for file in step.added:
                update.addFile(data_file(file, step.rows[file.path]))
        else:
            update = changes.newAppend()
            for file in step.added:
                update.appendFile(data_file(file, step.rows[file.path]))
        update.set(INSTANT, step.instant)
        update.commit()

    def _data_file(self, builder: JavaObject, file: BaseFile, rows: int) -> JavaObject:
        builder.withPath(f"{self.table.path}/{file.path}").withFormat("parquet")
        builder.withFileSizeInBytes(file.size).withRecordCount(rows)
        if self.partitions:
            values = self.spark._jvm.java.util.ArrayList()
            for value in partition_values(file, self.partitions).values():
                values.add(value)
            builder.withPartitionValues(values)
        return builder.build()

    def _sweep(self, *, keep: int) -> None:
        """Remove metadata files that no snapshot names, but the newest ones."""
        operations = self._tables().load(self.table.path).operations()
        files = operations.io()
        named: Set[str] = {_HINT}
        named |= {f"v{version}.metadata.json" for version in self._versions()[-keep:]}
        for snapshot in operations.current().snapshots():
            named.add(_name(snapshot.manifestListLocation()))
            named |= {_name(each.path()) for each in snapshot.allManifests(files)}
        for each in self.store.list(self.root):
            if _name(each.uri) not in named:
                self.store.delete(each.uri)


def mapping_of_hudi() -> List[Dict[str, Any]]:
    """Return ids for Hudi's own columns, which no schema has.

    Each column of a file needs one: pyiceberg refuses the file else.
    """
    names = [*HUDI_COLUMNS, DELETED]
    return [{"field-id": _HUDI_ID + n, "names": [name]} for n, name in enumerate(names)]


def _name(uri: str) -> str:
    return uri.rsplit("/", 1)[-1]


def _current(metadata: Dict[str, Any]) -> Dict[str, Any]:
    """Return the current snapshot, empty where there is none."""
    current = metadata.get("current-snapshot-id")
    found = [s for s in metadata.get("snapshots", []) if s["snapshot-id"] == current]
    return found[0] if found else {}


def _current_schema(metadata: Mapping[str, Any]) -> Dict[str, Any]:
    current = metadata["current-schema-id"]
    (found,) = [each for each in metadata["schemas"] if each["schema-id"] == current]
    return found


def keep_snapshots(metadata: Dict[str, Any], kept: Set[int]) -> None:
    """Leave these snapshots alone in metadata, with the schemas that they have."""
    metadata["snapshots"] = [
        each for each in metadata["snapshots"] if each["snapshot-id"] in kept
    ]
    log = metadata.get("snapshot-log", [])
    metadata["snapshot-log"] = [each for each in log if each["snapshot-id"] in kept]
    schemas = {each.get("schema-id") for each in metadata["snapshots"]}
    schemas.add(metadata["current-schema-id"])
    metadata["schemas"] = [s for s in metadata["schemas"] if s["schema-id"] in schemas]
