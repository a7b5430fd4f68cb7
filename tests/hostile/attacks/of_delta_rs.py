"""delta-rs, by the folder of the table."""

from __future__ import annotations

from typing import Any

from tests.hostile.attacks.attack import EVERY_LAYER, EVERY_ROLE, attack


@attack("delta-rs", "vacuum(0, full=True)", on=EVERY_LAYER, quick=EVERY_ROLE)
def delta_rs_vacuums_all_that_is_not_in_the_log(engine: Any, layer: str) -> None:
    engine.delta(layer).vacuum(
        0, dry_run=False, enforce_retention_duration=False, full=True
    )


@attack("delta-rs", "optimize.compact")
def delta_rs_compacts(engine: Any, layer: str) -> None:
    engine.delta(layer).optimize.compact()


@attack("delta-rs", "optimize.compact", on=("changes",), quick=EVERY_ROLE)
def delta_rs_compacts_the_change_log(engine: Any, layer: str) -> None:
    engine.delta(layer).optimize.compact()


@attack("delta-rs", "optimize.z_order")
def delta_rs_sorts_along_a_curve(engine: Any, layer: str) -> None:
    engine.delta(layer).optimize.z_order(["id"])


@attack("delta-rs", "delete", on=("current", "changes"), quick=EVERY_ROLE)
def delta_rs_deletes_rows(engine: Any, layer: str) -> None:
    engine.delta(layer).delete("id < 5")


@attack("delta-rs", "update")
def delta_rs_updates_rows(engine: Any, layer: str) -> None:
    engine.delta(layer).update(updates={"name": "'other'"}, predicate="id < 5")


@attack("delta-rs", "merge")
def delta_rs_merges_rows(engine: Any, layer: str) -> None:
    table = engine.delta(layer)
    rows = table.to_pyarrow_table().slice(0, 3)
    merged = table.merge(rows, "s.id = t.id", source_alias="s", target_alias="t")
    merged.when_matched_delete().execute()


@attack("delta-rs", "write_deltalake(append)", on=EVERY_LAYER, quick=EVERY_ROLE)
def delta_rs_appends_rows(engine: Any, layer: str) -> None:
    _write(engine, layer, "append")


@attack("delta-rs", "write_deltalake(overwrite)")
def delta_rs_overwrites_the_table(engine: Any, layer: str) -> None:
    _write(engine, layer, "overwrite")


@attack("delta-rs", "write_deltalake(overwrite, schema_mode=overwrite)")
def delta_rs_overwrites_schema_and_rows(engine: Any, layer: str) -> None:
    _write(engine, layer, "overwrite", schema_mode="overwrite")


@attack("delta-rs", "restore(0)")
def delta_rs_restores_the_first_version(engine: Any, layer: str) -> None:
    engine.delta(layer).restore(0)


@attack("delta-rs", "repair")
def delta_rs_repairs(engine: Any, layer: str) -> None:
    engine.delta(layer).repair()


@attack("delta-rs", "create_checkpoint")
def delta_rs_makes_a_checkpoint(engine: Any, layer: str) -> None:
    engine.delta(layer).create_checkpoint()


@attack("delta-rs", "create_checkpoint, cleanup_metadata")
def delta_rs_cleans_the_log(engine: Any, layer: str) -> None:
    table = engine.delta(layer)
    table.create_checkpoint()
    table.cleanup_metadata()


@attack("delta-rs", "alter.set_table_properties")
def delta_rs_sets_the_retention_to_nothing(engine: Any, layer: str) -> None:
    wanted = {"delta.logRetentionDuration": "interval 0 days"}
    engine.delta(layer).alter.set_table_properties(wanted)


@attack("delta-rs", "alter.add_columns")
def delta_rs_adds_a_column(engine: Any, layer: str) -> None:
    from deltalake import Field

    engine.delta(layer).alter.add_columns([Field("other", "string")])


def _write(engine: Any, layer: str, mode: str, **more: Any) -> None:
    from deltalake import write_deltalake

    rows = engine.delta(layer).to_pyarrow_table().slice(0, 3)
    folder, options = engine.folder(layer), engine.delta_options
    write_deltalake(folder, rows, mode=mode, storage_options=options, **more)
