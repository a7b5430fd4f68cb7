"""The proof of an erase: every file that is left is read, and none has a key.

Of what a bucket keeps of replaced and deleted files nothing may be left. Rows are
compared by their typed keys; files without rows are searched for the text of a key,
where that is long enough to mean something (text_match.py).
"""

from __future__ import annotations

import re
from typing import Callable, Dict, Iterable, Iterator, List, Optional, Sequence, Set

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lake_spec.hudi.layout import HUDI_COLUMNS, METADATA_FOLDER, METADATA_TABLE_FOLDER
from lake_spec.layout.published_tables import DELTA_FOLDER, ICEBERG_FOLDER
from lake_spec.text.marked_values import row_value
from lake_spark import java
from lake_spark.erasure import landing_files, quarantine
from lake_spark.erasure.avro_texts import avro_texts
from lake_spark.erasure.subjects import Subjects
from lake_spark.erasure.text_match import content_has
from lake_spark.errors import ForeignFiles, KeysNotErased
from lake_spark.landing.files import first_shown
from lake_spark.landing.ingested_file_parts import unpacked
from lake_spark.profiling.profile import uri_of
from lake_spark.scd2.events import KEY
from lake_spark.storage.parquet_file import by_footer, opened_parquet, schema_of
from lake_spark.tables import foreign_files
from lake_spark.tables.table_run import FileRun

_RECORD_KEY = HUDI_COLUMNS[2]
_LOG_FILE = re.compile(r"\.log\.\d+")
_ROWS = f"{KEY} string, {_RECORD_KEY} string"
_RAW = "lake_raw string"


def scan_files(run: FileRun, subjects: Subjects) -> int:
    """Return how many files were read; raise KeysNotErased naming those that have a key.

    Files of a landing root, which `tell_left` named, may have one.
    """
    # First: the versions were just removed, and others may replace landing files at any time.
    folders = [run.home] if run.landing_is_of_others else [run.home, run.landing]
    bad = [each for folder in folders for each in run.store.old_versions(f"{folder}/")]
    found = landing_files.find(run, subjects)
    found.release()
    if not run.landing_is_of_others:
        bad += [f"{run.landing}/{path}" for path in sorted(found.records)]
    of_table = [each.uri for each in run.store.list(f"{run.home}/")]
    files = [*of_table, *(each.uri for each in run.store.list(uri_of(run)))]
    foreign = [*foreign_files.among(run, of_table), *foreign_files.moved(run)]
    bad += _bad(run, subjects, sorted(set(files) - set(foreign)))
    if bad:
        raise KeysNotErased(
            f"{run.spec.full_name}: {len(bad)} file(s) may still contain an erased key, first "
            f"{row_value(bad[0])}. Start the run again with the same request."
        )
    if foreign:
        raise ForeignFiles(
            f"{run.spec.full_name}: no file that the pipeline wrote has an erased key. It "
            f"did not write {first_shown(foreign)}, and nobody knows what is in "
            "there. Look at these files and delete them, or run the DAG "
            f"{run.spec.domain}_maintenance with the param move_foreign_files first, and "
            "delete them then. After that start the run again with the same request."
        )
    return len(files) + len(found.batch.inputs)


def _bad(run: FileRun, subjects: Subjects, files: Sequence[str]) -> List[str]:
    """List the files of the table that hold a key, or that cannot be vouched for."""
    unread = {uri for uri in files if _is_unread(uri)}
    parquet = {uri for uri in files if uri.endswith(".parquet")} - unread
    of_rows = {uri for uri in parquet if not _is_metadata(uri)}
    kept_bad = {uri for uri in of_rows if uri.startswith(f"{run.home}/quarantine/")}
    bad = unread | _with_keys(run, subjects, of_rows - kept_bad)
    bad |= {uri for uri in of_rows if _footer_has(run, uri, subjects)}
    bad |= _with_raw_records(run, subjects, kept_bad)
    for alike in _by_schema(run, parquet - of_rows):
        bad |= _with_values(run, subjects, alike)
    texts = sorted(set(files) - parquet - unread)
    is_there = subjects.in_text()
    bad |= {u for u in texts if _is_named(run, u, is_there)}
    return sorted(bad)


