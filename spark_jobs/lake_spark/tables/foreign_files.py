"""Files among those of a table that were not written here: what they break, and a way out.

A writer of another format puts its files where Hudi's lie. Hudi takes each Parquet file of
a partition for one of its own: by its name it fails (a NullPointerException about a null
key), or shows rows that no run wrote. So a stage looks for such files before it reads the
tables. Nobody but their owner can say whether they are of use: they are named, and moved
where that is asked.
"""

from __future__ import annotations

from typing import Iterable, Iterator, List, Sequence, Tuple

from lake_spec.diagnostics.warnings import WarningId
from lake_spec.hudi.file_names import is_folder, is_foreign, is_taken_for_rows
from lake_spec.layout.published_tables import ICEBERG, ICEBERG_FOLDER
from lake_spec.layout.table_folders import layer_folder, moved_folder
from lake_spec.model import DimensionTable, ProductTable
from lake_spark import java
from lake_spark.errors import ForeignFiles, StageError
from lake_spark.landing.files import first_shown
from lake_spark.tables.table_run import HUDI_LAYERS, TableRun


def refuse(run: TableRun) -> None:
    """Raise ForeignFiles where Hudi takes files for rows of a table that it did not write.

    Looks at all tables that a stage reads or writes, by one listing of its own folder
    and one of each table that it is made of.
    """
    found = [uri for uri, path in _files_of_hudi(run) if is_taken_for_rows(path)]
    if found:
        raise ForeignFiles(
            f"{first_shown(found)}: Hudi did not write this, and takes it for rows of the "
            "table as long as it lies among the table's files. Run the DAG "
            f"{_domain(run, found)}_maintenance with the param move_foreign_files, then start "
            "the run again."
        )


def cause(run: TableRun, error: Exception) -> Exception:
    """Return the error, or what is behind one that is not ours: files that came meanwhile."""
    if not isinstance(error, StageError):
        try:
            refuse(run)
        except ForeignFiles as named:
            named.__cause__ = error
            return named
    return error


def move(run: TableRun) -> None:
    """Move foreign files out of the table's folders, and say where to."""
    found = among(run, [each.uri for each in run.store.list(f"{run.home}/")])
    if run.dry_run or not found:
        return
    place = moved_folder(run.environment.warehouse, run.spec.stored_as)
    run.check_lease()
    for uri in found:
        _rename(run, uri, f"{place}/{uri[len(run.home) + 1 :]}")
    run.warn(
        WarningId.FOREIGN_FILES_MOVED,
        f"{len(found)} file(s) that were not written by the pipeline lay in the table's "
        f"folder, and were moved below {place}/: first {found[0]}.",
    )


def among(run: TableRun, uris: Iterable[str]) -> List[str]:
    """Return those of the files below a table's folder that are foreign."""
    start = len(run.home) + 1
    return [uri for uri in uris if _is_foreign(run, uri[start:])]


def _is_foreign(run: TableRun, path: str) -> bool:
    """Return whether a path below a table's folder is of nothing that is written here."""
    folder, _, below = path.partition("/")
    if folder == ICEBERG:
        parts = below.split("/")
        is_ours = len(parts) == 3 and parts[1] == ICEBERG_FOLDER
        return not is_ours and not is_folder(path)
    is_of_hudi = folder != "current" or not run.spec.storage.is_plain
    return folder in HUDI_LAYERS and is_of_hudi and is_foreign(below)


def moved(run: TableRun) -> List[str]:
    """List the files that were moved out of the table's folder and are still there."""
    place = moved_folder(run.environment.warehouse, run.spec.stored_as)
    found = [each.uri for each in run.store.list(f"{place}/")]
    return [uri for uri in found if not is_folder(uri)]


def _files_of_hudi(run: TableRun) -> Iterator[Tuple[str, str]]:
    """Yield the files of the Hudi tables that a stage reads or writes.

    Each with its path below the folder of its Hudi table.
    """
    if not run.spec.storage.is_plain:
        for each in run.store.list(f"{run.home}/"):
            layer, _, path = each.uri[len(run.home) + 1 :].partition("/")
            if layer in HUDI_LAYERS:
                yield each.uri, path
    for folder in _read(run):
        for each in run.store.list(f"{folder}/"):
            yield each.uri, each.uri[len(folder) + 1 :]


def _read(run: TableRun) -> List[str]:
    """Return the folders of the Hudi tables of other specs that a stage reads."""
    spec, warehouse = run.spec, run.environment.warehouse
    if isinstance(spec, DimensionTable):
        tables = (spec.source.main, spec.source.joined)
        return [f"{run.of_table(each.table).home}/history" for each in tables]
    if isinstance(spec, ProductTable) and spec.source.plan is not None:
        inputs = [each for each in spec.source.plan.inputs if not each.is_plain]
        return [layer_folder(warehouse, e.folder_of, e.layer.value) for e in inputs]
    return []


def _domain(run: TableRun, uris: Sequence[str]) -> str:
    """Return the domain of the table that the first file lies in."""
    return uris[0][len(run.environment.warehouse) + 1 :].split("/", 1)[0]


def _rename(run: TableRun, uri: str, place: str) -> None:
    jvm = java.packages(run.spark)
    there, here = (jvm.org.apache.hadoop.fs.Path(each) for each in (uri, place))
    files = here.getFileSystem(java.hadoop_configuration(run.spark))
    files.mkdirs(here.getParent())
    if not files.rename(there, here):
        raise ForeignFiles(f"{uri} cannot be moved to {place}: a file may be there.")
