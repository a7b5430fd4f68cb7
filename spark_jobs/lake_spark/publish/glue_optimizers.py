"""Glue's optimizers of published Iceberg tables, switched off for each table.

Glue compacts tables, expires snapshots and deletes what it takes for orphans: of every
Iceberg table that is made or updated, once an administrator has turned that on for the
catalogue, but for those that have a setting of their own. Here Hudi does all three.
https://docs.aws.amazon.com/glue/latest/dg/catalog-level-optimizers.html
"""

from __future__ import annotations

from typing import Any, Dict, Mapping

from lake_spec.diagnostics.warnings import WarningId
from lake_spark.tables.table_run import TableRun

_LONG = 365
"""Days, if somebody switches one on all the same."""

OPTIMIZERS: Mapping[str, Mapping[str, Any]] = {
    "compaction": {},
    "retention": {
        "retentionConfiguration": {
            "icebergConfiguration": {
                "snapshotRetentionPeriodInDays": _LONG,
                "cleanExpiredFiles": False,
            }
        }
    },
    "orphan_file_deletion": {
        "orphanFileDeletionConfiguration": {
            "icebergConfiguration": {"orphanFileRetentionPeriodInDays": _LONG}
        }
    },
}
"""The optimizers, with what Glue asks for besides."""


def switch_off(run: TableRun, glue: Any, database: str, table: str) -> None:
    """Give a table its own setting that each optimizer is off; warn where Glue refuses.

    A table is published with or without it: rows are not lost by what may come later.
    """
    try:
        catalogue = glue.get_table(DatabaseName=database, Name=table)["Table"]
        place = {
            "CatalogId": catalogue["CatalogId"],
            "DatabaseName": database,
            "TableName": table,
        }
        known = _known(glue, place)
        for kind, more in OPTIMIZERS.items():
            if kind in known and not known[kind]:
                continue
            wanted = {"enabled": False, **more}
            if kind in known:
                put = glue.update_table_optimizer
            else:
                put = glue.create_table_optimizer
            put(**place, Type=kind, TableOptimizerConfiguration=wanted)
    except glue.exceptions.ClientError as error:
        run.warn(
            WarningId.OPTIMIZERS_NOT_OFF,
            f"{database}.{table} in the Glue catalogue: its table optimizers could not be "
            f"switched off ({error.response['Error']['Code']}). They must not run on it.",
        )


def _known(glue: Any, place: Mapping[str, str]) -> Dict[str, bool]:
    """Return whether each optimizer that the table has a setting of is on."""
    names = {
        "catalogId": place["CatalogId"],
        "databaseName": place["DatabaseName"],
        "tableName": place["TableName"],
    }
    entries = [{**names, "type": kind} for kind in OPTIMIZERS]
    answer = glue.batch_get_table_optimizer(Entries=entries)
    found = [each["tableOptimizer"] for each in answer.get("TableOptimizers", ())]
    return {
        each["type"]: bool(each.get("configuration", {}).get("enabled"))
        for each in found
    }
