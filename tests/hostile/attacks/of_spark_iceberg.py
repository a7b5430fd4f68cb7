"""Spark with Iceberg, through Glue."""

from __future__ import annotations

from typing import Any

from tests.hostile.attacks.attack import EVERY_LAYER, GUARDED, attack

ENGINE = "Spark with Iceberg"


@attack(ENGINE, "DROP TABLE")
def spark_drops_the_table(engine: Any, layer: str) -> None:
    engine.sql(f"DROP TABLE {engine.iceberg(layer)}")


@attack(ENGINE, "DROP TABLE PURGE", on=EVERY_LAYER, roles=GUARDED)
def spark_purges_the_table(engine: Any, layer: str) -> None:
    engine.sql(f"DROP TABLE {engine.iceberg(layer)} PURGE")


@attack(ENGINE, "ALTER TABLE SET TBLPROPERTIES, DROP TABLE PURGE", roles=GUARDED)
def spark_allows_garbage_collection_and_purges(engine: Any, layer: str) -> None:
    table = engine.iceberg(layer)
    engine.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('gc.enabled' = 'true')")
    engine.sql(f"DROP TABLE {table} PURGE")


@attack(ENGINE, "CALL remove_orphan_files", on=EVERY_LAYER)
def spark_removes_orphan_files(engine: Any, layer: str) -> None:
    engine.call("remove_orphan_files", layer)


@attack(ENGINE, "SET TBLPROPERTIES, CALL remove_orphan_files", on=("changes",))
def spark_allows_garbage_collection_and_removes_orphans(
    engine: Any, layer: str
) -> None:
    table = engine.iceberg(layer)
    engine.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('gc.enabled' = 'true')")
    engine.call("remove_orphan_files", layer)


@attack(ENGINE, "CALL rewrite_data_files", on=("current", "changes"))
def spark_rewrites_data_files(engine: Any, layer: str) -> None:
    every = ", options => map('rewrite-all', 'true')"
    engine.call("rewrite_data_files", layer, every)


@attack(ENGINE, "CALL rewrite_manifests")
def spark_rewrites_manifests(engine: Any, layer: str) -> None:
    engine.call("rewrite_manifests", layer)


@attack(ENGINE, "CALL expire_snapshots")
def spark_expires_snapshots(engine: Any, layer: str) -> None:
    engine.call("expire_snapshots", layer, ", retain_last => 1")


@attack(ENGINE, "DELETE")
def spark_deletes_rows_of_iceberg(engine: Any, layer: str) -> None:
    engine.sql(f"DELETE FROM {engine.iceberg(layer)} WHERE id < 5")


@attack(ENGINE, "INSERT")
def spark_inserts_rows_into_iceberg(engine: Any, layer: str) -> None:
    table = engine.iceberg(layer)
    engine.sql(f"INSERT INTO {table} SELECT * FROM {table} LIMIT 3")


@attack(ENGINE, "CALL rollback_to_snapshot")
def spark_rolls_back(engine: Any, layer: str) -> None:
    table = engine.iceberg(layer)
    first = engine.sql(
        f"SELECT snapshot_id FROM {table}.snapshots ORDER BY committed_at LIMIT 1"
    )
    engine.call("rollback_to_snapshot", layer, f", snapshot_id => {first[0][0]}")


@attack(ENGINE, "ALTER TABLE SET LOCATION")
def spark_moves_the_location(engine: Any, layer: str) -> None:
    where = engine.folder("history")
    engine.sql(f"ALTER TABLE {engine.iceberg(layer)} SET LOCATION '{where}'")
