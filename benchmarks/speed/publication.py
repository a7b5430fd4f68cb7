"""Targets 15 and 16: what it costs that other engines find tables as Iceberg and Delta.

The stages run without formats, and then their commits are published by the function that
they call themselves: so its part is measured, and the same rows are in each table.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Dict, List, Tuple

from lake_spark.publish.instants import Instants
from lake_spark.publish.publication import LAYERS
from lake_spec.layout.published_tables import DELTA_FOLDER, ICEBERG_FOLDER
from lake_spec.model import ReadableAs, TableSpec, TableType
from benchmarks.speed.bench import STAGES, TABLE, Bench, Loaded
from benchmarks.speed.generator import Generator
from benchmarks.speed.lake import BenchLake, new_lake, spec_of
from benchmarks.speed.measuring import Measured, Work, Works, median, say
from benchmarks.speed.result import Result, over

FILES = (2, 100, 1_000)
"""Files of current, and of history."""

KEYS = 20
"""Keys that change in a round: at most as many files come and go."""

ROUNDS = 30
METADATA = (ICEBERG_FOLDER, DELTA_FOLDER)
Places = Dict[Path, Tuple[int, int]]
"""Time and size of each file."""


def seconds(bench: Bench) -> List[Result]:
    """15: publishing the commits of a run as both formats / the run with it."""
    rows = bench.sized(TABLE, least=10 * max(FILES))
    found: List[Result] = []
    for id, of_commit, files in zip(("15", "15a", "15b"), ("15c", "15d", "15e"), FILES):
        took = bench.meter.in_turns(_works(_loaded(bench, rows, files)), bench.pairs)
        runs = [sum(parts) for parts in zip(*(_seconds(took[s]) for s in STAGES))]
        published = _seconds(took["publish"])
        shares = [part / (part + run) for part, run in zip(published, runs)]
        more = {n: median(took["publish"], n) for n in ("seconds", "files", "jobs")}
        more["run"] = sum(median(took[stage]) for stage in STAGES)
        where = f"{files:,} files, {KEYS} keys of {rows:,} rows"
        what = f"part of a run that publishing its {len(LAYERS)} commits takes: {where}"
        found.append(over(id, what, shares, None, more))
        each = [one / len(LAYERS) for one in published]
        what = f"seconds to publish a commit as both formats: {where}"
        found.append(over(of_commit, what, each, None, {}))
    return sorted(found, key=lambda result: result.id)


def stored(bench: Bench) -> List[Result]:
    """16: bytes of metadata after 30 rounds with maintenance / bytes of rows."""
    rows, files = bench.sized(TABLE), FILES[1]
    loaded = _loaded(bench, rows, files)
    lake, written = loaded.lake, []
    for nth in range(ROUNDS):
        _run(loaded)
        before = _files(lake, is_metadata=False)
        _publish(lake)
        after = _files(lake, is_metadata=False)
        new = [path for path, seen in after.items() if before.get(path) != seen]
        written.append(sum(after[path][1] for path in new))
        _maintained(lake)
        say(
            f"round {nth}: {_bytes(_files(lake, is_metadata=True)):,} bytes of metadata"
        )
    metadata, data = _bytes(_files(lake, is_metadata=True)), _newest(lake)
    where = f"{ROUNDS} rounds of {KEYS} keys, {rows:,} rows, {files} files"
    what = f"bytes of metadata after {where} / bytes of rows"
    more = {"metadata": metadata, "data": data}
    share, most = metadata / data, max(written)
    return [
        Result("16", what, share, share, share, 0.01, more),
        Result("16a", "bytes of rows that publishing wrote in them", most, 0, most, 0),
    ]


def _loaded(bench: Bench, rows: int, files: int) -> Loaded:
    """A lake whose first load is published, with so many files in current and history."""
    say(f"a lake of {rows:,} rows in {files:,} files")
    spec = spec_of(buckets=files)
    storage = replace(spec.storage, type=TableType.COPY_ON_WRITE, readable_as=())
    lake = new_lake(
        bench.spark, bench.unused("published"), replace(spec, storage=storage)
    )
    generator = Generator(bench.spark, rows, bench.seed)
    load = lake.land_rows(generator.load(), "load/rows")
    lake.done("full_load", "scd2")
    _publish(lake)
    return Loaded(rows, generator, lake, load)


def _works(loaded: Loaded):
    def of_round(_: int) -> Works:
        loaded.land("spread", KEYS)
        stages = {s: Work(lambda stage=s: loaded.lake.stage(stage)) for s in STAGES}
        return {**stages, "publish": Work(lambda: _publish(loaded.lake))}

    return of_round


def _run(loaded: Loaded) -> None:
    loaded.land("spread", KEYS)
    loaded.lake.done(*STAGES)


def _publish(lake: BenchLake) -> None:
    _published(lake).publish(LAYERS)


def _maintained(lake: BenchLake) -> None:
    _published(lake).done("maintenance")


def _published(lake: BenchLake) -> BenchLake:
    """The same lake, whose table names both formats."""
    storage = replace(lake.spec.storage, readable_as=tuple(ReadableAs))
    spec: TableSpec = replace(lake.spec, storage=storage)
    return BenchLake(lake.spark, lake.root, spec)


def _seconds(found: List[Measured]) -> List[float]:
    return [each.seconds for each in found]


def _files(lake: BenchLake, *, is_metadata: bool) -> Places:
    """The files of the formats' metadata, or all others."""
    return {
        path: (path.stat().st_mtime_ns, path.stat().st_size)
        for path in lake.warehouse.rglob("*")
        if path.is_file() and _is_metadata(path) == is_metadata
    }


def _is_metadata(path: Path) -> bool:
    """Whether a file is a format's; Hudi has a folder of the same name in its own."""
    return path.parent.name in METADATA and ".hoodie" not in path.parts


def _bytes(files: Places) -> int:
    return sum(size for _, size in files.values())


def _newest(lake: BenchLake) -> int:
    """Bytes of the files that hold the rows of the newest commits."""
    tables = (lake.tables.table(layer) for layer in LAYERS)
    found = (Instants(table, lake.store, merged=False) for table in tables)
    return sum(each.whole(each.names[-1]).bytes for each in found)
