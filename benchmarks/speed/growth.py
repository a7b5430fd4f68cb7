"""Targets 4 and 5: what the same changes ingest tables of several sizes."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Dict, List, Sequence, Tuple

from benchmarks.speed.bench import STAGES, Bench, Loaded, Rounds, taken
from benchmarks.speed.comparing import compared
from benchmarks.speed.measuring import Work, Works, alternating, median
from benchmarks.speed.peers import OF_CURRENT, OF_HISTORY
from benchmarks.speed.result import Result

DELTA_ROUNDS = 2
"""Rounds of Delta's MERGE that count: what it writes grows with the table."""


def growth(
    bench: Bench,
    ids: Sequence[str],
    sizes: Sequence[int],
    stage: str,
    keys: int,
    target: float,
) -> Tuple[List[Result], Rounds]:
    """Return each size over the one before, and the rounds; all sizes take turns.

    Delta's MERGE of the same files comes after all of ours.
    """
    tables = {rows: bench.loaded(rows) for rows in sizes}
    landed: Dict[int, List[Path]] = {rows: [] for rows in sizes}

    def ours(nth: int) -> Works:
        for rows, table in tables.items():
            landed[rows].append(table.land("spread", keys))
        sides = (taken(table, keys, f"{rows} ") for rows, table in tables.items())
        return alternating(nth, *sides)

    found = bench.meter.in_turns(ours, bench.pairs, warm_up=2)
    found.update(_delta(bench, tables, stage, landed))
    over = [
        _over(id, stage, keys, pair, found, target)
        for id, pair in zip(ids, zip(sizes, sizes[1:]))
    ]
    return over, found


def against_delta(
    id: str, keys: int, rows: int, found: Rounds, target: float
) -> Result:
    """Return the rounds of scd2 with one size over Delta's of the same files."""
    theirs = found[f"{rows} delta"]
    ours = found[f"{rows} scd2"][: len(theirs)]
    what = f"scd2, {keys:,} keys of {rows:,} rows / Delta two-sided MERGE, after it"
    return compared(id, what, ours, theirs, target)


def _delta(
    bench: Bench, tables: Dict[int, Loaded], stage: str, landed: Dict[int, List[Path]]
) -> Rounds:
    make = {"delta": (OF_HISTORY if stage == "scd2" else OF_CURRENT)["delta"]}
    peers = {rows: bench.peers(table, make)["delta"] for rows, table in tables.items()}

    def merges(nth: int) -> Works:
        sides = (
            {f"{rows} delta": Work(partial(peer.merge, landed[rows][nth]))}
            for rows, peer in peers.items()
        )
        return alternating(nth, *sides)

    return bench.meter.in_turns(merges, DELTA_ROUNDS)


def _over(
    id: str,
    stage: str,
    keys: int,
    pair: Sequence[int],
    found: Rounds,
    target: float,
) -> Result:
    """One size over another, with what all took at both."""
    smaller, larger = (found[f"{rows} {stage}"] for rows in pair)
    what = f"{stage}, {keys:,} keys: {pair[1]:,} rows / {pair[0]:,} rows"
    one = compared(id, what, larger, smaller, target)
    one.more["rows"] = list(pair)
    one.more["seconds"] = {
        name: [median(found[f"{rows} {name}"]) for rows in pair]
        for name in (*STAGES, "delta")
    }
    return one
