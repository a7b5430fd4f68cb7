"""Unseen landing files into the change log: exactly once, fully accounted."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import (
    Callable,
    Dict,
    FrozenSet,
    Iterator,
    List,
    Optional,
    Sequence,
    Tuple,
)

from pyspark import inheritable_thread_target
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.storagelevel import StorageLevel

from lake_spec.diagnostics.warnings import WarningId
from lake_spec.facts.pull_folders import pulled_folders
from lake_spec.hudi.options import Operation
from lake_spec.model import Csv, Json, MissingColumns
from lake_spec.state.report import FileReport
from lake_spec.text.globs import glob_pattern
from lake_spark.changelog.retractions import retract_rows
from lake_spark.changelog.schema import log_columns, LogColumn, UPSERT
from lake_spark.checks import table_checks
from lake_spark.checks.checked_rows import CheckedRows
from lake_spark.errors import (
    BadFile,
    BadFileReason,
    ChangedWhileRead,
    first_line,
    shortened,
    UnreadableFile,
    WrongColumns,
)
from lake_spark.formats import compression, csv_reader, csv_text, json_reader
from lake_spark.formats.file_schema import Shape
from lake_spark.formats.inference import (
    all_globs,
    head_of,
    is_load,
    shape_of,
    with_texts,
    with_values,
)
from lake_spark.formats.missing_columns import missing_columns
from lake_spark.formats.schema_evolution import (
    columns_with,
    name_warnings,
    unknown_columns,
)
from lake_spark.ingest import full_refresh, same_content
from lake_spark.ingest.rewritten_files import compared, known_contents, refuse_lost_list
from lake_spark.ingest.source_kind import kind_of
from lake_spark.landing.files import (
    LandingFile,
    Listing,
    first_shown,
    look,
    moved_on,
    shown,
    value_in_path,
)
from lake_spark.landing.ingested_files import IngestedFiles, LogContents
from lake_spark.reading import enrichment, quarantine, repeated_keys
from lake_spark.reading.accounting import RowCounts, count_rows, number_records
from lake_spark.reading.quality_rules import counted_rules
from lake_spark.reading.reader import Input, file_name, read_inputs
from lake_spark.reading.row_expressions import narrow_paths, refuse_mismatch
from lake_spark.schema.columns import Columns
from lake_spark.snapshots.source_snapshot import SourceSnapshot
from lake_spark.storage.commit_values import CommitValue
from lake_spark.storage.halves import by_halves
from lake_spark.tables import recorded_reading, recorded_settings
from lake_spark.tables.erased_keys import Erased, IsErased, LeftOut, left_out, without
from lake_spark.tables.table_run import TableRun, table_columns


@dataclass
class Batch:
    """Files that are ingested by one log commit."""

    inputs: List[Input]
    columns: Columns
    of_snapshot: Optional[SourceSnapshot] = None
    files: List[FileReport] = field(default_factory=list)
    contents: LogContents = LogContents()
    left_out: LeftOut = field(default_factory=dict)
    newest_event: Optional[str] = None

    @property
    def snapshot(self) -> SourceSnapshot:
        """Return the snapshot that the files are; raise TypeError where they are none."""
        if self.of_snapshot is None:
            raise TypeError(f"files of no snapshot: {first_shown(self.paths)}")
        return self.of_snapshot

    @property
    def paths(self) -> List[str]:
        """Return the paths of the files."""
        return [each.file.path for each in self.inputs]


def unseen_files(
    run: TableRun, ingested: IngestedFiles, globs: Sequence[str]
) -> List[LandingFile]:
    """List the landing files of the run's window that no commit has ingested."""
    return unseen_of(run, ingested, landing_of(run, globs))


def unseen_of(
    run: TableRun, ingested: IngestedFiles, landing: Listing
) -> List[LandingFile]:
    """List the files of a listing that lie in the run's window and were never ingested."""
    warn_of_others(run, landing)
    if landing.files and not ingested.count:
        refuse_lost_list(run)
    ours = known_contents(run).etags
    same = compared(run)
    found = ingested.unseen(landing.files, run.spec.domain, ours, same)
    found = dated_files(run, found)
    files = [
        file for file in found if run.window.holds(file.snapshot_at or file.landed_at)
    ]
    if files:
        warn_of_reading(run, ingested)
    return files


def warn_of_reading(run: TableRun, ingested: IngestedFiles) -> None:
    """Report what is read otherwise from now on, also where that sets all files aside."""
    for words in recorded_reading.differences(run.spec, ingested):
        run.report.warn(WarningId.READING_CHANGED, words)


def landing_of(run: TableRun, globs: Sequence[str]) -> Listing:
    """List what lies below the table's landing folder; files are those of the globs."""
    return look(
        run.store,
        run.landing,
        globs,
        marker=kind_of(run.spec).completion_marker,
        pulled=pulled_folders(run.spec),
    )


