"""What one run costs: time, processor, calls of the store, files, memory."""

from __future__ import annotations

import os
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Dict, List, Sequence

from pyspark.sql import SparkSession

from lake_spark.storage.object_store import FolderStore

_TICKS = os.sysconf("SC_CLK_TCK")

Measured = Dict[str, float]

NAMES = {
    "seconds": "seconds",
    "cpu": "CPU seconds, of Python and Java",
    "calls": "calls of the store",
    "read": "bytes that the store read",
    "objects": "objects in the lake",
    "timeline": "bytes of timelines",
    "metadata": "bytes of metadata tables",
    "manifests": "bytes of manifests",
    "memory": "resident bytes of Python and Java",
}


class CountedStore(FolderStore):
    """A store that counts what it is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: Counter = Counter()
        self.bytes = 0

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name.startswith("_") or name in ("calls", "bytes") or not callable(found):
            return found

        def counted(*args: Any, **kwargs: Any) -> Any:
            self.calls[name] += 1
            given = found(*args, **kwargs)
            if name.startswith("read"):
                self.bytes += len(given)
            return given

        return counted


@dataclass(frozen=True)
class Meter:
    """Looks at a session, a store and the folders of a lake, before and after a run."""

    spark: SparkSession
    store: CountedStore
    roots: Sequence[Path]

    def now(self) -> Measured:
        """All that grows with time, and what there is."""
        java = int(self.spark._jvm.java.lang.ProcessHandle.current().pid())
        sums = [_process(pid) for pid in (os.getpid(), java)]
        return {
            "seconds": time.monotonic(),
            "cpu": sum(each["cpu"] for each in sums),
            "calls": sum(self.store.calls.values()),
            "read": self.store.bytes,
            "memory": sum(each["memory"] for each in sums),
            **self._files(),
        }

    def _files(self) -> Measured:
        found: Counter = Counter()
        for path in (e for root in self.roots for e in root.rglob("*") if e.is_file()):
            found["objects"] += 1
            parts, size = path.parts, path.stat().st_size
            if "metadata" in parts and ".hoodie" in parts:
                found["metadata"] += size
            elif ".hoodie" in parts:
                found["timeline"] += size
            elif "inputs" in parts:
                found["manifests"] += size
        return dict(found)


GROWING = ("seconds", "cpu", "calls", "read")
"""Measured as what a run adds; the others as what there is after it."""


def of_run(before: Measured, after: Measured) -> Measured:
    """What one run cost."""
    return {
        name: after.get(name, 0) - (before.get(name, 0) if name in GROWING else 0)
        for name in NAMES
    }


def _process(pid: int) -> Measured:
    text = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return {
        "cpu": (int(text[11]) + int(text[12])) / _TICKS,
        "memory": pages * os.sysconf("SC_PAGE_SIZE"),
    }


def table(runs: List[Measured]) -> List[str]:
    """Lines that compare the first runs with the last, by their medians."""
    few = max(1, min(50, len(runs) // 4))
    lines = [f"{'':42} {f'first {few}':>14} {f'last {few}':>14} {'ratio':>6}"]
    for name, words in NAMES.items():
        first, last = (
            median(each[name] for each in part) for part in (runs[:few], runs[-few:])
        )
        ratio = f"{last / first:.2f}" if first else "-"
        lines.append(f"{words:42} {first:14,.1f} {last:14,.1f} {ratio:>6}")
    return lines