def _is_metadata(uri: str) -> bool:
    """Return whether a Parquet file is of a timeline or of a Delta log."""
    return f"/{METADATA_FOLDER}/" in uri or f"/{DELTA_FOLDER}/" in uri


def _is_named(run: FileRun, uri: str, is_there: Callable[[str], bool]) -> bool:
    """Return whether a file names a subject, of Iceberg's manifests any value of them."""
    content = run.store.read(uri)
    if f"/{ICEBERG_FOLDER}/" in uri and uri.endswith(".avro"):
        try:
            return any(map(is_there, avro_texts(run.spark, content)))
        except java.Py4JJavaError:  # is no whole Avro file: nobody knows what it has
            return True
    return content_has(unpacked(content), is_there)


def _is_unread(uri: str) -> bool:
    """Return whether a file is a log file or an index, of which an erase leaves none."""
    name = uri.rsplit("/", 1)[-1]
    return f"/{METADATA_TABLE_FOLDER}/" in uri or bool(_LOG_FILE.search(name))


def _with_keys(run: FileRun, subjects: Subjects, uris: Set[str]) -> Set[str]:
    """Find the files of rows, of whatever version, that have a key of a subject."""
    if not uris:
        return set()
    rows = run.spark.read.schema(_ROWS).parquet(*sorted(uris))
    return _files_of(subjects.of(rows.withColumn("uri", F.input_file_name())), uris)


def _with_raw_records(run: FileRun, subjects: Subjects, uris: Set[str]) -> Set[str]:
    """Find the files of the quarantine that have a record of a subject."""
    if not uris:
        return set()
    rows = run.spark.read.schema(_RAW).parquet(*sorted(uris))
    with_uris = rows.withColumn("uri", F.input_file_name())
    return _files_of(quarantine.of(run, subjects, with_uris), uris)


def _by_schema(run: FileRun, uris: Set[str]) -> Iterable[Set[str]]:
    """Return metadata files in sets whose footers have the same schema.

    Those of timelines have Hudi's; each checkpoint of Delta has that of its version.
    """
    alike: Dict[str, Set[str]] = {}
    for uri in sorted(uris):
        alike.setdefault(schema_of(run.spark, uri).json(), set()).add(uri)
    return alike.values()


def _with_values(run: FileRun, subjects: Subjects, uris: Set[str]) -> Set[str]:
    """Find the files of old commits that have the text of a key in any column."""
    first, *_ = uris
    rows = by_footer(run.spark, first).parquet(*sorted(uris))
    text = F.concat_ws(" ", *[F.col(name).cast("string") for name in rows.columns])
    is_named = F.udf(subjects.in_text(), "boolean")
    found = rows.withColumn("uri", F.input_file_name()).where(is_named(text))
    return _files_of(found, uris)


def _files_of(rows: DataFrame, uris: Set[str]) -> Set[str]:
    """Return the URIs, as we spell them, of the files that these rows are in."""
    names = {
        row.uri.rsplit("/", 1)[-1] for row in rows.select("uri").distinct().collect()
    }
    return {uri for uri in uris if uri.rsplit("/", 1)[-1] in names}


def _footer_has(run: FileRun, uri: str, subjects: Subjects) -> bool:
    """Return whether a file's footer has a subject as its least or greatest key."""
    with opened_parquet(run.spark, uri) as reader:
        extremes = _extremes(reader.getFooter())
        return any(text in subjects.record_keys for text in extremes)


def _extremes(footer: java.JavaObject) -> Iterator[str]:
    """Yield least and greatest keys, of Hudi's note of the file and each column chunk."""
    noted = footer.getFileMetaData().getKeyValueMetaData()
    for name in ("hoodie_min_record_key", "hoodie_max_record_key"):
        yield from _up_to_path(noted.get(name))
    for block in footer.getBlocks():
        for column in block.getColumns():
            if column.getPath().toDotString() in (KEY, _RECORD_KEY):
                found = column.getStatistics()
                if found is not None and found.hasNonNullValue():
                    yield from _up_to_path(found.minAsString())
                    yield from _up_to_path(found.maxAsString())


def _up_to_path(text: Optional[str]) -> Iterator[str]:
    """Yield a record key's first part, which is the row's key: no key has a comma."""
    if text is not None:
        yield text.split(",")[0]