def warn_of_others(run: TableRun, landing: Listing) -> None:
    """Report what no glob matches: of this table, or of others that share the folder."""
    if not landing.others:
        return
    known = [
        (f"{table.landed.path}/", glob_pattern(glob))
        for table in (run.spec, *run.domain_tables)
        if table.has_files
        for glob in all_globs(table)
    ]
    others = [
        path
        for path in landing.others
        if not any(
            glob.fullmatch(f"{run.spec.landed.path}/{path}"[len(folder) :])
            for folder, glob in known
            if f"{run.spec.landed.path}/{path}".startswith(folder)
        )
    ]
    if others:
        words = (
            f"{len(others):,} object(s) below {run.landing} match no pattern of the table "
            f"and were not ingested: {first_shown(sorted(others))}. Rename or move them, "
            "widen the glob in the spec, or begin their names with `_`."
        )
        run.report.warn(WarningId.UNMATCHED_FILES, words)


def dated_files(run: TableRun, files: Sequence[LandingFile]) -> List[LandingFile]:
    """Return the files with the times that they are of; set aside those without."""
    found, bad = kind_of(run.spec).dated(run, files)
    for each in bad:
        set_aside(run, each)
    return found


def set_aside(run: TableRun, bad: BadFile) -> None:
    """Leave a bad file where it is; the run will end red naming it."""
    set_path_aside(run, type(bad).__name__, bad.path, bad.reason)


def set_path_aside(run: TableRun, id: str, path: str, reason: str) -> None:
    """Report a file as set aside, with the id of the reason."""
    reason = shortened(reason, 2_000)
    if run.report.set_aside_file(id, path, reason):
        run.say(f"set aside {shown(path)}: {id}: {reason}")


def shaped(
    run: TableRun, files: Sequence[LandingFile], ingested: IngestedFiles
) -> Batch:
    """Return the good files with their shapes, and the columns that they lead to."""
    columns = known_columns(run)
    good: List[Input] = []
    for file, looked in looked_into(run, files):
        try:
            found, columns = input_of(run, file, looked, columns, ingested)
        except BadFile as bad:
            _set_aside_known(run, file, bad)
            continue
        good.append(found)
    warn_of_names(run, good)
    return Batch(good, columns)


LOOKS_AT_ONCE = 16
"""Files whose first bytes are read side by side: each waits for the store, not for a core."""


def _shape_of(run: TableRun, file: LandingFile) -> Shape:
    """Return a file's columns. Raises BadFile where it cannot be ingested."""
    _refuse_known(run, file)
    return shape_of(run.spark, run.store, file, run.spec)


Look = Callable[[], Shape]
"""Gives the columns of a file once they are known. Raises BadFile for a bad one."""


def looked_into(
    run: TableRun, files: Sequence[LandingFile]
) -> Iterator[Tuple[LandingFile, Look]]:
    """Yield each file with what waits for its shape; LOOKS_AT_ONCE are looked into."""
    with ThreadPoolExecutor(LOOKS_AT_ONCE) as pool:
        find = inheritable_thread_target(partial(_shape_of, run))
        looks = [pool.submit(find, file) for file in files]
        try:
            for file, begun in zip(files, looks):
                yield file, begun.result
        finally:  # who stops early waits for none that has not begun
            for begun in looks:
                begun.cancel()


def input_of(
    run: TableRun,
    file: LandingFile,
    looked: Look,
    columns: Columns,
    ingested: IngestedFiles,
) -> Tuple[Input, Columns]:
    """Return a file with its shape, and the columns that the table has with it.

    Raises BadFile where it cannot be ingested.
    """
    shape = looked()
    valued = _with_values(run, file, shape, columns)
    grown = columns_with(run.spec, file, shape, columns, valued)
    shape = with_texts(shape, run.spec, grown)
    refuse_mismatch(run.spec, shape, grown, file.path)
    started = full_refresh.start_of(run.spec, file.path)
    is_first = started is None and kind_of(run.spec).is_first(file, ingested)
    values = tuple(
        value_in_path(file.path, *each) for each in run.spec.path_columns.items()
    )
    return Input(file, shape, 0 if is_first else 1, started, values), grown


def warn_of_names(run: TableRun, inputs: Sequence[Input]) -> None:
    """Report columns that are stored under other names, with the first file of each."""
    warnings: Dict[Tuple[WarningId, str], str] = {}
    for each in inputs:
        for warning in name_warnings(run.spec, each.shape):
            warnings.setdefault(warning, each.file.path)
    for (id, words), path in warnings.items():
        run.report.warn(id, f"{path}: {words}")


