"""The checks of what was read of a batch, and the accounting of its files."""

from __future__ import annotations

from functools import partial
from typing import FrozenSet, List, Sequence

from lake_spec.diagnostics.warnings import WarningId
from lake_spec.state.report import FileReport
from lake_spark.errors import ChangedWhileRead
from lake_spark.ingest import full_refresh, lacking_columns
from lake_spark.ingest.batch import Batch
from lake_spark.ingest.batch_rows import Rows
from lake_spark.landing.files import moved_on
from lake_spark.landing.ingested_files import LogContents
from lake_spark.reading import quarantine
from lake_spark.reading.accounting import RowCounts
from lake_spark.tables.table_run import FileRun


def judge_batch(run: FileRun, batch: Batch, rows: Rows, what: str) -> None:
    """Check what was read, and begin the accounting of its files."""
    refuse_moved_on(run, batch)
    examples = partial(quarantine.examples, run.spec, rows.numbered)
    account_for(run, batch, rows.counted, examples, what)
    full_refresh.refuse_losses(run, quarantine.good_rows(rows.numbered), batch.inputs)


def account_for(
    run: FileRun,
    batch: Batch,
    counted: RowCounts,
    find_examples: quarantine.Examples,
    what: str,
) -> None:
    """Check the counts of a batch's rows, and begin the accounting of its files."""
    quarantine.check_limits(run, counted, find_examples)
    lacking_columns.warn(run, batch, counted)
    batch.files = file_reports(batch, counted)
    has_full_refresh = any(each.started for each in batch.inputs)
    snapshots = _snapshots(run, batch, counted)
    batch.contents = counted.contents | LogContents(
        has_full_refresh, snapshots=snapshots
    )
    run.report.derived_deletes += counted.moved
    newest = counted.newest
    batch.newest_event = newest.isoformat(timespec="microseconds") if newest else None
    run.say(f"read {counted.total:,} rows of {what}")


def _snapshots(run: FileRun, batch: Batch, counted: RowCounts) -> FrozenSet[str]:
    """Return where the connector read its snapshots; warn where one is not the first."""
    paths = [each.file.path for each in batch.inputs if each.started is None]
    found = sorted(counted.starts(paths))
    before = sorted(run.ingested_files().contents.snapshots)
    if any(each not in before for each in found) and len({*before, *found}) > 1:
        run.report.warn(
            WarningId.SECOND_SNAPSHOT,
            f"the connector took another snapshot at {found[-1]} (others at "
            f"{', '.join(each for each in (*before, *found[:-1]) if each != found[-1])}), "
            "and its rows count from there on. Rows that were deleted while no changes were "
            "captured are not in it and stay. To remove them take a new full load "
            "(source.full_refresh).",
        )
    return frozenset(found)


def file_reports(batch: Batch, counted: RowCounts) -> List[FileReport]:
    """Return the accounting per file.

    Every good row counts as accepted until said otherwise.
    """
    reports = []
    for each in batch.inputs:
        path = each.file.path
        landed, bad = counted.landed(path), counted.quarantined(path)
        erased = counted.erased.get(path, 0)
        accepted = landed - bad - erased
        reports.append(
            FileReport(
                path,
                each.file.etag,
                landed,
                accepted,
                quarantined=bad,
                erased=erased,
                **counted.no_rows(path),
            )
        )
    return reports


def refuse_moved_on(run: FileRun, batch: Batch) -> None:
    """Refuse rows not of the content that was listed: Spark reads by name alone.

    To be asked after the rows were read and before anything is written.
    """
    refuse_changed(moved_on(run.store, [each.file for each in batch.inputs]))


def refuse_changed(changed: Sequence[str]) -> None:
    """Refuse rows of files of these paths, which are not what was listed."""
    if changed:
        raise ChangedWhileRead(
            f"{', '.join(changed)}: replaced or removed while the run read it, so nothing "
            "was written. Start the run again when the source has finished writing."
        )
