"""Trino 483: itself, and by the calls that it makes for the statements that remove most.

`DROP TABLE` of its Iceberg connector removes the entry and all below the `location` of the
metadata; `remove_orphan_files` all below it that no snapshot names and that is older than
seven days. Its Delta and Hudi connectors leave the files of external tables.
"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any, Set

from tests.hostile import names
from tests.hostile.attacks.attack import EVERY_LAYER, GUARDED, attack

WEEK = timedelta(days=7)


@attack(
    "calls of Trino",
    "DROP TABLE, Iceberg connector",
    on=EVERY_LAYER,
    quick=(names.READER, names.UNGUARDED),
)
def calls_of_trino_drop_the_table(engine: Any, layer: str) -> None:
    location = engine.iceberg(layer).location()
    engine.delete_entry(f"{names.DOMAIN}_iceberg", layer)
    engine.delete(list(engine.below(location)))


@attack("calls of Trino", "EXECUTE remove_orphan_files", on=EVERY_LAYER, quick=GUARDED)
def calls_of_trino_remove_orphan_files(engine: Any, layer: str) -> None:
    remove_orphans(engine, layer, WEEK)


@attack("calls of Trino", "DROP TABLE, Delta connector")
def calls_of_trino_drop_the_entry_of_delta(engine: Any, layer: str) -> None:
    engine.delete_entry(f"{names.DOMAIN}_delta", layer)


@attack("calls of Trino", "DROP TABLE, Hudi connector")
def calls_of_trino_drop_the_entry_of_hudi(engine: Any, layer: str) -> None:
    engine.delete_entry(names.DOMAIN, layer)


@attack("Trino", "DROP TABLE", on=EVERY_LAYER)
def trino_drops_the_table(engine: Any, layer: str) -> None:
    engine.sql(f"DROP TABLE {engine.iceberg(layer)}")


@attack("Trino", "EXECUTE remove_orphan_files", on=EVERY_LAYER)
def trino_removes_orphan_files(engine: Any, layer: str) -> None:
    _execute(engine, layer, "remove_orphan_files")


@attack("Trino", "EXECUTE optimize", on=("current", "changes"))
def trino_optimizes(engine: Any, layer: str) -> None:
    _execute(engine, layer, "optimize")


@attack("Trino", "EXECUTE optimize_manifests")
def trino_optimizes_manifests(engine: Any, layer: str) -> None:
    _execute(engine, layer, "optimize_manifests")


@attack("Trino", "EXECUTE expire_snapshots")
def trino_expires_snapshots(engine: Any, layer: str) -> None:
    _execute(engine, layer, "expire_snapshots(retention_threshold => '7d')")


@attack("Trino", "DELETE")
def trino_deletes_rows(engine: Any, layer: str) -> None:
    engine.sql(f"DELETE FROM {engine.iceberg(layer)} WHERE id < 5")


@attack("Trino", "INSERT", on=("current", "changes"))
def trino_inserts_rows(engine: Any, layer: str) -> None:
    table = engine.iceberg(layer)
    engine.sql(f"INSERT INTO {table} SELECT * FROM {table} LIMIT 3")


@attack("Trino", "TRUNCATE TABLE")
def trino_truncates_the_table(engine: Any, layer: str) -> None:
    engine.sql(f"TRUNCATE TABLE {engine.iceberg(layer)}")


@attack("Trino", "ALTER TABLE SET PROPERTIES")
def trino_changes_the_format(engine: Any, layer: str) -> None:
    engine.sql(f"ALTER TABLE {engine.iceberg(layer)} SET PROPERTIES format = 'ORC'")


@attack("Trino", "ALTER TABLE RENAME")
def trino_renames_the_table(engine: Any, layer: str) -> None:
    table = engine.iceberg(layer)
    engine.sql(f"ALTER TABLE {table} RENAME TO {names.DOMAIN}_iceberg.other")


@attack("Trino", "ALTER TABLE DROP COLUMN")
def trino_drops_a_column(engine: Any, layer: str) -> None:
    engine.sql(f"ALTER TABLE {engine.iceberg(layer)} DROP COLUMN name")


@attack("Trino", "DROP SCHEMA CASCADE")
def trino_drops_the_schema(engine: Any, layer: str) -> None:
    engine.sql(f"DROP SCHEMA lake.{names.DOMAIN}_iceberg CASCADE")


def _execute(engine: Any, layer: str, what: str) -> None:
    engine.sql(f"ALTER TABLE {engine.iceberg(layer)} EXECUTE {what}")


def remove_orphans(engine: Any, layer: str, age: timedelta) -> None:
    """Delete what no snapshot of the table names, below its location."""
    table, before = engine.iceberg(layer), datetime.now(timezone.utc) - age
    named = _named(table)
    found = [
        each
        for each in engine.below(table.location())
        if each["Uri"] not in named and each["LastModified"] < before
    ]
    engine.delete(found)


def _named(table: Any) -> Set[str]:
    """Return every file that the metadata names."""
    found = {table.metadata_location}
    found |= {each.metadata_file for each in table.metadata.metadata_log}
    folder = table.metadata_location.rpartition("/")[0]
    found.add(f"{folder}/version-hint.text")
    for snapshot in table.snapshots():
        found.add(snapshot.manifest_list)
        for manifest in snapshot.manifests(table.io):
            found.add(manifest.manifest_path)
            entries = manifest.fetch_manifest_entry(table.io, discard_deleted=False)
            found |= {entry.data_file.file_path for entry in entries}
    return found
