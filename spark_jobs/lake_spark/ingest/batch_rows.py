"""The rows of a batch, read and counted by one pass; files of it that are bad."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Dict, List, Optional, Sequence, Tuple

from pyspark.sql import DataFrame
from pyspark.storagelevel import StorageLevel

from lake_spec.model import Csv, Json
from lake_spark.errors import BadFile, first_line, UnreadableFile
from lake_spark.formats import compression, csv_reader, csv_text, json_reader
from lake_spark.formats.file_schema import Shape
from lake_spark.formats.inference import head_of
from lake_spark.ingest import lacking_columns
from lake_spark.ingest.batch import Batch, batch_of, known_columns
from lake_spark.ingest.rewritten_files import known_contents
from lake_spark.ingest.set_aside import Reasons, set_inputs_aside
from lake_spark.landing.files import LandingFile
from lake_spark.reading import repeated_keys
from lake_spark.reading.accounting import count_rows, number_records, RowCounts
from lake_spark.reading.quality_rules import counted_rules
from lake_spark.reading.reader import file_name, Input, read_inputs
from lake_spark.storage.halves import by_halves
from lake_spark.tables.erased_keys import Erased, IsErased, left_out, without
from lake_spark.tables.table_run import FileRun


@dataclass
class Rows:
    """The rows of a batch, numbered, and what one pass over them counted."""

    kept: DataFrame
    numbered: DataFrame
    counted: RowCounts

    def release(self) -> None:
        """Release the memory of the rows."""
        self.kept.unpersist()


def read_rows(run: FileRun, batch: Batch) -> Optional[Rows]:
    """Read the batch's rows and counts, but for rows of erased keys.

    Bad files are set aside and the rest is read again; None when no file is left.
    """
    return _without_bad(run, batch, read_once)


def read_all(run: FileRun, batch: Batch) -> Optional[Rows]:
    """Read the same of all files that can be read, rows of erased keys too."""
    return _without_bad(run, batch, _read)


def read_once(run: FileRun, batch: Batch) -> Tuple[Optional[Rows], Reasons]:
    """Read the batch's rows as `read_rows` does; return why files of it are bad.

    Nothing is reported or set aside. There are no rows where one cannot be read.
    """
    erased = known_contents(run)
    is_erased = _matcher(run, erased)
    rows, reasons = _read(run, batch)
    if rows is None:
        return None, reasons
    lacking = lacking_columns.refusals(run, batch, rows.counted)
    if reasons or lacking or is_erased is None:
        return rows, {**reasons, **lacking}
    return _without_erased(run, batch, rows, erased, is_erased), {}


def _read(run: FileRun, batch: Batch) -> Tuple[Optional[Rows], Reasons]:
    reasons, held = _broken(run, batch.inputs)
    if reasons:
        return None, reasons
    try:
        rows = _read_and_count(run, batch)
    except Exception:  # Spark wraps a bad file in many kinds of error
        reasons = _unreadable(run, batch)
        if not reasons:
            raise
        return None, reasons
    return rows, _miscounted(batch.inputs, rows.counted, held)


def _without_bad(
    run: FileRun,
    batch: Batch,
    read: Callable[[FileRun, Batch], Tuple[Optional[Rows], Reasons]],
) -> Optional[Rows]:
    while batch.inputs:
        rows, reasons = read(run, batch)
        if not reasons:
            return rows
        if rows is not None:
            rows.release()
        set_inputs_aside(run, batch.inputs, reasons)
        _go_on_with(run, batch, [e for e in batch.inputs if e.file.path not in reasons])
    return None


def _go_on_with(run: FileRun, batch: Batch, good: Sequence[Input]) -> None:
    """Leave out the other files, and the columns that only they would bring."""
    batch.inputs = list(good)
    if good and batch.columns != known_columns(run):
        again = batch_of(run, [each.file for each in good], run.ingested_files())
        batch.inputs, batch.columns = again.inputs, again.columns


def _matcher(run: FileRun, erased: Erased) -> Optional[IsErased]:
    if not any(erased.by_check.values()):
        return None
    return run.erased_keys.matcher(run.environment.erase_secret, erased)


def _without_erased(
    run: FileRun,
    batch: Batch,
    rows: Rows,
    erased: Erased,
    is_erased: IsErased,
) -> Rows:
    files = [each.file for each in batch.inputs]
    batch.left_out = left_out(erased, files, rows.numbered, is_erased)
    rows.numbered = without(rows.numbered, batch.left_out)
    rows.counted = rows.counted.without(
        batch.left_out, rows.numbered, counted_rules(run.spec)
    )
    return rows


def _read_and_count(run: FileRun, batch: Batch) -> Rows:
    """Read and count; again where keys are repeated, which only all rows can say.

    The second time each bad row has its raw record.
    """
    rows = _counted(run, batch)
    try:
        repeated = repeated_keys.find(rows.kept, run.spec, batch.columns)
    except Exception:
        rows.release()
        raise
    if repeated is None:
        return rows
    rows.release()
    try:
        return _counted(run, batch, repeated)
    finally:
        repeated.unpersist()


def _counted(run: FileRun, batch: Batch, repeated: Optional[DataFrame] = None) -> Rows:
    kept = read_inputs(run.spark, run.spec, batch.inputs, batch.columns, repeated)
    kept = kept.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        counted = count_rows(kept, counted_rules(run.spec))
        return Rows(kept, number_records(kept, counted), counted)
    except Exception:
        kept.unpersist()
        raise


def _broken(run: FileRun, inputs: Sequence[Input]) -> Tuple[Reasons, Dict[str, int]]:
    """Return why files of text are broken, and how many records each of the others holds.

    Those of JSON lines are not among them: each line is judged by itself.
    """
    kind = run.spec.source.format
    files = {file_name(run.spark, each.file): each.file for each in inputs}
    if not files:
        return {}, {}
    if isinstance(kind, Csv):
        reasons, counts = _broken_csv(run, kind, files)
    elif isinstance(kind, Json) and kind.is_array:
        uris = {name: file.uri for name, file in files.items()}
        reasons, counts = json_reader.check_arrays(run.spark, uris)
    else:
        return {}, {}
    return (
        {files[name].path: why for name, why in reasons.items()},
        {files[name].path: count for name, count in counts.items()},
    )


def _broken_csv(
    run: FileRun, kind: Csv, files: Dict[str, LandingFile]
) -> Tuple[Reasons, Dict[str, int]]:
    marks: Dict[str, bytes] = {}
    reasons: Reasons = {}
    for name, file in files.items() if csv_text.needs_mark(kind) else ():
        try:
            marks[name] = head_of(run.spark, run.store, file)
        except BadFile as bad:
            reasons[name] = type(bad), bad.reason
    uris = {name: file.uri for name, file in files.items() if name not in reasons}
    checked = csv_reader.check(run.spark, kind, uris, marks)
    return {**reasons, **checked.reasons}, checked.records


def _miscounted(
    inputs: Sequence[Input], counted: RowCounts, held: Dict[str, int]
) -> Reasons:
    """Return why files are bad of which not every record was read."""
    read = {path: 0 for path in held}
    for row in counted.splits:
        if row.lake_path in read:
            read[row.lake_path] += row.records
    paths = [e.file.path for e in inputs if e.file.path in held]
    return {
        path: (UnreadableFile, csv_text.miscounted(read[path], held[path]))
        for path in paths
        if read[path] != held[path]
    }


def _unreadable(run: FileRun, batch: Batch) -> Reasons:
    """Try the files of each shape; return why those are bad that Spark cannot read."""
    of_shapes: Dict[Shape, List[Input]] = {}
    for each in batch.inputs:
        of_shapes.setdefault(each.shape, []).append(each)
    reasons: Reasons = {}

    def read(tried: Sequence[Input]) -> None:
        _counted(run, Batch(list(tried), batch.columns)).release()

    def refuse(tried: Input, error: Exception) -> None:
        reasons[tried.file.path] = UnreadableFile, _cause(run, error)

    for group in of_shapes.values():
        list(by_halves(group, read, refuse))
    return reasons


def _cause(run: FileRun, error: Exception) -> str:
    words = first_line(error)
    if "EOFException" in words:
        words = f"it is cut: it ends within a record ({words})"
    named = csv_text.too_large(error) or compression.cause(words)
    return named or (
        f"cannot be read: {words}. If the file is damaged or not of the format "
        f"{run.spec.source.format.type}, land it again or remove it."
    )
