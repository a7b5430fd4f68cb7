"""The Iceberg metadata of a table, format version 2, made by Iceberg's own library.

It lies in a location of its own (lake_spec/layout/published_tables.py). Releases before
put it into Hudi's folder, the former root: it moves with the next version, and what older
snapshots name stays there until they end.
Its library writes manifests and makes the metadata; the metadata file is put here, under
the condition that there is none of its number: a rename is no commit on S3.
"""

from __future__ import annotations

import json
import re
from typing import Any, Dict, List, Mapping, Optional, Sequence, Set

from pyspark.sql.types import StructType

from lake_spec.hudi.layout import HUDI_COLUMNS
from lake_spec.layout.published_tables import (
    HUDI_INSTANT,
    ICEBERG_FOLDER,
    iceberg_location,
)
from lake_spark import java
from lake_spark.publish.format import CannotFollow, Format, Newest
from lake_spark.publish.instants import BaseFile, CommitChange
from lake_spark.publish.schema import COMMENT, partition_values, same_columns
from lake_spark.storage.hudi_table import DELETED

_VERSION = re.compile(r"/v(\d+)\.metadata\.json$")
_HINT = "version-hint.text"
_TABLE_COMMENT = "comment"
_MAPPING = "schema.name-mapping.default"
_MANIFESTS = "commit.manifest.min-count-to-merge"
_MOVED_FROM = "lake.moved-from"
"""Property that names the former root, which is swept like the root as long as it is there."""
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

    @property
    def location(self) -> str:
        """Return the folder next to Hudi's that Iceberg's tools take for the table's own."""
        return iceberg_location(self.table.path)

    @property
    def _former_root(self) -> str:
        return f"{self.table.path}/{self.folder}/"

    def newest(self) -> Optional[Newest]:
        """Return what the newest metadata says; None where there is none."""
        files = self._metadata_files()
        if not files:
            return None
        version = max(files)
        metadata = self._read(files[version])
        summary = _current(metadata).get("summary", {})
        return Newest(
            version,
            summary.get(HUDI_INSTANT, ""),
            int(summary.get("total-data-files", 0)),
            int(summary.get("total-files-size", 0)),
            metadata,
            files[version],
        )

    def append(self, newest: Newest, steps: Sequence[CommitChange]) -> bool:
        """Add a snapshot for each step; without any, bring up to date what is not.

        Return False where another writer was first.
        """
        if not self._is_here(newest):
            moved = self._move(newest)
            if moved is None or (not steps and self.is_up_to_date(moved)):
                return moved is not None
            newest = moved
        operations = self._tables().load(self.location).operations()
        changes = self._iceberg.Transactions.newTransaction(self.location, operations)
        before = newest.content
        self._set_properties(changes, before, steps)
        if steps:
            self._evolve(changes, before)
        self._describe(changes)
        for step in steps:
            self._snapshot(changes, step)
        metadata = self._json(changes)
        metadata["metadata-log"] = _log(before, newest.uri)
        return self._put(newest.version + 1, metadata)

    def _move(self, newest: Newest) -> Optional[Newest]:
        """Put the same metadata into the location; None where another writer was first.

        Its snapshots name their files by whole addresses. Who finds metadata by the hint
        alone is told that there is none, not what was true before.
        """
        metadata = {
            **newest.content,
            "location": self.location,
            "metadata-log": _log(newest.content, newest.uri),
            "properties": {
                **newest.content.get("properties", {}),
                _MOVED_FROM: self._former_root,
            },
        }
        self.store.delete(f"{self._former_root}{_HINT}")
        if not self._put(newest.version + 1, metadata):
            return None
        return self.newest()

    def _is_here(self, newest: Newest) -> bool:
        """Return whether a version lies in the location, not in the former root."""
        return newest.uri.startswith(self.root)

    def is_up_to_date(self, newest: Newest) -> bool:
        """Return whether the newest version is where it belongs, with the descriptions."""
        metadata = newest.content
        if not self._is_here(newest):
            return False
        comment = metadata.get("properties", {}).get(_TABLE_COMMENT)
        return comment == self.description and all(
            each.get("doc") == self.columns.get(each["name"])
            for each in _current_schema(metadata)["fields"]
        )

    def begin(self, step: CommitChange) -> bool:
        """Make metadata with one snapshot of all files, then remove what was before."""
        version = max(self._metadata_files(), default=0)
        has_former = self._has_former()
        jvm = java.packages(self.spark)
        schema = self._convert(self.schema)
        spec = self._iceberg.PartitionSpec.builderFor(schema)
        for name in self.partitions:
            spec = spec.identity(name)
        properties = jvm.java.util.HashMap()
        properties.put(_TABLE_COMMENT, self.description)
        for name, value in PROPERTIES.items():
            properties.put(name, value)
        if has_former:
            properties.put(_MOVED_FROM, self._former_root)
        changes = self._tables().newReplaceTableTransaction(
            self.location, schema, spec.build(), properties, True
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
        files = self._files_in(self.root)
        if not files:
            return
        version = max(files)
        metadata = self._read(files[version])
        kept = {
            each["snapshot-id"]
            for each in metadata["snapshots"]
            if each["summary"].get(HUDI_INSTANT) in instants
        }
        kept.add(metadata["current-snapshot-id"])
        if len(kept) < len(metadata["snapshots"]):
            keep_snapshots(metadata, kept)
            if self._put(version + 1, metadata):
                self._sweep(keep=KEPT_METADATA)
        elif len(files) > KEPT_METADATA:
            self._sweep(keep=KEPT_METADATA)

    def heal(self, newest: Newest) -> None:
        """Let the hint name the newest version."""
        self._hint(newest.version)

    def glue_properties(self) -> Dict[str, str]:
        """Return the properties by which readers of Glue's entry know the format."""
        files = self._metadata_files()
        return {"table_type": "ICEBERG", "metadata_location": files[max(files)]}

    def is_ours(self) -> bool:
        """Return whether there is metadata in the location, or ours in the former root."""
        return self.is_there() or bool(self._former_files())

    def drop(self) -> int:
        """Remove all metadata, in the former root too where it is ours."""
        former = self.store.list(self._former_root) if self._has_former() else []
        for each in former:
            self.store.delete(each.uri)
        return len(former) + super().drop()

    @property
    def _iceberg(self) -> Any:
        return java.packages(self.spark).org.apache.iceberg

    def _tables(self) -> java.JavaObject:
        settings = java.hadoop_configuration(self.spark)
        return self._iceberg.hadoop.HadoopTables(settings)

    def _metadata_files(self) -> Dict[int, str]:
        """Return the addresses of metadata files by version.

        Those of the former root only as long as the location has none.
        """
        return self._files_in(self.root) or self._former_files()

    def _former_files(self) -> Dict[int, str]:
        """Return the metadata files of the former root, none where another wrote them."""
        files = self._files_in(self._former_root)
        is_ours = files and any(
            HUDI_INSTANT in each.get("summary", {})
            for each in self._read(files[max(files)]).get("snapshots", [])
        )
        return files if is_ours else {}

    def _has_former(self) -> bool:
        """Return whether the former root is ours, by the newest metadata or by its own."""
        files = self._files_in(self.root)
        if files:
            properties = self._read(files[max(files)]).get("properties", {})
            return _MOVED_FROM in properties
        return bool(self._former_files())

    def _files_in(self, root: str) -> Dict[int, str]:
        names = (
            (_VERSION.search(each.uri), each.uri) for each in self.store.list(root)
        )
        return {int(name.group(1)): uri for name, uri in names if name}

    def _uri(self, version: int) -> str:
        return f"{self.root}v{version}.metadata.json"

    def _read(self, uri: str) -> Dict[str, Any]:
        metadata: Dict[str, Any] = json.loads(self.store.read(uri))
        return metadata

    def _json(self, changes: java.JavaObject) -> Dict[str, Any]:
        text = self._iceberg.TableMetadataParser.toJson(changes.currentMetadata())
        metadata: Dict[str, Any] = json.loads(text)
        return metadata

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

    def _convert(self, schema: StructType) -> java.JavaObject:
        kind = java.packages(self.spark).org.apache.spark.sql.types.DataType
        return self._iceberg.spark.SparkSchemaUtil.convert(kind.fromJson(schema.json()))

    def _columns(self, changes: java.JavaObject) -> StructType:
        found = self._iceberg.spark.SparkSchemaUtil.convert(changes.table().schema())
        return StructType.fromJson(json.loads(found.json()))

    def _set_properties(
        self,
        changes: java.JavaObject,
        before: Mapping[str, Any],
        steps: Sequence[CommitChange],
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

    def _evolve(self, changes: java.JavaObject, before: Mapping[str, Any]) -> None:
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
        except java.Py4JJavaError as error:
            raise CannotFollow(f"{self.table.path}: {error.java_exception}") from None
        if not same_columns(self._columns(changes), self.schema):
            raise CannotFollow(f"{self.table.path}: a column has another type")

    def _describe(self, changes: java.JavaObject) -> None:
        """Give columns their descriptions; ids and types stay."""
        found = {f.name: f.metadata.get(COMMENT) for f in self._columns(changes).fields}
        wanted = {name: self.columns.get(name) for name in found}
        if wanted != found:
            update = changes.updateSchema()
            for name, description in wanted.items():
                update = update.updateColumnDoc(name, description)
            update.commit()

    def _snapshot(self, changes: java.JavaObject, step: CommitChange) -> None:
        # Looked up once: each name of a class is searched for in all jars.
        data_files, spec = self._iceberg.DataFiles, changes.table().spec()

        def data_file(file: BaseFile, rows: int) -> java.JavaObject:
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
        update.set(HUDI_INSTANT, step.instant)
        update.commit()

    def _data_file(
        self, builder: java.JavaObject, file: BaseFile, rows: int
    ) -> java.JavaObject:
        builder.withPath(f"{self.table.path}/{file.path}").withFormat("parquet")
        builder.withFileSizeInBytes(file.size).withRecordCount(rows)
        if self.partitions:
            values = java.packages(self.spark).java.util.ArrayList()
            for value in partition_values(file, self.partitions).values():
                values.add(value)
            builder.withPartitionValues(values)
        return builder.build()

    def _sweep(self, *, keep: int) -> None:
        """Remove metadata files that no snapshot names, but the newest ones."""
        operations = self._tables().load(self.location).operations()
        files = operations.io()
        former = operations.current().properties().get(_MOVED_FROM)
        versions = self._files_in(self.root)
        if former:
            versions.update(self._files_in(former))
        kept = {versions[each] for each in sorted(versions)[-keep:]}
        kept.add(f"{self.root}{_HINT}")
        named: Set[str] = set()  # Iceberg spells addresses in its own way
        for snapshot in operations.current().snapshots():
            named.add(_name(snapshot.manifestListLocation()))
            named |= {_name(each.path()) for each in snapshot.allManifests(files)}
        for root in filter(None, (self.root, former)):
            for each in self.store.list(root):
                if each.uri not in kept and _name(each.uri) not in named:
                    self.store.delete(each.uri)


def mapping_of_hudi() -> List[Dict[str, Any]]:
    """Return ids for Hudi's own columns, which no schema has.

    Each column of a file needs one: pyiceberg refuses the file else.
    """
    names = [*HUDI_COLUMNS, DELETED]
    return [{"field-id": _HUDI_ID + n, "names": [name]} for n, name in enumerate(names)]


def _name(uri: str) -> str:
    return uri.rsplit("/", 1)[-1]


def _log(before: Mapping[str, Any], uri: str) -> List[Dict[str, Any]]:
    """Return the older metadata files that the version after this one names, itself last."""
    last = {"timestamp-ms": before["last-updated-ms"], "metadata-file": uri}
    return [*before.get("metadata-log", []), last][-KEPT_METADATA:]


def _current(metadata: Dict[str, Any]) -> Dict[str, Any]:
    """Return the current snapshot, empty where there is none."""
    current = metadata.get("current-snapshot-id")
    found = [s for s in metadata.get("snapshots", []) if s["snapshot-id"] == current]
    return found[0] if found else {}


def _current_schema(metadata: Mapping[str, Any]) -> Dict[str, Any]:
    current = metadata["current-schema-id"]
    schemas: List[Dict[str, Any]] = metadata["schemas"]
    (found,) = [each for each in schemas if each["schema-id"] == current]
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
