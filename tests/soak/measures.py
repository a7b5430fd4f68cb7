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
    "memory": "bytes that Java holds, after a collection",
    "resident": "resident bytes of Python",
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
        own, javas = _process(os.getpid()), _process(java)
        return {
            "seconds": time.monotonic(),
            "cpu": own["cpu"] + javas["cpu"],
            "calls": sum(self.store.calls.values()),
            "read": self.store.bytes,
            "resident": own["memory"],
            **self._files(),
        }

    def held(self) -> float:
        """Bytes of Java's heap that something still refers to."""
        factory = self.spark._jvm.java.lang.management.ManagementFactory
        memory = factory.getMemoryMXBean()
        memory.gc()
        return float(memory.getHeapMemoryUsage().getUsed())

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


WEEK_IS_FULL = 8 * 24
"""The run, an hour each, after which what is kept for a week has had a week and a maintenance."""


def table(runs: List[Measured]) -> List[str]:
    """Lines that compare runs by their medians: the first, those after a week, the last."""
    few = max(1, min(50, len(runs) // 4))
    parts = {f"first {few}": runs[:few], f"last {few}": runs[-few:]}
    if len(runs) >= WEEK_IS_FULL + 2 * few:
        week = runs[WEEK_IS_FULL : WEEK_IS_FULL + few]
        parts = {
            f"first {few}": runs[:few],
            "ninth day": week,
            f"last {few}": runs[-few:],
        }
    lines = [f"{'':42}" + "".join(f" {name:>14}" for name in [*parts, "last/before"])]
    for name, words in NAMES.items():
        found = [median(each[name] for each in part) for part in parts.values()]
        ratios = (f"{found[-1] / each:.2f}" if each else "-" for each in found[:-1])
        figures = "".join(f" {each:14,.1f}" for each in found)
        lines.append(f"{words:42}{figures} {', '.join(ratios):>14}")
    return lines
