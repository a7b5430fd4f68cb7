"""Which snapshot a landing file belongs to: its time and what it covers.

Contract section 4: the time is from the file's path or from a column of it,
never from the run.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime, timezone
from functools import partial
from typing import Dict, Iterator, List, Optional, Sequence, Tuple

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from lake_spec.diagnostics.warnings import WarningId
from lake_spec.facts.clock_times import dates_by_clock
from lake_spec.model import SnapshotTable, SnapshotTime
from lake_spec.text.clocks import is_doubled
from lake_spec.text.marked_values import row_value
from lake_spec.text.sql_text import sql_identifier
from lake_spark.errors import (
    BadFile,
    first_line,
    shortened,
    UnreadableFile,
    WrongColumns,
    WrongPath,
    WrongTypes,
)
from lake_spark.formats.file_schema import Shape
from lake_spark.formats.inference import shape_of
from lake_spark.formats.reader_columns import CORRUPT, FILE
from lake_spark.landing.files import first_shown, LandingFile, scopes_of
from lake_spark.reading import reader, row_expressions
from lake_spark.schema.timestamps import instant_of
from lake_spark.storage.halves import by_halves
from lake_spark.tables.table_run import SnapshotRun

_TYPES = ("string", "date", "timestamp")


def dated(
    run: SnapshotRun, files: Sequence[LandingFile], bad: List[BadFile]
) -> List[LandingFile]:
    """Return the files with time and scope of their snapshots; those without are `bad`."""
    source = run.spec.source
    where, zone = source.snapshot_time, source.timezone
    if source.pulled_from:
        zone = "UTC"
    times = _TimesOfFiles(run, bad).read(files) if where.column else {}
    found = []
    for file in files:
        if where.column and file.path not in times:
            continue
        try:
            at = times.get(file.path) or time_of_path(file.path, where, zone)
            scopes = scopes_of(file.path, run.spec.scope)
            found.append(replace(file, snapshot_at=at, scopes=scopes))
        except BadFile as error:
            bad.append(error)
    if dates_by_clock(run.spec):
        _warn_of_doubled_hours(run, found)
    return found


def _warn_of_doubled_hours(run: SnapshotRun, files: Sequence[LandingFile]) -> None:
    """Name snapshots of an hour that clocks show twice: contract section 4."""
    zone = run.spec.source.timezone
    doubled = [
        each.path
        for each in files
        if each.snapshot_at and is_doubled(each.snapshot_at, zone)
    ]
    if doubled:
        run.warn(
            WarningId.DOUBLED_HOUR,
            f"{len(doubled):,} file(s) have a snapshot time that clocks in {zone} showed"
            f" twice, and that is taken for the first: {first_shown(doubled)}. Name such"
            " files in UTC, or with the offset (%z in source.snapshot_time.format).",
        )


def time_of_path(path: str, where: SnapshotTime, zone: str) -> datetime:
    """Return the time of the snapshot that a file belongs to, as its path says it."""
    found = re.search(where.pattern or "", path)
    if not found:
        raise WrongPath(
            path,
            f"its path has no snapshot time: nothing in it matches {where.pattern!r}. "
            "Rename the file, or correct source.snapshot_time.pattern.",
        )
    return _timestamp(path, found.group(1), where, zone)


def _timestamp(path: str, text: str, where: SnapshotTime, zone: str) -> datetime:
    try:
        return instant_of(text, where.format, zone)
    except ValueError as error:
        raise WrongPath(
            path,
            f"its snapshot time cannot be read: {row_value(error)}. Correct it, or correct "
            "source.snapshot_time.format.",
        ) from None


_Seen = Tuple[LandingFile, Optional[Row]]


class _TimesOfFiles:
    """Snapshot times from a column: one pass over it, for all files of a shape."""

    def __init__(self, run: SnapshotRun, bad: List[BadFile]) -> None:
        self.run = run
        self.spec: SnapshotTable = run.spec
        self.where: SnapshotTime = run.spec.source.snapshot_time
        self.bad = bad

    def read(self, files: Sequence[LandingFile]) -> Dict[str, datetime]:
        """Read path -> time, of every file whose rows hold one and the same."""
        groups: Dict[Shape, List[LandingFile]] = {}
        for file in files:
            try:
                shape = shape_of(self.run.spark, self.run.store, file, self.spec)
                groups.setdefault(shape, []).append(file)
            except BadFile as error:
                self.bad.append(error)
        times: Dict[str, datetime] = {}
        for shape, group in groups.items():
            for file, row in self._seen(shape, group):
                try:
                    times[file.path] = self._time(file, row)
                except BadFile as error:
                    self.bad.append(error)
        return times

    def _seen(self, shape: Shape, group: List[LandingFile]) -> Iterator[_Seen]:
        def read(files: Sequence[LandingFile]) -> List[_Seen]:
            rows = self._rows(shape, files)
            name = partial(reader.file_name, self.run.spark)
            return [(file, rows.get(name(file))) for file in files]

        for found in by_halves(group, read, self._refuse):
            yield from found

    def _refuse(self, file: LandingFile, error: Exception) -> None:
        if isinstance(error, BadFile):
            self.bad.append(type(error)(file.path, error.reason))
            return
        reason = f"cannot be read: {first_line(error)}. Land the whole file again."
        self.bad.append(UnreadableFile(file.path, reason))

    def _rows(self, shape: Shape, group: Sequence[LandingFile]) -> Dict[str, Row]:
        raw = reader.load(self.run.spark, self.spec, shape, [f.uri for f in group])
        seen = raw.select(F.col(FILE).alias("file"), *self._value(raw, shape))
        found = seen.groupBy("file").agg(
            F.min("value").alias("least"),
            F.max("value").alias("greatest"),
            F.count_if(F.expr("value IS NULL AND corrupt IS NULL")).alias("without"),
        )
        return {row.file: row for row in found.collect()}

    def _value(self, raw: DataFrame, shape: Shape) -> List[Column]:
        """Return the column as text or microseconds since 1970, and what did not parse."""
        names = {name.lower(): name for name in shape.names}
        column = names[(self.where.column or "").lower()]
        kind = shape.type_of(column).name
        if kind not in _TYPES:
            raise WrongTypes(
                "",
                f"column {column!r} is {kind}, not a date, a timestamp or a string. Name "
                "another column in source.snapshot_time.column.",
            )
        text = row_expressions.text_of(self.spec, column)
        micros = F.unix_micros(F.col(sql_identifier(column)).cast("timestamp"))
        corrupt = F.col(CORRUPT) if CORRUPT in raw.columns else F.lit(None)
        value = F.expr(text) if kind == "string" else micros
        return [value.alias("value"), corrupt.alias("corrupt")]

    def _time(self, file: LandingFile, row: Optional[Row]) -> datetime:
        column = self.where.column
        if row is None or row.least is None:
            raise WrongColumns(
                file.path,
                f"no row has a value in {column!r}, so its snapshot is unknown. Land it "
                "with the time of its snapshot in each row.",
            )
        if row.without:
            raise WrongColumns(
                file.path,
                f"{row.without:,} row(s) have no value in {column!r}. Land it with the "
                "time of its snapshot in each row.",
            )
        if row.least != row.greatest:
            raise WrongColumns(
                file.path,
                f"its rows are of several snapshots: {column!r} has values from "
                f"{self._shown(row.least)} to {self._shown(row.greatest)}. Land one file "
                "for each snapshot.",
            )
        if isinstance(row.least, str):
            zone = self.spec.source.timezone
            return _timestamp(file.path, row.least, self.where, zone)
        return _of_micros(row.least)

    def _shown(self, found: "str | int") -> str:
        if isinstance(found, str):
            return row_value(shortened(found))
        return row_value(f"{_of_micros(found):%Y-%m-%d %H:%M}")


def _of_micros(micros: int) -> datetime:
    seconds, rest = divmod(micros, 1_000_000)
    return datetime.fromtimestamp(seconds, timezone.utc).replace(microsecond=rest)
