"""Cluster-minutes of tables that share a cluster, against one cluster per table.

Promise: for 20 tables and a cluster that takes 9 minutes to start, sharing bills at
most 0.4 of the minutes, and the tables are ready at most 1.2 times later than by the
best plan for the same cluster. Nothing is run or timed: the planner of the Spark
steps (`lake_spec.facts.table_order`) plans by what tables took last time, then each takes up
to 30% more or less. Left out: that tables which run at once slow each other down
where cores are short, and the minute in which a cluster ends.

    PYTHONPATH=dags python benchmarks/packing.py [--tables 20] [--seeds 200] [--at-once 4]
"""

from __future__ import annotations

import argparse
import statistics
import sys
from dataclasses import dataclass
from random import Random
from typing import Callable, Dict, List, Sequence, Tuple

from lake_spec.facts.table_order import longest_first, makespan

START = 9 * 60  # seconds of a cluster until its first step
STEP = 30  # seconds of a Spark application until its first table
STAGES = ("incremental", "scd2")
NOISE = 0.3
MOST_BILLED, MOST_LATE = 0.4, 1.2
Seconds = Dict[str, Dict[str, float]]  # by stage and table


def _equal(chance: Random, tables: int) -> List[float]:
    return [240.0] * tables


def _uniform(chance: Random, tables: int) -> List[float]:
    return [chance.uniform(30, 600) for _ in range(tables)]


def _skewed(chance: Random, tables: int) -> List[float]:
    return [min(chance.lognormvariate(4.6, 1.0), 3600) for _ in range(tables)]


def _giant(chance: Random, tables: int) -> List[float]:
    works = [chance.uniform(30, 180) for _ in range(tables - 1)]
    return [*works, 1800.0]


def _quick(chance: Random, tables: int) -> List[float]:
    return [chance.uniform(5, 40) for _ in range(tables)]


CASES: Dict[str, Callable[[Random, int], List[float]]] = {
    "equal": _equal,
    "uniform": _uniform,
    "skewed": _skewed,
    "one giant": _giant,
    "hardly new": _quick,
}


@dataclass(frozen=True)
class Costed:
    """Seconds of one case: of the bill, and from the start until all are ready."""

    work: float
    shared: float
    in_order_of_domain: float
    best: float
    apart: float  # billed: one cluster per table
    apart_ready: float

    @property
    def billed(self) -> float:
        return self.shared / self.apart

    @property
    def late(self) -> float:
        return self.shared / self.best


def costed(case: str, seed: int, *, tables: int = 20, at_once: int = 4) -> Costed:
    """One case by its seed."""
    before, now = drawn(case, seed, tables)
    names = list(now[STAGES[0]])
    planned = {stage: longest_first(names, before[stage]) for stage in STAGES}
    per_table = [sum(STEP + now[stage][name] for stage in STAGES) for name in names]
    return Costed(
        work=sum(sum(now[stage].values()) for stage in STAGES),
        shared=_shared(now, planned, at_once),
        in_order_of_domain=_shared(now, {s: names for s in STAGES}, at_once),
        best=START + _least(now, at_once),
        apart=sum(START + each for each in per_table),
        apart_ready=START + max(per_table),
    )


def drawn(case: str, seed: int, tables: int) -> Tuple[Seconds, Seconds]:
    """What the tables of a case took last time, and what they take now."""
    chance = Random(f"{case} {seed}")
    before = _seconds(chance, CASES[case](chance, tables))
    now = {
        stage: {name: each * _noise(chance) for name, each in tables_of.items()}
        for stage, tables_of in before.items()
    }
    return before, now


def _seconds(chance: Random, works: List[float]) -> Seconds:
    """Each table's work, dealt to the stages; tables in an order that says nothing."""
    chance.shuffle(works)
    shares = [chance.uniform(0.4, 0.7) for _ in works]
    parts = {STAGES[0]: shares, STAGES[1]: [1 - share for share in shares]}
    return {
        stage: {f"table_{n:02}": works[n] * parts[stage][n] for n in range(len(works))}
        for stage in STAGES
    }


def _noise(chance: Random) -> float:
    return chance.uniform(1 - NOISE, 1 + NOISE)


def _shared(now: Seconds, order: Dict[str, Sequence[str]], at_once: int) -> float:
    return START + sum(
        STEP + makespan([now[stage][name] for name in order[stage]], at_once)
        for stage in STAGES
    )


def _least(now: Seconds, at_once: int) -> float:
    """No plan for as many tables at once can be quicker, also without stages."""
    totals = [sum(now[stage][name] for stage in STAGES) for name in now[STAGES[0]]]
    return len(STAGES) * STEP + max(sum(totals) / at_once, max(totals))


def main() -> int:
    """Print what each case costs: medians over the seeds, and the worst of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--at-once", type=int, default=4)
    asked = parser.parse_args()
    print(f"{asked.tables} tables, {asked.at_once} at once, {asked.seeds} seeds")
    print(
        "| case | minutes of work | billed, shared | billed, apart | ratio (worst)"
        " | ready / best (worst) | same, not ordered (worst) | ready / apart |"
    )
    print("|---" * 8 + "|")
    kept = [_told(case, asked) for case in CASES]
    return 0 if all(kept) else 1


def _told(case: str, asked: argparse.Namespace) -> bool:
    found = [
        costed(case, seed, tables=asked.tables, at_once=asked.at_once)
        for seed in range(asked.seeds)
    ]

    def middle(of: Callable[[Costed], float]) -> float:
        return statistics.median(map(of, found))

    def pair(of: Callable[[Costed], float]) -> str:
        return f"{middle(of):.2f} ({max(map(of, found)):.2f})"

    cells = [
        case,
        f"{middle(lambda c: c.work) / 60:.0f}",
        f"{middle(lambda c: c.shared) / 60:.0f}",
        f"{middle(lambda c: c.apart) / 60:.0f}",
        pair(lambda c: c.billed),
        pair(lambda c: c.late),
        pair(lambda c: c.in_order_of_domain / c.best),
        pair(lambda c: c.shared / c.apart_ready),
    ]
    print(f"| {' | '.join(cells)} |")
    return max(c.billed for c in found) <= MOST_BILLED and (
        max(c.late for c in found) <= MOST_LATE
    )


if __name__ == "__main__":
    sys.exit(main())
