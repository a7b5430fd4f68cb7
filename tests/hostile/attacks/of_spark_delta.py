"""Spark with Delta, by the folder of the table; the files are ten days old."""

from __future__ import annotations

from typing import Any

from tests.hostile.attacks.attack import EVERY_LAYER, attack

ENGINE = "Spark with Delta"


@attack(ENGINE, "VACUUM", on=EVERY_LAYER)
def spark_vacuums(engine: Any, layer: str) -> None:
    engine.sql(f"VACUUM {engine.delta(layer)}")


@attack(ENGINE, "OPTIMIZE", on=("changes",))
def spark_optimizes(engine: Any, layer: str) -> None:
    engine.sql(f"OPTIMIZE {engine.delta(layer)}")


@attack(ENGINE, "DELETE")
def spark_deletes_rows_of_delta(engine: Any, layer: str) -> None:
    engine.sql(f"DELETE FROM {engine.delta(layer)} WHERE id < 5")


@attack(ENGINE, "INSERT", on=("current", "changes"))
def spark_inserts_rows_into_delta(engine: Any, layer: str) -> None:
    table = engine.delta(layer)
    engine.sql(f"INSERT INTO {table} SELECT * FROM {table} LIMIT 3")


@attack(ENGINE, "RESTORE")
def spark_restores_the_first_version(engine: Any, layer: str) -> None:
    engine.sql(f"RESTORE {engine.delta(layer)} TO VERSION AS OF 0")


@attack(ENGINE, "CONVERT TO DELTA", on=("changes",))
def spark_converts_the_folder(engine: Any, layer: str) -> None:
    engine.delta(layer)
    engine.sql(f"CONVERT TO DELTA parquet.`{engine.folder(layer)}`")


@attack(ENGINE, "ALTER TABLE SET TBLPROPERTIES (delta.minWriterVersion)")
def spark_upgrades_the_protocol(engine: Any, layer: str) -> None:
    wanted = "'delta.feature.deletionVectors' = 'supported'"
    engine.sql(f"ALTER TABLE {engine.delta(layer)} SET TBLPROPERTIES ({wanted})")


@attack(ENGINE, "ALTER TABLE SET TBLPROPERTIES (delta.columnMapping.mode)")
def spark_maps_columns(engine: Any, layer: str) -> None:
    wanted = "'delta.columnMapping.mode' = 'name', 'delta.minReaderVersion' = '2',"
    wanted += " 'delta.minWriterVersion' = '5'"
    engine.sql(f"ALTER TABLE {engine.delta(layer)} SET TBLPROPERTIES ({wanted})")


@attack(ENGINE, "ALTER TABLE DROP FEATURE lakeHudi")
def spark_drops_the_feature_that_guards(engine: Any, layer: str) -> None:
    engine.sql(f"ALTER TABLE {engine.delta(layer)} DROP FEATURE lakeHudi")


@attack(ENGINE, "DROP TABLE PURGE")
def spark_drops_a_table_over_the_folder(engine: Any, layer: str) -> None:
    engine.delta(layer)
    engine.sql("DROP TABLE IF EXISTS over_it")
    engine.sql(f"CREATE TABLE over_it USING delta LOCATION '{engine.folder(layer)}'")
    engine.sql("DROP TABLE over_it PURGE")


@attack(ENGINE, "INSERT OVERWRITE of Parquet into the folder")
def spark_writes_parquet_into_the_folder(engine: Any, layer: str) -> None:
    rows = engine.session.sql("SELECT 1 AS id, 'north' AS place")
    writer = rows.write.mode("append").partitionBy("place")
    writer.parquet(engine.folder(layer).replace("s3://", "s3a://"))
