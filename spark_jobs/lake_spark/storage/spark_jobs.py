"""Run Spark jobs in the background, and cache rows for as long as they are read."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from typing import Callable, Iterator, TypeVar

from pyspark import inheritable_thread_target
from pyspark.sql import DataFrame, Row
from pyspark.storagelevel import StorageLevel

Found = TypeVar("Found")


def row_of(total: DataFrame) -> Row:
    """Return the one row of an aggregate of all rows, which it has of no rows too."""
    (row,) = total.collect()
    return row


def nothing() -> None:
    """Do no work."""


@contextmanager
def in_background(
    work: Callable[[], Found], *, done_first: bool = False
) -> Iterator[Callable[[], Found]]:
    """Begin work while other jobs are planned; what is yielded waits for it.

    It gives what the work found, or raises. The work is of the same pool of Spark's
    scheduler, and has ended when this is left, so that nothing that it uses is taken away
    from it. With `done_first` it has ended before this is entered.
    """
    with ThreadPoolExecutor(max_workers=1) as pool:
        begun = pool.submit(inheritable_thread_target(work))
        if done_first:
            wait([begun])
        yield begun.result


def cache_until(rows: DataFrame, until: ExitStack) -> DataFrame:
    """Cache rows, from their first use on in memory or on disk, until that is left."""
    until.callback(rows.unpersist)
    return rows.persist(StorageLevel.MEMORY_AND_DISK)


def cache_now(rows: DataFrame, until: ExitStack) -> DataFrame:
    """Cache rows at once: a join with all of a table is then planned for how few they are."""
    kept = cache_until(rows, until)
    kept.write.format("noop").mode("overwrite").save()  # one job, where a count has two
    return kept
