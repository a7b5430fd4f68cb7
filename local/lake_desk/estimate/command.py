"""`python -m lake_desk estimate`: the table of an estimate, and whether buckets fit."""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Callable, Dict, Iterable, Iterator, List, Optional, Tuple

from lake_check.costs.prices import ON_DEMAND, load_prices
from lake_check.parsing.loader import load_domain
from lake_desk.estimate import rates
from lake_desk.estimate.estimate import StageEstimate, Workload, estimate
from lake_spec.diagnostics.errors import NoEstimate, NoSuchSpec
from lake_spec.hudi.buckets import advice
from lake_spec.model import FileTable, SnapshotTable, TableSpec
from lake_spec.model.choices import HUDI_TYPES, Index, TableType

GB = 1e9
_HOUR = 3600
_WIDTHS = (11, 11, 9, 10, 11, 8, 10)


def add_arguments(parser: argparse.ArgumentParser, tables: Path) -> None:
    """Add the arguments of the command."""
    add = parser.add_argument
    add("--rows", type=_whole, required=True, metavar="N", help="rows in the table")
    add(
        "--changes",
        type=_whole,
        default=10_000,
        metavar="D",
        help="changed rows per run",
    )
    add(
        "--keys",
        type=_whole,
        metavar="K",
        help="number of different keys in these rows; default: all different",
    )
    add("--cores", type=_whole, default=2, metavar="C", help="cores of all executors")
    words = "bytes of a row as zstd Parquet"
    add("--row-bytes", type=_number, default=rates.ROW_BYTES, metavar="B", help=words)
    words = "rows of the change log; default: as after the full load"
    add("--log-rows", type=_whole, metavar="N", help=words)
    add("--buckets", type=_whole, metavar="K", help="default: as onboard proposes")
    kinds = [each.value for each in HUDI_TYPES]
    add("--storage", choices=kinds, default=None, help="else merge_on_read")
    words = f"seconds per request to S3; default: {rates.LATENCY}; 0 on disk"
    add("--latency", type=_number, default=rates.LATENCY, metavar="S", help=words)
    words = "read storage from this table's spec, and check whether its buckets fit"
    add("--table", metavar="DOMAIN.TABLE", help=words)
    add(
        "--tables",
        type=Path,
        default=tables,
        metavar="DIR",
        help="folder of the specs",
    )
    words = "prices of instance hours: docs/cost.md"
    add("--prices", type=Path, metavar="FILE", help=words)
    words = "instances of the cluster, on demand; repeatable"
    kind = "TYPE:COUNT"
    add("--instances", action="append", default=[], metavar=kind, help=words)


def _reader(kind: Callable[[str], float], what: str) -> Callable[[str], float]:
    """Return a parser of an argument that reports what to write instead."""

    def read(text: str) -> float:
        try:
            return kind(text)
        except ValueError:
            words = f"got {text!r}. Write {what}."
            raise argparse.ArgumentTypeError(words) from None

    return read


_whole = _reader(int, "a whole number, such as 10_000_000")
_number = _reader(float, "a number, such as 0.1")


def run(args: argparse.Namespace) -> int:
    """Print the estimate."""
    spec = _table(args.table, args.tables) if args.table else None
    load = _workload(args, spec)
    column, hour = _cost_of_an_hour(args.prices, args.instances)
    print("\n".join((*_lines(estimate(load), column, hour), "", *_words(load, spec))))
    return 0


def _table(name: str, tables: Path) -> FileTable:
    domain, dot, table = name.partition(".")
    if not dot:
        raise NoEstimate("--table", name, "Add the domain: DOMAIN.TABLE.")
    specs = {each.name: each for each in load_domain(domain, tables).tables}
    if table not in specs:
        raise NoSuchSpec("table", table, sorted(specs))
    spec = specs[table]
    if not isinstance(spec, FileTable):
        kind = spec.source.kind
        hint = (
            f"A {kind} is built from other tables: estimate the tables that it reads."
        )
        raise NoEstimate("--table", name, hint)
    return spec


def _workload(args: argparse.Namespace, spec: Optional[TableSpec]) -> Workload:
    storage = TableType(args.storage or TableType.MERGE_ON_READ.value)
    buckets = args.buckets
    if spec is not None:
        storage = TableType(args.storage) if args.storage else spec.storage.type
        if spec.storage.index is Index.BUCKET and buckets is None:
            buckets = spec.storage.buckets
    return Workload(
        rows=args.rows,
        changes=args.changes,
        cores=args.cores,
        keys=args.keys,
        row_bytes=args.row_bytes,
        buckets=buckets,
        storage=storage,
        latency=args.latency,
        log_rows=args.log_rows,
    )


