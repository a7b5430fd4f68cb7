"""Estimates the stages of a table: seconds, bytes and requests to S3.

    seconds = fixed + core seconds / cores + core seconds of files / files at once
              + latency of S3 x (requests one after another + those of one core)

docs/estimates.md has the model, how it compares with what was measured, and what it
leaves out; rates.py has the constants. None was measured on S3 or on more than two cores.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Optional, Tuple

from lake_desk.estimate import rates
from lake_spec.diagnostics.errors import NoEstimate
from lake_spec.hudi.buckets import BYTES_OF_A_ROW, buckets_for
from lake_spec.layout.dag_names import FULL_LOAD, INCREMENTAL
from lake_spec.layout.stage_tables import SCD2
from lake_spec.model.choices import TableType
from lake_spec.model.table_parts import MOST_BUCKETS


@dataclass(frozen=True)
class Workload:
    """A table, a run's changes and a cluster. Raises NoEstimate for what cannot be.

    `rows` of current; `changes` of a run, of `keys` keys (default: each another one);
    `cores` of all executors; `row_bytes` of a row in Parquet; `log_rows` of the change
    log (default: as after the first load); `latency` in seconds a request, 0 on disk.
    Without `buckets` they are as `onboard` proposes them.
    """

    rows: int
    changes: int
    cores: int
    keys: Optional[int] = None
    row_bytes: float = rates.ROW_BYTES
    buckets: Optional[int] = None
    storage: TableType = TableType.MERGE_ON_READ
    latency: float = rates.LATENCY
    log_rows: Optional[int] = None

    def __post_init__(self) -> None:
        for name, least in (
            ("rows", 1),
            ("changes", 1),
            ("cores", 1),
            ("row_bytes", 1),
        ):
            _within(name, getattr(self, name), least)
        _within("latency", self.latency, 0, 60)
        if self.buckets is not None:
            _within("buckets", self.buckets, 1, MOST_BUCKETS)
        if self.keys is not None:
            _within("keys", self.keys, 1, self.changes)
        if self.log_rows is not None:
            _within("log_rows", self.log_rows, self.rows)

    @property
    def proposed(self) -> int:
        """The buckets that fit, by the table's size."""
        in_source = self.rows * BYTES_OF_A_ROW * self.row_bytes / rates.ROW_BYTES
        return buckets_for(self.rows, in_source)

    @property
    def files(self) -> int:
        """Buckets of current, and of history."""
        return self.buckets or self.proposed

    @property
    def touched(self) -> int:
        """Affected keys."""
        return self.keys or self.changes

    @property
    def log(self) -> int:
        """Rows of the change log before the run."""
        return self.log_rows or self.rows

    @property
    def deliveries(self) -> float:
        """Rows of the log about affected keys: as many as of any key, and the new ones."""
        return self.touched * self.log / self.rows + self.changes

    @property
    def is_left(self) -> bool:
        """True if history finds the deliveries next to the tables."""
        return self.touched <= rates.MOST_LEFT

    @property
    def touched_files(self) -> float:
        """Buckets with an affected key, if keys hash evenly."""
        return self.files * (1 - (1 - 1 / self.files) ** self.touched)


@dataclass(frozen=True)
class StageEstimate:
    """A stage of a run: seconds of its Spark application once that has started, bytes
    read and written, PUT requests (with markers), and objects that remain of them."""

    run: str
    stage: str
    seconds: float
    read: float
    written: float
    puts: float
    files: float


@dataclass(frozen=True)
class _Files:
    """Files of one kind that a stage writes at once: how many, and their bytes."""

    count: float = 0.0
    size: float = 0.0

    @property
    def written(self) -> float:
        return self.count * self.size

    @property
    def puts(self) -> float:
        """Requests of one file: its marker and its upload."""
        parts = math.ceil(self.size / rates.PART)
        return rates.MARKER + (1 if parts <= 1 else parts + 2)


def estimate(load: Workload) -> Tuple[StageEstimate, ...]:
    """Estimate both stages of a full load, then both of an incremental run."""
    return _full_load(load), _first_history(load), _incremental(load), _scd2(load)


def _full_load(load: Workload) -> StageEstimate:
    landed = load.rows * load.row_bytes
    log = _log_files(load, load.rows)
    current = _table_files(load, load.rows, load.row_bytes)
    return _stage(
        load,
        (FULL_LOAD, FULL_LOAD, rates.FIXED_INGEST),
        spread=(rates.LOAD - rates.WRITE) * load.rows,
        by_file=rates.WRITE * load.rows,
        files=(log, current),
        driver=2 * (rates.TIMELINE + rates.NEW_TABLE) + rates.TOLD,
        read=landed + log.written * rates.READ_LOG,
        opened=log.count,
    )


