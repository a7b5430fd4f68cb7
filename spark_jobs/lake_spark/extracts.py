"""An extract into the change log: what is new, changed or absent."""

from __future__ import annotations

from datetime import datetime
from typing import Dict, List, Optional, Tuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lake_spec.model import Absence
from lake_spec.report import FileReport
from lake_spark import ingest, quarantine, snapshot
from lake_spark.errors import BadFile
from lake_spark.fold import KEY
from lake_spark.inputs import Inputs
from lake_spark.log_rows import log_columns
from lake_spark.materialise import folded_current
from lake_spark.row_sql import any_null
from lake_spark.snapshot import Extract
from lake_spark.table_run import TableRun


def take_extract(run: TableRun, extract: Extract, taken: Inputs) -> bool:
    """Take one extract in, whole or not at all, by one commit; whether one was made."""
    snapshot.refuse_late(extract, snapshot.last_taken(taken), run.spec.domain)
    batch = ingest.shaped(run, extract.files, taken)
    batch.extract = extract
    if len(batch.inputs) < len(extract.files):
        return _refused_whole(run, extract)
    rows = ingest.read_rows(run, batch)
    if rows is None:
        return _refused_whole(run, extract)
    try:
        ingest.judge(run, batch, rows, f"extract {extract.name}")
        return _take_rows(run, batch, rows, taken)
    finally:
        rows.release()


def _refused_whole(run: TableRun, extract: Extract) -> bool:
    """One bad file refuses its extract: the good ones wait for it, by name."""
    bad = {each["path"] for each in run.report.set_aside}
    named = ", ".join(each.path for each in extract.files if each.path in bad)
    set_aside(run, extract, f"waits with its extract {extract.name} for {named}")
    return False


def set_aside(run: TableRun, extract: Extract, reason: str) -> None:
    """Leave the files of an extract where they are; the run will end red."""
    done = {each["path"] for each in run.report.set_aside}
    for file in extract.files:
        if file.path not in done:
            ingest.set_aside(run, BadFile(file.path, reason))


def _take_rows(
    run: TableRun, batch: ingest.Batch, rows: ingest.Rows, taken: Inputs
) -> bool:
    good = quarantine.good_rows(rows.numbered)
    if not taken.all:
        events, compared = good, None
    else:
        compared = _compared(run, batch, rows, taken).persist()
        events = _events(run, batch, compared, snapshot.last_taken(taken))
    try:
        if not run.dry_run:
            if rows.counted.bad:
                quarantine.keep(run, rows.numbered)
            ingest.commit(run, batch, events, taken)
    finally:
        if compared is not None:
            compared.unpersist()
    run.report.add_files(batch.files)
    return not run.dry_run


def _compared(
    run: TableRun, batch: ingest.Batch, rows: ingest.Rows, taken: Inputs
) -> DataFrame:
    """Every row of the extract and every absent key, with what became of it."""
    names = [name for name, _ in batch.columns]
    good = quarantine.good_rows(rows.numbered).select(*log_columns(batch.columns))
    state = _state(run, batch.columns, taken)
    compared = snapshot.changes(good, state, run.spec, names)
    if not rows.counted.bad:
        return compared
    bad = quarantine.bad_rows(rows.numbered)
    if not bad.where(any_null(run.spec.key)).isEmpty():
        run.report.warnings.append(
            "absence was not applied: the key of a quarantined row cannot be read"
        )
        return snapshot.held(compared, F.lit(True))
    # A quarantined row counts as present.
    keys = bad.select(KEY).distinct().withColumn("lake_bad", F.lit(True))
    return snapshot.held(compared.join(keys, KEY, "left"), F.col("lake_bad")).drop(
        "lake_bad"
    )


def _state(run: TableRun, columns: List[Tuple[str, str]], taken: Inputs) -> DataFrame:
    """The living rows as of the extract before."""
    stored = folded_current(run, taken) if taken.redo else run.current.read()
    mark = run.spec.history.columns.is_deleted
    if mark in stored.columns:
        stored = stored.where(~F.col(mark))
    values = [
        F.col(name) if name in stored.columns else F.lit(None).cast(kind).alias(name)
        for name, kind in columns
    ]
    return stored.select(KEY, *values, F.lit(True).alias("lake_known"))


def _events(
    run: TableRun, batch: ingest.Batch, compared: DataFrame, previous: datetime
) -> DataFrame:
    """Upserts and derived deletes; the batch's accounting is settled here."""
    extract = batch.extract
    counts = _counts(compared)
    known = sum(each.get(what, 0) for each in counts.values() for what in _KNOWN)
    absent = counts.pop(None, {}).get("absent", 0)
    if not run.accepted.losses:
        snapshot.refuse_losses(known, absent, run.spec)
    _settle(batch.files, counts)
    upserts = compared.where(snapshot.UPSERTS)
    upserts = snapshot.dated(upserts, run.spec, extract, previous)
    deletes = snapshot.derived_deletes(compared, extract, run.spec)
    if run.spec.source.absence is Absence.DELETE:
        run.report.derived_deletes += absent
    return upserts.unionByName(deletes)


_KNOWN = ("changed", "unchanged", "absent", "held")
"""What can become of a row that lived as of the extract before."""


def _counts(compared: DataFrame) -> Dict[Optional[str], Dict[str, int]]:
    found: Dict[Optional[str], Dict[str, int]] = {}
    for row in compared.groupBy("lake_path", "lake_change").count().collect():
        found.setdefault(row.lake_path, {})[row.lake_change] = row["count"]
    return found


def _settle(
    files: List[FileReport], counts: Dict[Optional[str], Dict[str, int]]
) -> None:
    for each in files:
        mine = counts.get(each.path, {})
        each.unchanged = mine.get("unchanged", 0)
        each.duplicates = mine.get("duplicate", 0)
        each.accepted = mine.get("new", 0) + mine.get("changed", 0)
