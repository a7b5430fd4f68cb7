"""Records of landing files erased in place: blank, under their old numbers.

A new content is made next to the table first, and read as every landing file is: it
must give the same rows but for the erased ones. Then it is put on the list, and
only then in the place of the old one. Decision 021.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Dict, List, Optional, Sequence, Set

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lake_spec.diagnostics.warnings import WarningId
from lake_spec.model import Avro, Csv, Json, Orc, Parquet
from lake_spec.text.marked_values import row_value
from lake_spark.changelog.schema import LogColumn
from lake_spark.erasure.columnar_files import blank_typed
from lake_spark.erasure.subjects import Subjects
from lake_spark.erasure.text_files import (
    NotBlanked,
    blank_csv,
    blank_array,
    blank_json,
    blanked,
    refuse_large,
)
from lake_spark.errors import NotErasable
from lake_spark.formats.inference import all_globs, shape_of
from lake_spark.ingest.batch import Batch, batch_of
from lake_spark.ingest.batch_accounting import refuse_moved_on
from lake_spark.ingest.batch_rows import read_all, Rows
from lake_spark.ingest.rewritten_files import compared, known_contents, sha256
from lake_spark.ingest.unseen_files import dated_files, landing_of
from lake_spark.landing.files import LandingFile, first_shown
from lake_spark.reading.reader import Input
from lake_spark.schema.columns import any_null
from lake_spark.schema.promotion import stored_type
from lake_spark.tables.erased_keys import Erased, Rewritten
from lake_spark.tables.table_run import FileRun


@dataclass(frozen=True)
class SubjectRecords:
    """The rows of the landing files, numbered, and which records are the subjects'."""

    batch: Batch
    rows: Optional[Rows]
    records: Dict[str, Set[int]]

    @property
    def count(self) -> int:
        """Return how many records."""
        return sum(map(len, self.records.values()))

    def release(self) -> None:
        """Release the memory of the rows."""
        if self.rows is not None:
            self.rows.release()


def find(run: FileRun, subjects: Subjects) -> SubjectRecords:
    """Read every landing file as it is ingested.

    Raise NotErasable where one cannot be read.

    A record whose key cannot be read is a subject's where it has the key as words.
    """
    files = [each for each in _listed(run) if each.size]
    files = dated_files(run, files)
    batch = batch_of(run, files, run.ingested_files())
    rows = read_all(run, batch)
    _refuse_unread(run)
    if rows is None:
        return SubjectRecords(batch, None, {})
    keyless = rows.numbered.where(any_null(run.spec.key))
    is_named = F.udf(subjects.named_in(), "boolean")
    named = keyless.where(is_named("lake_raw"))
    hits = subjects.of(rows.numbered, before=True).where(
        f"NOT ({any_null(run.spec.key)})"
    )
    records: Dict[str, Set[int]] = {}
    for found in (hits, named):
        for row in found.select(LogColumn.PATH, LogColumn.RECORD).collect():
            records.setdefault(row.lake_path, set()).add(row.lake_record)
    return SubjectRecords(batch, rows, records)


def _listed(run: FileRun) -> List[LandingFile]:
    """List the table's landing files; refuse another content under a known name."""
    ours = known_contents(run).etags
    files = landing_of(run, all_globs(run.spec)).files
    same = compared(run)
    run.ingested_files().unseen(files, run.spec.domain, ours, same)
    return files


def _refuse_unread(run: FileRun) -> None:
    unread = [f"{each['path']}: {each['reason']}" for each in run.report.set_aside]
    if unread:
        raise NotErasable(
            f"{run.spec.full_name}: {' '.join(unread[:3])} Nothing was erased, because it is "
            "unknown whose rows such a file has. Fix the file or remove it."
        )


def tell_left(run: FileRun, found: SubjectRecords) -> None:
    """Warn of the files of a landing root that have the subjects' records, and stay."""
    if found.records:
        paths = [f"{run.landing}/{path}" for path in sorted(found.records)]
        run.warn(
            WarningId.NOT_ERASED,
            f"{found.count:,} record(s) of the request stay in {len(paths)} landing "
            f"file(s) of others, first {first_shown(paths)}: nothing is written there, and "
            "no run takes rows of these keys in again. Ask those who write there to erase "
            "them.",
        )


def make(run: FileRun, found: SubjectRecords) -> Dict[str, str]:
    """Make contents without the records, next to the table: path -> URI.

    NotErasable where one cannot be made, before anything is changed.
    """
    inputs = {each.file.path: each for each in found.batch.inputs}
    return {
        path: _made(run, inputs[path], found, f"{_scratch(run)}{i}/{path}")
        for i, path in enumerate(sorted(found.records))
    }


def clear(run: FileRun) -> None:
    """Remove what was made next to the table, also by a run that was killed."""
    made = run.store.list(_scratch(run))
    run.store.delete_all([each.uri for each in made])


def _scratch(run: FileRun) -> str:
    return f"{run.home}/erasing/"


