"""What a piece of work takes: seconds, bytes, files, jobs, memory; and work in turns."""

from __future__ import annotations

import os
import re
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Dict, List, Mapping, Sequence, Tuple

from py4j.java_gateway import JavaObject
from pyspark.sql import SparkSession


def nothing() -> None:
    """What is made ready before work that needs nothing."""


@dataclass(frozen=True)
class Work:
    """What is measured; what is made ready before it and checked after it, which is not."""

    do: Callable[[], object]
    ready: Callable[[], object] = nothing
    check: Callable[[], object] = nothing


Works = Dict[str, Work]
"""What is done in one round, by name, in its order."""


@dataclass(frozen=True)
class Measured:
    """One round: seconds, and what it asked of the storage.

    `read` and `written` are bytes through Hadoop's file systems, of this process and
    so of all its tasks. `files` are those that are new or changed afterwards: on S3
    each is one PUT, if it is smaller than a part of a multipart upload. Files that
    the work itself removes again, as markers, are not among them. `cpu` are the seconds
    of processors of this process and its JVM, `peak` is the most memory in bytes that the
    JVM had at once: it keeps what earlier work took. Linux alone has that, elsewhere it
    is 0.
    """

    seconds: float
    read: int
    written: int
    files: int
    jobs: int
    cpu: float
    peak: int


class Meter:
    """Measures work of one session on files below a folder."""

    def __init__(self, spark: SparkSession, root: Path) -> None:
        self._spark = spark
        self._root = root

    def measure(self, work: Callable[[], object]) -> Measured:
        """Do the work once, after earlier work's garbage was collected and what it
        wrote has reached the disk: else the next one pays for both."""
        self._spark._jvm.System.gc()
        os.sync()
        files, jobs, (read, written) = self._files(), self._jobs(), self._bytes()
        self._forget_peak()
        cpu, began = self._cpu(), time.monotonic()
        work()
        seconds, cpu = time.monotonic() - began, self._cpu() - cpu
        now_read, now_written = self._bytes()
        new = sum(files.get(name) != seen for name, seen in self._files().items())
        return Measured(
            seconds=seconds,
            read=now_read - read,
            written=now_written - written,
            files=new,
            jobs=self._jobs() - jobs,
            cpu=cpu,
            peak=self._peak(),
        )

    def in_turns(
        self, works_of: Callable[[int], Works], pairs: int, *, warm_up: int = 1
    ) -> Dict[str, List[Measured]]:
        """Do the works of each round in their order; the first rounds warm up.

        `works_of` is called with the number of the round, before any work of it.
        """
        found: Dict[str, List[Measured]] = {}
        for nth in range(pairs + warm_up):
            took = {}
            for name, work in works_of(nth).items():
                work.ready()
                took[name] = self.measure(work.do)
                work.check()
            say_round(nth, took, " (warming up)" if nth < warm_up else "")
            if nth >= warm_up:
                for name, each in took.items():
                    found.setdefault(name, []).append(each)
        return found

    def _files(self) -> Dict[str, Tuple[int, int]]:
        found = {}
        for path in self._root.rglob("*"):
            try:
                stat = path.stat()
            except FileNotFoundError:
                continue
            if path.is_file() and not path.name.endswith(".crc"):
                found[str(path)] = (stat.st_mtime_ns, stat.st_size)
        return found

    def _bytes(self) -> Tuple[int, int]:
        every = self._spark._jvm.org.apache.hadoop.fs.FileSystem.getAllStatistics()
        return (
            sum(each.getBytesRead() for each in every),
            sum(each.getBytesWritten() for each in every),
        )

    def _jobs(self) -> int:
        return self._spark._jsc.sc().dagScheduler().nextJobId()

    def _cpu(self) -> float:
        taken = self._handle().info().totalCpuDuration().get().toMillis()
        return time.process_time() + taken / 1000

    def _forget_peak(self) -> None:
        forget = Path(f"/proc/{self._handle().pid()}/clear_refs")
        if forget.exists():
            forget.write_text("5")

    def _peak(self) -> int:
        status = Path(f"/proc/{self._handle().pid()}/status")
        text = status.read_text() if status.exists() else ""
        found = re.search(r"VmHWM:\s+(\d+) kB", text)
        return int(found[1]) * 1024 if found else 0

    def _handle(self) -> JavaObject:
        return self._spark._jvm.java.lang.ProcessHandle.current()


def alternating(nth: int, *sides: Works) -> Works:
    """All sides, the last one first in every second round: none always comes after the
    same other one. The works of one side keep their order."""
    ordered = reversed(sides) if nth % 2 else sides
    return {name: work for side in ordered for name, work in side.items()}


def median(found: Sequence[Measured], of: str = "seconds") -> float:
    """The median of one kind of figure."""
    return statistics.median(getattr(each, of) for each in found)


def ratios(ours: Sequence[Measured], theirs: Sequence[Measured]) -> List[float]:
    """Seconds of ours over theirs, round by round, sorted."""
    return sorted(a.seconds / b.seconds for a, b in zip(ours, theirs))


def say_round(nth: int, took: Mapping[str, Measured], note: str = "") -> None:
    """A line with the seconds of each work of a round."""
    seconds = ", ".join(f"{name} {each.seconds:.1f} s" for name, each in took.items())
    say(f"round {nth}: {seconds}{note}")


def say(words: str) -> None:
    """A line of progress."""
    print(f"  {words}", file=sys.stderr, flush=True)