def _cost_of_an_hour(
    file: Optional[Path], instances: List[str]
) -> Tuple[str, Optional[float]]:
    """Return the heading of the cost column, and the cluster's cost per hour."""
    if file is None:
        if instances:
            hint = "Add a file of prices: --prices FILE."
            raise NoEstimate("--instances", " ".join(instances), hint)
        return "", None
    if not instances:
        hint = "Add the instances of the cluster: --instances m7g.xlarge:3."
        raise NoEstimate("--instances", None, hint)
    prices = load_prices(file)
    counts: Counter[str] = Counter()
    for kind, count in map(_instances, instances):
        counts[kind] += count
    by_type = {kind: {ON_DEMAND: 60.0 * count} for kind, count in counts.items()}
    entry = {"cluster": "of the estimate", "instance_minutes_by_type": by_type}
    prices.require([entry])
    return f"cost {prices.currency}", prices.of(entry)


def _instances(text: str) -> Tuple[str, int]:
    kind, _, count = text.partition(":")
    if not kind or not count.isdigit() or int(count) < 1:
        hint = "Write a type and a number: m7g.xlarge:3."
        raise NoEstimate("--instances", text, hint)
    return kind, int(count)


def _lines(
    stages: Iterable[StageEstimate], column: str, hour: Optional[float]
) -> Iterator[str]:
    """Format a table for the terminal: start, stages and total of each run."""
    head = ("run", "stage", "seconds", "GB read", "GB written", "PUTs")
    yield _line((*head, column) if column else head)
    runs: Dict[str, List[StageEstimate]] = {}
    for each in stages:
        runs.setdefault(each.run, []).append(each)
    for name, parts in runs.items():
        start = StageEstimate(name, "start", rates.START, 0, 0, 0, 0)
        for each in (start, *parts, _sum((start, *parts))):
            yield _line(_cells(each, hour))


def _sum(parts: Iterable[StageEstimate]) -> StageEstimate:
    total, *others = parts
    for each in others:
        total = StageEstimate(
            total.run,
            "all",
            total.seconds + each.seconds,
            total.read + each.read,
            total.written + each.written,
            total.puts + each.puts,
            total.files + each.files,
        )
    return total


def _cells(each: StageEstimate, hour: Optional[float]) -> Tuple[str, ...]:
    figures = (
        f"{each.read / GB:,.3f}",
        f"{each.written / GB:,.3f}",
        f"{each.puts:,.0f}",
    )
    requests = figures if each.puts else ("-",) * 3
    cells = (each.run, each.stage, f"{each.seconds:,.0f}", *requests)
    return cells if hour is None else (*cells, f"{each.seconds / _HOUR * hour:,.3f}")


def _line(cells: Tuple[str, ...]) -> str:
    names = (f"{cell:<{width}}" for cell, width in zip(cells[:2], _WIDTHS))
    figures = (f"{cell:>{width}}" for cell, width in zip(cells[2:], _WIDTHS[2:]))
    return "  ".join((*names, *figures))


def _words(load: Workload, spec: Optional[TableSpec]) -> Iterator[str]:
    """Describe the buckets and files, and what the figures include."""
    name = f"{spec.full_name}: " if spec else ""
    for count in dict.fromkeys((load.files, load.proposed)):
        what = "" if count == load.files else "proposed: "
        yield f"{name}{what}{_sizes(replace(load, buckets=count))}."
    if spec and spec.storage.index is not Index.BUCKET:
        index = spec.storage.index.value
        yield f"{name}its index is {index}: Hudi decides the number of files."
    elif spec and spec.storage.partition_by:
        yield (
            f"{name}it has buckets in each partition; the estimate is for one "
            "partition."
        )
    else:
        yield name + advice(load.files, load.proposed)
    if isinstance(spec, SnapshotTable):
        yield (
            f"{name}its snapshots are compared in full, which the figures do not "
            "include."
        )
    yield "A model, not a measurement; S3 charges are not included: docs/estimates.md."


def _sizes(load: Workload) -> str:
    """Describe bucket and file sizes, and the time of one core to rewrite a bucket."""
    count = load.files
    current = load.rows * load.row_bytes / count + rates.FOOTER
    history = load.log * (load.row_bytes + rates.VERSION_BYTES) / count + rates.FOOTER
    again = rates.REWRITE * load.log / count / rates.MILLION
    return (
        f"{count} buckets, files of {current / 1000000.0:,.0f} MB of current and "
        f"{history / 1000000.0:,.0f} MB of history, which one core rewrites in "
        f"{again:,.0f} s"
    )