def _with_values(
    run: TableRun, file: LandingFile, shape: Shape, columns: Columns
) -> Optional[Shape]:
    """Return which columns of a JSON file have values, if some of them are new.

    Null has no type.
    """
    adds = run.spec.landed.new_columns.adds
    is_json = isinstance(run.spec.landed.format, Json)
    if adds and is_json and unknown_columns(run.spec, shape, columns):
        return with_values(run.spark, run.store, file, run.spec)
    return None


def _set_aside_known(run: TableRun, file: LandingFile, bad: BadFile) -> None:
    """Set a file aside, and remember why for the later rounds of a continuous run."""
    run.earlier.known_bad[file.path, file.etag] = type(bad), bad.reason
    set_aside(run, bad)


def _refuse_known(run: TableRun, file: LandingFile) -> None:
    """Refuse a file of known content: it is not read again to find the same."""
    known = run.earlier.known_bad.get((file.path, file.etag))
    if known is not None:
        error, reason = known
        raise error(file.path, reason)


@dataclass
class Rows:
    """The rows of a batch, numbered, and what one pass over them counted."""

    kept: DataFrame
    numbered: DataFrame
    counted: RowCounts

    def release(self) -> None:
        """Release the memory of the rows."""
        self.kept.unpersist()


Reasons = Dict[str, BadFileReason]
"""Why files are bad, by their paths."""


def read_rows(run: TableRun, batch: Batch) -> Optional[Rows]:
    """Read the batch's rows and counts, but for rows of erased keys.

    Bad files are set aside and the rest is read again; None when no file is left.
    """
    return _without_bad(run, batch, read_once)


def read_all(run: TableRun, batch: Batch) -> Optional[Rows]:
    """Read the same of all files that can be read, rows of erased keys too."""
    return _without_bad(run, batch, _read)


def read_once(run: TableRun, batch: Batch) -> Tuple[Optional[Rows], Reasons]:
    """Read the batch's rows as `read_rows` does; return why files of it are bad.

    Nothing is reported or set aside. There are no rows where one cannot be read.
    """
    erased = known_contents(run)
    is_erased = _matcher(run, erased)
    rows, reasons = _read(run, batch)
    if rows is None:
        return None, reasons
    lacking = _lacking_declared(run, batch, rows.counted)
    if reasons or lacking or is_erased is None:
        return rows, {**reasons, **lacking}
    return _without_erased(run, batch, rows, erased, is_erased), {}


def _read(run: TableRun, batch: Batch) -> Tuple[Optional[Rows], Reasons]:
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
    run: TableRun,
    batch: Batch,
    read: Callable[[TableRun, Batch], Tuple[Optional[Rows], Reasons]],
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


def _matcher(run: TableRun, erased: Erased) -> Optional[IsErased]:
    if not any(erased.by_check.values()):
        return None
    return run.erased_keys.matcher(run.environment.erase_secret, erased)


