"""Find the few of many files that Spark cannot read, which it does not name."""

from __future__ import annotations

from typing import Callable, Iterator, List, Sequence, TypeVar

from lake_spark.storage.session import NOT_OF_A_FILE

Item = TypeVar("Item")
Found = TypeVar("Found")


def by_halves(
    items: Sequence[Item],
    read: Callable[[Sequence[Item]], Found],
    refuse: Callable[[Item, Exception], None],
) -> Iterator[Found]:
    """Read the items together, by halves where that fails; yield what each reading found.

    `refuse` is given each item that cannot be read alone, with its error. One among N
    costs about twice the logarithm of N in readings, 35 for 100,000, of less and less.
    Raises what is no fault of an item (NOT_OF_A_FILE).
    """
    waiting: List[Sequence[Item]] = [items] if items else []
    while waiting:
        tried = waiting.pop()
        try:
            found = read(tried)
        except NOT_OF_A_FILE:
            raise
        except Exception as error:  # Spark wraps a bad file in many kinds of error
            half = len(tried) // 2
            if half:
                waiting += [tried[half:], tried[:half]]
            else:
                refuse(tried[0], error)
        else:
            yield found
