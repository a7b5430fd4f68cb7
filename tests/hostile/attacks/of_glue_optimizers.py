"""Glue's table optimizers, by what AWS says that they do once an administrator turns them on."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any, Dict

from tests.hostile import names
from tests.hostile.attacks.attack import EVERY_LAYER, GUARDED, attack
from tests.hostile.attacks.of_trino import remove_orphans

RETENTION = timedelta(days=3)


@attack("Glue", "optimizer: orphan file deletion", on=EVERY_LAYER)
def glue_deletes_orphan_files(engine: Any, layer: str) -> None:
    remove_orphans(engine, layer, RETENTION)


@attack("Glue", "optimizer: compaction", on=("current", "changes"))
def glue_compacts(engine: Any, layer: str) -> None:
    table = engine.iceberg(layer)
    table.overwrite(table.scan().to_arrow())


@attack("Glue", "optimizer: snapshot retention")
def glue_expires_snapshots(engine: Any, layer: str) -> None:
    expiring = engine.iceberg(layer).maintenance.expire_snapshots()
    expiring.older_than(datetime.now(timezone.utc).replace(tzinfo=None)).commit()


@attack("Glue", "CreateTableOptimizer", roles=GUARDED)
def glue_is_given_an_optimizer(engine: Any, layer: str) -> None:
    engine.aws("glue").create_table_optimizer(**_that_deletes_orphans(layer))


@attack("Glue", "UpdateTableOptimizer", roles=GUARDED)
def glue_is_told_to_delete_orphan_files(engine: Any, layer: str) -> None:
    engine.aws("glue").update_table_optimizer(**_that_deletes_orphans(layer))


def _that_deletes_orphans(layer: str) -> Dict[str, Any]:
    kept = {"orphanFileRetentionPeriodInDays": 3}
    return {
        "CatalogId": names.ACCOUNT,
        "DatabaseName": f"{names.DOMAIN}_iceberg",
        "TableName": names.LAYERS[layer],
        "Type": "orphan_file_deletion",
        "TableOptimizerConfiguration": {
            "roleArn": f"arn:aws:iam::{names.ACCOUNT}:role/lake-optimizer",
            "enabled": True,
            "orphanFileDeletionConfiguration": {"icebergConfiguration": kept},
        },
    }
