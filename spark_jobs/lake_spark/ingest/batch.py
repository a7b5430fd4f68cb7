"""The files of one log commit: what each is, and the columns that the table has with them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Callable, Dict, Iterator, List, Optional, Sequence, Tuple

from pyspark import inheritable_thread_target

from lake_spec.diagnostics.warnings import WarningId
from lake_spec.model import Json
from lake_spec.state.report import FileReport
from lake_spark.errors import BadFile
from lake_spark.formats.file_schema import Shape
from lake_spark.formats.inference import shape_of, with_texts, with_values
from lake_spark.formats.schema_evolution import (
    columns_with,
    name_warnings,
    unknown_columns,
)
from lake_spark.ingest import full_refresh
from lake_spark.ingest.set_aside import refuse_known, set_known_aside
from lake_spark.ingest.source_kind import kind_of
from lake_spark.landing.files import first_shown, LandingFile, value_in_path
from lake_spark.landing.ingested_files import IngestedFiles, LogContents
from lake_spark.reading import enrichment
from lake_spark.reading.reader import Input
from lake_spark.reading.row_expressions import refuse_mismatch
from lake_spark.schema.columns import Columns
from lake_spark.snapshots.source_snapshot import SourceSnapshot
from lake_spark.tables.erased_keys import LeftOut
from lake_spark.tables.table_run import FileRun, table_columns

LOOKS_AT_ONCE = 16
"""Files whose first bytes are read side by side: each waits for the store, not for a core."""


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


def known_columns(run: FileRun) -> Columns:
    """Return the table's columns before this batch."""
    return enrichment.with_given(run, table_columns(run.spec, run.log))


def batch_of(
    run: FileRun, files: Sequence[LandingFile], ingested: IngestedFiles
) -> Batch:
    """Return the good files with their shapes, and the columns that they lead to."""
    columns = known_columns(run)
    good: List[Input] = []
    for file, looked in looked_into(run, files):
        try:
            found, columns = input_of(run, file, looked, columns, ingested)
        except BadFile as bad:
            set_known_aside(run, file, bad)
            continue
        good.append(found)
    warn_of_names(run, good)
    return Batch(good, columns)


Look = Callable[[], Shape]
"""Gives the columns of a file once they are known. Raises BadFile for a bad one."""


def looked_into(
    run: FileRun, files: Sequence[LandingFile]
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


def _shape_of(run: FileRun, file: LandingFile) -> Shape:
    """Return a file's columns. Raises BadFile where it cannot be ingested."""
    refuse_known(run, file)
    return shape_of(run.spark, run.store, file, run.spec)


def input_of(
    run: FileRun,
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


def _with_values(
    run: FileRun, file: LandingFile, shape: Shape, columns: Columns
) -> Optional[Shape]:
    """Return which columns of a JSON file have values, if some of them are new.

    Null has no type.
    """
    adds = run.spec.source.new_columns.adds
    is_json = isinstance(run.spec.source.format, Json)
    if adds and is_json and unknown_columns(run.spec, shape, columns):
        return with_values(run.spark, run.store, file, run.spec)
    return None


def warn_of_names(run: FileRun, inputs: Sequence[Input]) -> None:
    """Report columns that are stored under other names, with the first file of each."""
    warnings: Dict[Tuple[WarningId, str], str] = {}
    for each in inputs:
        for warning in name_warnings(run.spec, each.shape):
            warnings.setdefault(warning, each.file.path)
    for (id, words), path in warnings.items():
        run.report.warn(id, f"{path}: {words}")
