"""pyiceberg, through Glue."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

from tests.hostile.attacks.attack import EVERY_LAYER, GUARDED, attack
from tests.hostile.names import READER


@attack("pyiceberg", "catalog.drop_table", on=EVERY_LAYER)
def pyiceberg_drops_the_table(engine: Any, layer: str) -> None:
    engine.catalog.drop_table(engine.iceberg_name(layer))


@attack(
    "pyiceberg", "catalog.purge_table", on=EVERY_LAYER, roles=GUARDED, quick=(READER,)
)
def pyiceberg_purges_the_table(engine: Any, layer: str) -> None:
    engine.catalog.purge_table(engine.iceberg_name(layer))


@attack("pyiceberg", "table.delete", quick=GUARDED)
def pyiceberg_deletes_rows(engine: Any, layer: str) -> None:
    engine.iceberg(layer).delete("id < 5")


@attack("pyiceberg", "table.delete", on=("current", "changes"))
def pyiceberg_deletes_all_rows(engine: Any, layer: str) -> None:
    engine.iceberg(layer).delete("id >= 0")


@attack("pyiceberg", "table.append", on=("current", "changes"))
def pyiceberg_appends_rows(engine: Any, layer: str) -> None:
    table = engine.iceberg(layer)
    table.append(table.scan(limit=3).to_arrow())


@attack("pyiceberg", "table.overwrite")
def pyiceberg_overwrites_the_table(engine: Any, layer: str) -> None:
    table = engine.iceberg(layer)
    table.overwrite(table.scan(limit=3).to_arrow())


@attack("pyiceberg", "table.maintenance.expire_snapshots")
def pyiceberg_expires_snapshots(engine: Any, layer: str) -> None:
    now = datetime.now(timezone.utc)
    expiring = engine.iceberg(layer).maintenance.expire_snapshots()
    expiring.older_than(now.replace(tzinfo=None)).commit()


@attack("pyiceberg", "catalog.rename_table")
def pyiceberg_renames_the_table(engine: Any, layer: str) -> None:
    name = engine.iceberg_name(layer)
    engine.catalog.rename_table(name, f"{name}_old")


@attack("pyiceberg", "transaction.set_properties")
def pyiceberg_turns_garbage_collection_on(engine: Any, layer: str) -> None:
    with engine.iceberg(layer).transaction() as changes:
        changes.set_properties({"gc.enabled": "true", "write.metadata.path": "/x"})


@attack("pyiceberg", "update_schema.delete_column")
def pyiceberg_drops_a_column(engine: Any, layer: str) -> None:
    with engine.iceberg(layer).update_schema(True) as schema:
        schema.delete_column("name")