def _first_history(load: Workload) -> StageEstimate:
    log = _log_files(load, load.rows)
    history = _table_files(load, load.rows, load.row_bytes + rates.VERSION_BYTES)
    return _stage(
        load,
        (FULL_LOAD, SCD2, rates.FIXED_HISTORY),
        spread=(rates.LOAD_HISTORY - rates.WRITE) * load.rows,
        by_file=rates.WRITE * load.rows,
        files=(history,),
        driver=rates.TIMELINE + rates.NEW_TABLE + 1,
        read=log.written * rates.READ_LOG,
        opened=log.count,
    )


def _incremental(load: Workload) -> StageEstimate:
    old, new = _log_files(load, load.log), _log_files(load, load.changes)
    left = min(load.cores, load.deliveries) if load.is_left else 0.0
    size = load.deliveries * load.row_bytes * rates.LEFT / max(1.0, left)
    changed, rewritten = _changed_files(load, load.rows, load.touched, load.row_bytes)
    return _stage(
        load,
        (INCREMENTAL, INCREMENTAL, rates.FIXED_INGEST),
        spread=rates.SCAN * load.log + rates.FOLD * load.deliveries,
        by_file=rates.REWRITE * rewritten,
        files=(new, _Files(left, size), changed),
        driver=2 * rates.TIMELINE + rates.TOLD + (1 if left else 0),
        read=old.written * rates.READ_LOG
        + _read_again(load)
        + rewritten * load.row_bytes,
        opened=old.count,
    )


def _scd2(load: Workload) -> StageEstimate:
    # Each affected key closes a version and each change opens one.
    written, size = load.touched + load.changes, load.row_bytes + rates.VERSION_BYTES
    changed, rewritten = _changed_files(load, load.log, written, size)
    log = _Files() if load.is_left else _log_files(load, load.log)
    return _stage(
        load,
        (INCREMENTAL, SCD2, rates.FIXED_HISTORY),
        spread=rates.FOLD * load.deliveries
        + (0 if load.is_left else rates.SCAN * load.log),
        by_file=rates.REWRITE * rewritten,
        files=(changed,),
        driver=rates.TIMELINE + 1,
        read=log.written * rates.READ_LOG + _read_again(load) + rewritten * size,
        opened=log.count,
    )


def _stage(
    load: Workload,
    names: Tuple[str, str, float],
    *,
    spread: float,
    by_file: float,
    files: Tuple[_Files, ...],
    driver: int,
    read: float,
    opened: float,
) -> StageEstimate:
    """Estimate a stage. `spread` and `by_file`: rows times core seconds per million;
    the latter by one core for each of the last `files`. `driver`: PUTs in
    sequence."""
    run, stage, fixed = names
    cores = load.cores
    at_once = max(1.0, min(cores, files[-1].count))
    waits = driver + rates.GETS_OF_FILE * opened / cores
    waits += sum(each.puts * max(1.0, each.count / cores) for each in files)
    seconds = fixed + (spread / cores + by_file / at_once) / rates.MILLION
    return StageEstimate(
        run,
        stage,
        seconds + waits * load.latency,
        read,
        sum(each.written for each in files),
        driver + sum(each.count * each.puts for each in files),
        driver + sum(each.count for each in files),
    )


def _log_files(load: Workload, rows: float) -> _Files:
    """Return the files of the change log: one for each split that was read."""
    size = rows * load.row_bytes
    split = min(rates.SPLIT, max(rates.LEAST_SPLIT, size / load.cores))
    count = max(1, math.ceil(size / split - 1e-9))
    return _Files(count, size / count + rates.FOOTER)


def _table_files(load: Workload, rows: float, row_bytes: float) -> _Files:
    """Return the files of current or history, written as a whole."""
    return _Files(load.files, rows * row_bytes / load.files + rates.FOOTER)


def _changed_files(
    load: Workload, rows: float, changed: float, row_bytes: float
) -> Tuple[_Files, float]:
    """Return the files written to change these rows, and the rows that are
    rewritten."""
    count = load.touched_files
    if load.storage is TableType.MERGE_ON_READ:
        return _Files(count, changed * row_bytes * rates.APPENDED / count), 0.0
    whole = _table_files(load, rows + changed, row_bytes)
    return _Files(count, whole.size), rows * count / load.files


def _read_again(load: Workload) -> float:
    return (
        load.deliveries * load.row_bytes * rates.LEFT * rates.READ_AGAIN
        if load.is_left
        else 0.0
    )


def _within(
    name: str, value: float, least: float, most: Optional[float] = None
) -> None:
    if not least <= value <= (10**15 if most is None else most):
        bounds = (
            f"of at least {least:,}" if most is None else f"from {least:,} to {most:,}"
        )
        raise NoEstimate(name, value, f"Write a number {bounds}.")
