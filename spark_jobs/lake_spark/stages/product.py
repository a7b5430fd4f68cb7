"""product: brought up to its inputs; rebuild_product: made of them again."""

from __future__ import annotations

from itertools import chain
from typing import Iterator, Sequence

from lake_spec.hudi.options import newest_version_options
from lake_spec.model import ProductTable, TableType
from lake_spec.text.marked_values import row_value
from lake_spark.checks import table_checks
from lake_spark.errors import KeysNotErased
from lake_spark.product.build_product import build_product
from lake_spark.profiling import profile
from lake_spark.publish.publication import begin_again, publish
from lake_spark.stages.maintenance import compact_all, finish_killed
from lake_spec.hudi.file_names import data_file
from lake_spark.storage.commit_values import CommitValue
from lake_spark.storage.hudi_table import HudiTable
from lake_spark.storage.parquet_table import ParquetTable
from lake_spark.tables import catalog
from lake_spark.tables.table_run import TableRun

_UNFINISHED = "erase_unfinished"
"""An object of the table, there until older files and their versions are removed: a bucket
still keeps those of a file that a killed run removed."""


def product(run: TableRun, partitions: Sequence[str] = ()) -> None:
    """Write what its inputs changed, by one commit.

    What differs in these `partitions` for another reason is written by a second one.
    """
    _build(run, partitions=partitions)


def rebuild_product(run: TableRun) -> None:
    """Make all rows again, with the settings of today."""
    _build(run, rebuild=True)


def erase_of_inputs(run: TableRun) -> None:
    """Make all rows again if keys of an input were erased, and remove older files."""
    _build(run, only_erased=True)


def _build(
    run: TableRun,
    *,
    rebuild: bool = False,
    only_erased: bool = False,
    partitions: Sequence[str] = (),
) -> None:
    if not run.dry_run:
        _remove_erased(run)  # what a killed run left
    build_product(
        run.of_kind(ProductTable),
        rebuild=rebuild,
        only_erased=only_erased,
        partitions=partitions,
    )
    if not run.dry_run:
        catalog.register(run)
        publish(run, ("current",))
        _remove_erased(run)
        table_checks.without_commit(run, "current")


def _remove_erased(run: TableRun) -> None:
    """Remove files from before the newest commit, if it was made after an erase."""
    table = run.current
    if CommitValue.ERASED not in table.metadata_with(CommitValue.INPUTS_READ):
        return
    built = table.last_instant(CommitValue.INPUTS_READ) or ""
    unfinished = f"{run.home}/{_UNFINISHED}"
    if not any(_older_files(run, built)) and not run.store.list(unfinished):
        return
    run.store.write(unfinished, b"")
    profile.remove(run)  # its values may be those of an erased key
    if isinstance(table, ParquetTable):
        catalog.register(run)  # what it names until then is removed
        table.clean(keep=1)
    else:
        _remove_versions(run, table)
    run.store.delete_old_versions(f"{run.home}/")
    old = run.store.old_versions(f"{run.home}/")
    left = next(chain(old, _older_files(run, built)), None)
    if left:
        raise KeysNotErased(
            f"{run.spec.full_name}: {row_value(left)} is older than the erase of keys in its "
            "inputs and may still contain one. Start the run again."
        )
    run.store.delete(unfinished)


def _remove_versions(run: TableRun, table: HudiTable) -> None:
    """Remove all but the newest version of each file, and what is published of others."""
    finish_killed(run, "current", table)
    if run.spec.storage.type is TableType.MERGE_ON_READ:
        compact_all(run, table)
    table.clean(newest_version_options())
    table.drop_indexes()
    begin_again(run)


def _older_files(run: TableRun, instant: str) -> Iterator[str]:
    """Yield the files of rows from before a commit."""
    if isinstance(run.current, ParquetTable):
        yield from run.current.files_before(instant)
        return
    path = run.current.path
    for each in run.store.list(f"{path}/"):
        named = data_file(each.uri[len(path) + 1 :])
        if named is not None and named.instant < instant:
            yield each.uri
