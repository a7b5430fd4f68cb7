"""Targets 4 and 5: what the same changes ingest tables of several sizes."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Dict, List, Sequence

from benchmarks.speed.bench import STAGES, Bench, Loaded, Rounds, taken
from benchmarks.speed.comparing import compared
from benchmarks.speed.measuring import Work, Works, alternating, median
from benchmarks.speed.peers import OF_CURRENT, OF_HISTORY
from benchmarks.speed.result import Result


def growth(
    bench: Bench,
    ids: Sequence[str],
    sizes: Sequence[int],
    stage: str,
    keys: int,
    target: float,
) -> List[Result]:
    """Each size over the one before; all sizes take turns.

    Delta's MERGE of the same files is for the picture: two rounds after all of ours,
    for what it writes grows with the table.
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
    return [
        _over(id, stage, keys, pair, found, target)
        for id, pair in zip(ids, zip(sizes, sizes[1:]))
    ]


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

    return bench.meter.in_turns(merges, 2)


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
