"""Which messages of a topic are landed, and which are to be pulled.

A landing file is named `<topic id>/<partition>/<first>-<last>.json.gz` by the range
of offsets that was read for it, whether it has rows or not, or whose loss was accepted.
So what is landed is known from names alone, also from those of files that were ingested
and are no longer there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Dict, Iterable, Iterator, List, Tuple

_NAME = re.compile(r"(?:.*/)?(?:-(?=_))?([\w-]{22})/(\d+)/(\d+)-(\d+)\.json\.gz")


@dataclass(frozen=True)
class Range:
    """Messages of one partition: offsets from `first` to `last`, both included."""

    partition: int
    first: int
    last: int

    def path(self, topic_id: str) -> str:
        """Return the name of its landing file, below the folder of the changes.

        One id in 64 begins with `_`: a folder of that name is taken by no run.
        """
        folder = f"-{topic_id}" if topic_id.startswith("_") else topic_id
        return f"{folder}/{self.partition}/{self.first}-{self.last}.json.gz"


@dataclass(frozen=True)
class Partition:
    """A partition as its brokers hold it: offsets from `begin` up to before `end`."""

    number: int
    begin: int
    end: int


@dataclass(frozen=True)
class Landed:
    """The next offset of each partition of each topic id that was ever landed."""

    next: Dict[Tuple[str, int], int]

    @property
    def topic_ids(self) -> List[str]:
        """Return the ids of the topics; a topic that is made again has another one."""
        return sorted({id for id, _ in self.next})

    def after(self, topic_id: str, partition: Partition) -> int:
        """Return the offset to go on at: the first held where nothing was landed."""
        return self.next.get((topic_id, partition.number), partition.begin)


def landed(paths: Iterable[str]) -> Landed:
    """Return what the names of landing files say."""
    after: Dict[Tuple[str, int], int] = {}
    for path in paths:
        named = _NAME.fullmatch(path)
        if named:
            at = (named.group(1), int(named.group(2)))
            after[at] = max(after.get(at, 0), int(named.group(4)) + 1)
    return Landed(after)


def expired(
    done: Landed, topic_id: str, partitions: Iterable[Partition]
) -> List[Tuple[Partition, int]]:
    """Return partitions that no longer hold the offset to go on at, with that offset."""
    return [
        (each, done.after(topic_id, each))
        for each in partitions
        if not each.begin <= done.after(topic_id, each) <= each.end
    ]


def gone(done: Landed, topic_id: str, partitions: Iterable[Partition]) -> List[Range]:
    """Return the offsets that expired before they were landed."""
    lost = expired(done, topic_id, partitions)
    return [
        Range(each.number, wanted, each.begin - 1)
        for each, wanted in lost
        if wanted < each.begin
    ]


def ranges(
    done: Landed, topic_id: str, partitions: Iterable[Partition], most: int
) -> Iterator[Range]:
    """Yield what is to be pulled, in pieces of at most that many offsets.

    A partition that no longer holds the next offset begins with the first it holds.
    """
    for each in partitions:
        first = max(done.after(topic_id, each), each.begin)
        for start in range(first, each.end, most):
            yield Range(each.number, start, min(start + most, each.end) - 1)
