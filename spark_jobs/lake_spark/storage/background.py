"""Work for Spark beside other work: one plans its queries while the other runs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Callable, Iterator, TypeVar

from pyspark import inheritable_thread_target

Found = TypeVar("Found")


def nothing() -> None:
    """No work."""


@contextmanager
def beside(
    work: Callable[[], Found], *, done_first: bool = False
) -> Iterator[Callable[[], Found]]:
    """Begin work; what is yielded waits for it, and gives what it found or raises.

    It is of the same pool of Spark's scheduler, and has ended when this is left, so that
    nothing that it uses is taken away from it. With `done_first` it has before this
    is entered.
    """
    with ThreadPoolExecutor(max_workers=1) as pool:
        begun = pool.submit(inheritable_thread_target(work))
        if done_first:
            wait([begun])
        yield begun.result
