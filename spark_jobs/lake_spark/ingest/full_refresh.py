"""Full loads after the first: where each started, and the keys that it lacks.

Contract sections 1 and 2.3. A full refresh's rows are in the order where it
started, which its files' paths say; a row under ALL_KEYS says that the full refresh
was, so that the fold can delete what it lacks.
"""

from __future__ import annotations

import json
import re
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any, Dict, Optional, Sequence, Set, Tuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lake_spec.model import FileTable, FullRefresh, MissingKeys
from lake_spec.text.globs import glob_pattern
from lake_spec.text.marked_values import quoted_value, row_value
from lake_spark.changelog import retractions
from lake_spark.changelog.schema import ALL_KEYS, ENVELOPE, LogColumn, FULL_REFRESH
from lake_spark.errors import WrongPath
from lake_spark.landing.files import LandingFile
from lake_spark.materialize.layers import living_keys
from lake_spark.reading.reader import Input
from lake_spark.scd2.events import KEY
from lake_spark.schema.timestamps import instant_of
from lake_spark.snapshots import lost_keys
from lake_spark.storage.inline_rows import values_sql
from lake_spark.tables.table_run import FileRun

_TIMES = ("date", "timestamp")
_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")


def start_of(spec: FileTable, path: str) -> Optional[str]:
    """Return where the file's full refresh started, as JSON of order columns; else None.

    Raises WrongPath where the path does not say it.
    """
    full_refresh = spec.full_refresh
    if full_refresh is None or not glob_pattern(full_refresh.files).fullmatch(path):
        return None
    found = re.search(full_refresh.pattern, path)
    if not found:
        raise WrongPath(
            path,
            "its path does not say where the full refresh started: nothing in it matches "
            f"{full_refresh.pattern!r}. Rename the file, or correct "
            "source.full_refresh.pattern.",
        )
    said = found.groupdict()
    start = {
        name: _typed(spec, full_refresh, name, said[name], path)
        for name in spec.order_by
        if said.get(name) is not None
    }
    return json.dumps(start, sort_keys=True)


def _typed(
    spec: FileTable, full_refresh: FullRefresh, name: str, text: str, path: str
) -> str:
    column = dict(spec.columns).get(name)
    kind = column.type.lower() if column else "string"
    try:
        if kind in _TIMES:
            # A date is a day wherever one is: it has no zone.
            zone = spec.source.timezone if kind == "timestamp" else "UTC"
            return instant_of(text, full_refresh.format, zone).isoformat()
        if kind.startswith(_NUMBERS):
            return str(Decimal(text))
    except (ValueError, InvalidOperation) as error:
        raise WrongPath(
            path,
            f"the start of its full refresh cannot be read: {name} is {kind}, got "
            f"{quoted_value(text)} ({row_value(error)}). Rename the folder, or "
            "correct source.full_refresh.",
        ) from None
    return text


def markers_sql(spec: FileTable, inputs: Sequence[Input]) -> Optional[str]:
    """Return SQL of one log row per full refresh among the inputs, else None.

    It precedes the first row of the full refresh's first file.
    """
    first: Dict[str, LandingFile] = {}
    for each in sorted(inputs, key=lambda each: each.file.position):
        if each.started is not None:
            first.setdefault(each.started, each.file)
    refresh = spec.full_refresh
    if not first or refresh is None or refresh.missing_keys is MissingKeys.IGNORE:
        return None
    return values_sql(ENVELOPE, [_marker(spec, *each) for each in first.items()])


def _marker(spec: FileTable, started: str, file: LandingFile) -> Tuple[Any, ...]:
    start = json.loads(started)
    kinds = {name: column.type.lower() for name, column in spec.columns}
    time = next(start[name] for name in spec.order_by if kinds.get(name) in _TIMES)
    facts: Dict[str, Any] = {
        LogColumn.KEY: ALL_KEYS,
        LogColumn.OP: FULL_REFRESH,
        LogColumn.RANK: 1,
        LogColumn.EFFECTIVE_AT: datetime.fromisoformat(time),
        LogColumn.PATH: file.path,
        LogColumn.POSITION: file.position,
        LogColumn.RECORD: -1,
        LogColumn.ETAG: file.etag,
        LogColumn.LANDED_AT: file.landed_at,
        LogColumn.STARTED: started,
    }
    return tuple(facts.get(name) for name, _ in ENVELOPE)


def with_markers(run: FileRun, events: DataFrame, inputs: Sequence[Input]) -> DataFrame:
    """Return the events and, per full refresh among the inputs, the row that says so."""
    text = markers_sql(run.spec, inputs)
    if text is None:
        return events
    return events.unionByName(run.spark.sql(text), allowMissingColumns=True)


def refuse_losses(run: FileRun, events: DataFrame, inputs: Sequence[Input]) -> None:
    """Refuse a full refresh that lacks too many of the living keys, by name."""
    starts: Set[str] = {each.started for each in inputs if each.started is not None}
    refresh = run.spec.full_refresh
    if not starts or refresh is None or refresh.missing_keys is MissingKeys.IGNORE:
        return
    living = living_keys(run)
    if living is None:
        return
    log = retractions.live_log(run.log.read(), run.ingested_files())
    # A reprocess takes files again: what the log has of them does not count.
    others = log.where(~F.col(LogColumn.PATH).isin([each.file.path for each in inputs]))
    for start in sorted(starts):
        keys = events.where(F.col(LogColumn.STARTED) == start).select(KEY)
        taken = others.where(F.col(LogColumn.STARTED) == start).select(KEY)
        absent = living.join(keys.union(taken), KEY, "left_anti").count()
        files = ", ".join(each.file.path for each in inputs if each.started == start)
        _refuse_loss(refresh.lost_share, files, living.count(), absent)


def _refuse_loss(share: float, files: str, known: int, absent: int) -> None:
    setting = "source.full_refresh.lost_share"
    remedy = f"Land it whole, or raise {setting} if the loss is right."
    lost_keys.refuse_loss(known, absent, share, setting, remedy, who=f"{files}: ")
