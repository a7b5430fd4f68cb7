"""The affected keys and all their deliveries: looked for in the change log once.

Current is built by the stage that takes files in, history by the stage after it. Both
need the same deliveries, and looking for them is what grows with the log. So what was
found is left next to the tables, and taken from there by the next stage. It is a
copy of committed rows, named by the commits that it lies between: where it is missing,
of other commits or too large to be left, the log is read.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Iterator, Optional, Tuple

from pyspark.sql import DataFrame

from lake_spec.hudi.layout import HUDI_COLUMNS
from lake_spark.changelog import retractions
from lake_spark.materialize import difference, previous_rows, single_event
from lake_spark.materialize.difference import SingleEvents
from lake_spark.materialize.pending import Pending
from lake_spark.scd2.events import KEY
from lake_spark.schema.columns import Columns, typed
from lake_spark.schema.spark_types import with_types
from lake_spark.storage.commit_values import CommitValue
from lake_spark.storage.hudi_table import HudiTable
from lake_spark.storage.parquet_file import by_footer
from lake_spark.storage.session import session_for
from lake_spark.storage.spark_jobs import cache_until
from lake_spark.tables.table_run import FileRun

MOST_KEYS = 200_000
"""Deliveries of more keys are not left: to write and read them costs as much."""

_UNUSED = tuple(name for name in HUDI_COLUMNS if name != retractions.COMMIT)
"""What Hudi adds to each row and nothing here asks for."""

_DONE = "/_SUCCESS"
Found = Tuple[DataFrame, DataFrame]  # deliveries, keys


@dataclass(frozen=True)
class AffectedKeys:
    """The affected keys, and all live deliveries of them.

    `is_folded` says whether the deliveries say what the table holds of them. `single_events`
    are, in a build of all keys, those that are the only ones of their keys
    (materialize/single_event.py), and then `deliveries` are the others.
    """

    keys: DataFrame
    deliveries: DataFrame
    is_folded: bool = False
    single_events: Optional[SingleEvents] = None


@contextmanager
def find_affected(
    run: FileRun, table: HudiTable, waiting: Pending, columns: Columns
) -> Iterator[AffectedKeys]:
    """Yield what the log holds of the keys that are affected since the table was built.

    It is kept in memory while in use, but for a build of all keys.
    """
    with ExitStack() as kept:
        if waiting.since is None:
            all_rows = previous_rows.rows(run, table, waiting.ingested)
            deliveries, keys = read_from_log(run, waiting, columns, all_rows)
            several, only = single_event.split(run, waiting, deliveries, all_rows, kept)
            yield AffectedKeys(keys, several, single_events=only)
            return
        is_folded = previous_rows.is_folded(run, table, waiting.ingested)
        if is_folded:
            deliveries, keys = _left_or_in_log(run, table, waiting, columns)
        else:
            all_rows = previous_rows.rows(run, table, waiting.ingested)
            deliveries, keys = read_from_log(run, waiting, columns, all_rows)
        for each in (keys, deliveries):
            cache_until(each, kept)
        yield AffectedKeys(keys, deliveries, is_folded)


def clear(run: FileRun) -> None:
    """Remove what was left."""
    left = run.store.list(f"{run.home}/touched/")
    run.store.delete_all([each.uri for each in left])


def read_from_log(
    run: FileRun, waiting: Pending, columns: Columns, all_rows: int
) -> Found:
    """Read from the log; `all_rows` says how many there are at least."""
    spark = session_for(run.spark, rows=all_rows)
    read = run.log.read(spark).drop(*_UNUSED)
    log = retractions.judged(with_types(read, typed(columns)), waiting.ingested)
    return difference.deliveries_of(log, waiting.since, waiting.ingested.contents)


def _left_or_in_log(
    run: FileRun, table: HudiTable, waiting: Pending, columns: Columns
) -> Found:
    """Take what was left, or read the log and leave it there, unless it is too much.

    Only for tables that are folded: keys without any delivery count for the others.
    """
    left = _left(run, waiting, columns)
    if left is not None:
        return left
    built_rows = table.last_count(CommitValue.ROWS)
    found = read_from_log(run, waiting, columns, built_rows)
    if not _leave(run, found, waiting):
        return found
    left = _left(run, waiting, columns)
    assert left is not None, "what was just left is there"
    return left


def _leave(run: FileRun, found: Found, waiting: Pending) -> bool:
    """Write the deliveries next to the tables; return False if there are too many keys."""
    clear(run)
    deliveries, keys = found
    keys.persist()
    try:
        if keys.count() > MOST_KEYS:
            return False
        cores = run.spark.sparkContext.defaultParallelism
        rows = deliveries.coalesce(cores)
        rows.write.mode("overwrite").parquet(_folder(run, waiting))
        return True
    finally:
        keys.unpersist()


def _left(run: FileRun, waiting: Pending, columns: Columns) -> Optional[Found]:
    folder = _folder(run, waiting)
    files = run.store.list(f"{folder}/")
    if not any(each.uri.endswith(_DONE) for each in files):
        return None
    spark = session_for(run.spark, size=sum(each.size for each in files))
    part = next(each.uri for each in files if each.uri.endswith(".parquet"))
    left = by_footer(spark, part).parquet(folder)
    deliveries = with_types(left, typed(columns))
    return deliveries, deliveries.select(KEY).distinct()


def _folder(run: FileRun, waiting: Pending) -> str:
    return f"{run.home}/touched/{waiting.since}_{waiting.log_instant}"