def _without_erased(
    run: TableRun,
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


def _read_and_count(run: TableRun, batch: Batch) -> Rows:
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


def _counted(run: TableRun, batch: Batch, repeated: Optional[DataFrame] = None) -> Rows:
    kept = read_inputs(run.spark, run.spec, batch.inputs, batch.columns, repeated)
    kept = kept.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        counted = count_rows(kept, counted_rules(run.spec))
        return Rows(kept, number_records(kept, counted), counted)
    except Exception:
        kept.unpersist()
        raise


def _go_on_with(run: TableRun, batch: Batch, good: Sequence[Input]) -> None:
    """Leave out the other files, and the columns that only they would bring."""
    batch.inputs = list(good)
    if good and batch.columns != known_columns(run):
        again = shaped(run, [each.file for each in good], run.ingested_files())
        batch.inputs, batch.columns = again.inputs, again.columns


def known_columns(run: TableRun) -> Columns:
    """Return the table's columns before this batch."""
    return enrichment.with_given(run, table_columns(run.spec, run.log))


def _broken(run: TableRun, inputs: Sequence[Input]) -> Tuple[Reasons, Dict[str, int]]:
    """Return why files of text are broken, and how many records each of the others holds.

    JSON lines are not among them: each line is judged by itself.
    """
    kind = run.spec.landed.format
    is_array = isinstance(kind, Json) and kind.is_array
    if not (isinstance(kind, Csv) or is_array) or not inputs:
        return {}, {}
    files = {file_name(run.spark, each.file): each.file for each in inputs}
    if not isinstance(kind, Csv):
        uris = {name: file.uri for name, file in files.items()}
        reasons, counts = json_reader.check_arrays(run.spark, uris)
        return (
            {files[name].path: why for name, why in reasons.items()},
            {files[name].path: count for name, count in counts.items()},
        )
    marks: Dict[str, bytes] = {}
    reasons = {}
    for name, file in files.items() if csv_text.needs_mark(kind) else ():
        try:
            marks[name] = head_of(run.spark, run.store, file)
        except BadFile as bad:
            reasons[name] = type(bad), bad.reason
    uris = {name: file.uri for name, file in files.items() if name not in reasons}
    checked = csv_reader.check(run.spark, kind, uris, marks)
    reasons.update(checked.reasons)
    return (
        {files[name].path: why for name, why in reasons.items()},
        {files[name].path: count for name, count in checked.records.items()},
    )


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


def set_inputs_aside(run: TableRun, inputs: Sequence[Input], reasons: Reasons) -> None:
    """Set the files aside that are bad."""
    for each in inputs:
        if each.file.path in reasons:
            error, reason = reasons[each.file.path]
            _set_aside_known(run, each.file, error(each.file.path, reason))


def _lacking_declared(run: TableRun, batch: Batch, counted: RowCounts) -> Reasons:
    """Return why files are refused that lack a declared column, if the table says so."""
    if run.spec.landed.missing_columns is not MissingColumns.REFUSE:
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


def _warn_of_missing(run: TableRun, batch: Batch, counted: RowCounts) -> None:
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


def _lacking(run: TableRun, batch: Batch, each: Input, counted: RowCounts) -> List[str]:
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


def _unreadable(run: TableRun, batch: Batch) -> Reasons:
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


def _cause(run: TableRun, error: Exception) -> str:
    words = first_line(error)
    if "EOFException" in words:
        words = f"it is cut: it ends within a record ({words})"
    named = csv_text.too_large(error) or compression.cause(words)
    return named or (
        f"cannot be read: {words}. If the file is damaged or not of the format "
        f"{run.spec.landed.format.type}, land it again or remove it."
    )


def judge(run: TableRun, batch: Batch, rows: Rows, what: str) -> None:
    """Check what was read, and begin the accounting of its files."""
    refuse_moved_on(run, batch)
    examples = partial(quarantine.examples, run.spec, rows.numbered)
    account(run, batch, rows.counted, examples, what)
    full_refresh.refuse_losses(run, quarantine.good_rows(rows.numbered), batch.inputs)


def account(
    run: TableRun,
    batch: Batch,
    counted: RowCounts,
    find_examples: quarantine.Examples,
    what: str,
) -> None:
    """Check the counts of a batch's rows, and begin the accounting of its files."""
    quarantine.check_limits(run, counted, find_examples)
    _warn_of_missing(run, batch, counted)
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


def _snapshots(run: TableRun, batch: Batch, counted: RowCounts) -> FrozenSet[str]:
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


def refuse_moved_on(run: TableRun, batch: Batch) -> None:
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


def commit(
    run: TableRun, batch: Batch, events: DataFrame, ingested: IngestedFiles
) -> None:
    """Make one log commit: the events, which files they are from, which it retracts.

    A file that was set aside keeps the deliveries that it has.
    """
    ingested = ingested.sparing([each["path"] for each in run.report.set_aside])
    added = CheckedRows(lambda: events.where(F.col(LogColumn.OP) == UPSERT))
    checked = table_checks.before_commit(run, "changes", added)
    id = run.ingested_files_folder.save(inputs_of(run, batch, ingested))
    metadata = {**run.commit_metadata(), **checked, CommitValue.INPUTS: id}
    ours = events.select(*log_columns(batch.columns))
    if ingested.retracting:
        void = retract_rows(run.spark, ingested.retracting)
        ours = ours.unionByName(void, allowMissingColumns=True)
        run.report.retracted += [each.path for each in ingested.retracting]
    instant = run.log.write(ours, Operation.BULK_INSERT, metadata)
    run.report.commits["changes"] = instant
    table_checks.settle(run, "changes")
    run.say(f"change log commit {instant}")


def inputs_of(run: TableRun, batch: Batch, ingested: IngestedFiles) -> IngestedFiles:
    """Return what the commit of this batch will have ingested."""
    accounting = {each.path: each.__dict__ for each in batch.files}
    files = [each.file for each in batch.inputs]
    reading = recorded_reading.record(run.spec, ingested)
    settings = {**recorded_settings.of_log(run.spec), **reading}
    narrow = frozenset(
        path
        for each in batch.inputs
        for path in narrow_paths(run.spec, each.shape, batch.columns)
    )
    contents = batch.contents | LogContents(float_paths=narrow)
    known = same_content.checksums(run.store, files)
    newest = batch.newest_event
    return ingested.next(files, accounting, settings, contents, newest, known)


def commit_retractions(run: TableRun, ingested: IngestedFiles) -> None:
    """Make one log commit that ingests nothing: files that are gone are void."""
    columns = table_columns(run.spec, run.log)
    columns = [each for each in columns if each[0] in run.log.read().columns]
    commit(run, Batch([], columns), run.log.read().limit(0), ingested)