def _made(run: FileRun, each: Input, found: SubjectRecords, scratch: str) -> str:
    """Return the URI of the new content, which was read and compared."""
    file, records = each.file, found.records[each.file.path]
    kind = run.spec.source.format
    try:
        refuse_large(file.size)
        if isinstance(kind, (Avro, Orc, Parquet)):
            content = blank_typed(run, file.uri, records, f"{scratch}.folder")
        else:
            content = blanked(
                file.path,
                run.store.read(file.uri),
                lambda text: blank_records(run, text, records),
            )
    except (NotBlanked, UnicodeError) as error:
        raise _cannot(run, file, row_value(error)) from None
    run.store.write(scratch, content)
    _compare(run, replace(each, file=_at(run, file, scratch)), found)
    return scratch


def blank_records(run: FileRun, text: bytes, records: Set[int]) -> bytes:
    """Return the text with those records blank."""
    kind = run.spec.source.format
    if isinstance(kind, Csv):
        return blank_csv(text, records, kind)
    names = [
        (source, stored_type(column.type))
        for name, column in run.spec.columns
        for source in column.source or (name,)
    ]
    if isinstance(kind, Json) and kind.is_array:
        return blank_array(text, records, names)
    return blank_json(text, records, names)


def _at(run: FileRun, file: LandingFile, uri: str) -> LandingFile:
    (there,) = [each for each in run.store.list(uri) if each.uri == uri]
    return replace(file, uri=uri, size=there.size)


def _compare(run: FileRun, each: Input, found: SubjectRecords) -> None:
    """Raise NotErasable if the new content differs from the old one but in the erased."""
    path = each.file.path
    batch = replace(found.batch, inputs=[each])
    if shape_of(run.spark, run.store, each.file, run.spec) != each.shape:
        raise _cannot(run, each.file, "would have other columns")
    again = read_all(run, batch)
    if again is None:
        raise _cannot(run, each.file, "could not be read any more")
    try:
        assert found.rows is not None, "records of no rows"
        new, old = again.numbered, found.rows.numbered.where(
            F.col(LogColumn.PATH) == path
        )
        differing = _differing(old, new)
        others = set(differing) ^ found.records[path]
        keyed = new.where(F.col(LogColumn.RECORD).isin(*found.records[path]))
        if others or not keyed.where(f"NOT ({any_null(run.spec.key)})").isEmpty():
            raise _cannot(run, each.file, "would have other rows than the erased ones")
    finally:
        again.release()


def _differing(old: DataFrame, new: DataFrame) -> List[int]:
    """List the numbers of the records that are not the same in both."""
    sides = [
        rows.select(LogColumn.RECORD, F.to_json(F.struct("*")).alias(name))
        for rows, name in ((old, "old"), (new, "new"))
    ]
    both = sides[0].join(sides[1], LogColumn.RECORD, "full_outer")
    differing = both.where(~F.col("old").eqNullSafe(F.col("new")))
    return [row.lake_record for row in differing.select(LogColumn.RECORD).collect()]


def put(run: FileRun, made: Dict[str, str], found: SubjectRecords) -> None:
    """Put the list first, then the contents, then their ETags: a rerun fixes the rest."""
    erased = run.erased_keys.load()
    known = {path: run.ingested_files().find(path) for path in made}
    taken = {path: each.etag for path, each in known.items() if each}
    files = {each.file.path: each.file for each in found.batch.inputs}
    rewritten = {
        path: _rewritten(
            erased,
            files[path],
            taken,
            sha256(run.store.read(uri)),
            found.records[path],
        )
        for path, uri in made.items()
    }
    run.erased_keys.save(replace(erased, files={**erased.files, **rewritten}))
    refuse_moved_on(run, _only(found.batch, list(made)))
    for path, uri in made.items():
        run.store.write(files[path].uri, run.store.read(uri))
        run.say(f"erased {len(found.records[path]):,} record(s) of {path}")
    known_contents(run)


def _rewritten(
    erased: Erased,
    file: LandingFile,
    taken: Dict[str, str],
    sha256: str,
    records: Set[int],
) -> Rewritten:
    """Return what the list says of a file that is rewritten, perhaps once more."""
    before = erased.files.get(file.path)
    ours = before if before is not None and file.etag in before.etags else None
    blank = sorted(records.union(ours.records if ours else ()))
    return Rewritten(
        taken.get(file.path, file.etag),
        sha256,
        tuple(blank),
        ours.etags if ours else (),
    )


def _only(batch: Batch, paths: Sequence[str]) -> Batch:
    return replace(batch, inputs=[e for e in batch.inputs if e.file.path in paths])


def _cannot(run: FileRun, file: LandingFile, why: str) -> NotErasable:
    return NotErasable(
        f"{run.spec.full_name}: {file.path} has rows of a key to erase, and "
        f"{why}, so it was not rewritten. Land it again without them, reprocess it "
        f"({run.spec.domain}_reprocess, files={file.path}), then erase."
    )
