"""Columns that files of a batch lack: refused, or counted and said."""

from __future__ import annotations

from typing import Dict, List

from lake_spec.diagnostics.warnings import WarningId
from lake_spec.model import MissingColumns
from lake_spark.errors import WrongColumns
from lake_spark.formats.inference import is_load
from lake_spark.formats.missing_columns import missing_columns
from lake_spark.ingest.batch import Batch
from lake_spark.ingest.set_aside import Reasons
from lake_spark.landing.files import first_shown
from lake_spark.reading.accounting import RowCounts
from lake_spark.reading.reader import Input
from lake_spark.tables.table_run import FileRun


def refusals(run: FileRun, batch: Batch, counted: RowCounts) -> Reasons:
    """Return why files are refused that lack a declared column, if the table says so."""
    if run.spec.source.missing_columns is not MissingColumns.REFUSE:
        return {}
    reasons: Reasons = {}
    for each in batch.inputs:
        path = each.file.path
        lacking = [n for n in _lacking(run, batch, each, counted) if run.spec.column(n)]
        if lacking:
            has = ", ".join(each.shape.names)[:300]
            reasons[path] = WrongColumns, (
                f"lacks the column(s) {', '.join(lacking)}; it has {has}, and "
                f"source.missing_columns is 'refuse'. {_remedy(lacking[0])} "
                "Or set source.missing_columns to warn."
            )
    return reasons


def warn(run: FileRun, batch: Batch, counted: RowCounts) -> None:
    """Count, for each column that files lack, the rows that have null because of it."""
    found: Dict[str, List[str]] = {}
    for each in batch.inputs:
        for name in _lacking(run, batch, each, counted):
            found.setdefault(name, []).append(each.file.path)
    for name, paths in found.items():
        rows = sum(counted.upserts(path) for path in paths)
        words = (
            f"column {name!r} is missing in {len(paths):,} file(s) ({first_shown(paths)}): "
            f"{rows:,} row(s) have null. {_remedy(name)}"
        )
        run.report.warn(WarningId.MISSING_COLUMN, words)


def _lacking(run: FileRun, batch: Batch, each: Input, counted: RowCounts) -> List[str]:
    """Return columns that a file lacks; none if it has no upsert, which needs them."""
    if not counted.upserts(each.file.path):
        return []
    load = is_load(run.spec, each.file)
    return missing_columns(run.spec, each.shape, batch.columns, is_load=load)


def _remedy(name: str) -> str:
    return (
        f"If the source renamed it, add the new name to columns.{name}.source; if it "
        f"sends it no longer, set columns.{name}.dropped to true."
    )
