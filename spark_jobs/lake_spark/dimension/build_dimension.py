"""Bring a dimension up to the histories of its two tables."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import reduce
from typing import Dict, Mapping, Optional, Sequence

from pyspark.sql import DataFrame
from pyspark.storagelevel import StorageLevel

from lake_spec.model import DimensionTable, FileTable
from lake_spark.changelog import retractions
from lake_spark.dimension.join import Versions, state_events
from lake_spark.dimension.sides import require_a_join, side_rows, SideRows
from lake_spark.materialize import difference, layers
from lake_spark.materialize.difference import AffectedEvents
from lake_spark.scd2.current import CurrentLayer
from lake_spark.scd2.derived_table import Layer
from lake_spark.scd2.events import KEY
from lake_spark.storage.commit_values import CommitValue
from lake_spark.tables import recorded_settings
from lake_spark.tables.settings_diff import Definition, changed
from lake_spark.tables.table_run import DimensionRun

Instants = Dict[str, Optional[str]]
"""By table, the log instant that its history was built up to."""


@dataclass(frozen=True)
class StaleLayers:
    """Layers that are behind their tables, and since when: None for all of time."""

    layers: Sequence[str]
    since: Optional[Instants]


def build_dimension(run: DimensionRun, *, rebuild: bool = False) -> None:
    """Bring history and current up to both tables; nothing if they are."""
    sides = (run.spec.source.main, run.spec.source.joined)
    runs = [run.of_table(side.table).of_kind(FileTable) for side in sides]
    for each in runs:
        recorded_settings.check_tables(each)
    if not runs[0].history.has_data():
        return
    main = side_rows(runs[0], sides[0], dict.fromkeys(run.spec.key, "string"))
    kinds = dict(main.rows.dtypes)
    joined = side_rows(runs[1], sides[1], {name: kinds[name] for name in run.spec.key})
    require_a_join(run.spec, main, joined)
    behind = _behind(run, (main, joined), rebuild=rebuild)
    if behind.layers:
        _build(run, main, joined, behind)
    layers.keep_counts(run)


def _behind(
    run: DimensionRun, rows_of_sides: Sequence[SideRows], *, rebuild: bool
) -> StaleLayers:
    """Return which layers to build, and from which keys: all of them after a rebuild."""
    now = _instants(rows_of_sides)
    stood = {layer: _stood(run, layer) for layer in ("current", "history")}
    whole = rebuild or any(_was_rebuilt(run, layer, rows_of_sides) for layer in stood)
    late = {layer: was for layer, was in stood.items() if whole or was != now}
    built = [was for was in late.values() if was is not None]
    if whole or not late or len(built) < len(late):
        return StaleLayers(list(late), None)
    since = {name: _older([was.get(name) for was in built]) for name in now}
    return StaleLayers(list(late), since)


def _instants(rows_of_sides: Sequence[SideRows]) -> Instants:
    return {side.spec.stored_name: side.log_instant for side in rows_of_sides}


def _stood(run: DimensionRun, layer: str) -> Optional[Instants]:
    said = run.table(layer).last_value(CommitValue.LOG_INSTANT) or "null"
    stood: Optional[Instants] = json.loads(said)
    return stood


def _older(instants: Sequence[Optional[str]]) -> Optional[str]:
    """Return the oldest; none, for before the first, is older than all."""
    known = [each for each in instants if each is not None]
    return min(known) if len(known) == len(instants) else None


def _was_rebuilt(
    run: DimensionRun, layer: str, rows_of_sides: Sequence[SideRows]
) -> bool:
    """Return whether a table's history was made with other settings since."""
    recorded = json.loads(run.table(layer).last_value(CommitValue.MADE_OF) or "{}")
    now = _made_of(rows_of_sides)
    return any(changed(then, now.get(name, {}), {}) for name, then in recorded.items())


def _made_of(rows_of_sides: Sequence[SideRows]) -> Dict[str, Definition]:
    return {
        side.spec.stored_name: json.loads(
            side.run.history.last_value(CommitValue.DEFINITION) or "{}"
        )
        for side in rows_of_sides
    }


def _build(
    run: DimensionRun, main: SideRows, joined: SideRows, behind: StaleLayers
) -> None:
    keys = _affected_keys((main, joined), behind.since).persist()
    events = _events(main, joined, run.spec.key, behind, keys)
    events = events.persist(StorageLevel.MEMORY_AND_DISK)
    tracking = replace(run, spec=_with_tracking_of(run.spec, (main, joined)))
    shown = [name for side in (main, joined) for _, name in side.shown]
    tables = _layers(tracking, [*run.spec.key, *shown])
    instants = json.dumps(_instants((main, joined)), sort_keys=True)
    made_of = json.dumps(_made_of((main, joined)))
    since = None if behind.since is None else json.dumps(behind.since)
    affected = AffectedEvents(events, keys, since, instants)
    try:
        for name in behind.layers:
            layers.write(
                run, tables[name], affected, said={CommitValue.MADE_OF: made_of}
            )
    finally:
        events.unpersist()
        keys.unpersist()


def _affected_keys(
    rows_of_sides: Sequence[SideRows], since: Optional[Instants]
) -> DataFrame:
    """Return keys of what the tables' logs hold after those instants, as far as built."""
    found = []
    for side in rows_of_sides:
        then = since[side.spec.stored_name] if since else None
        instant = side.log_instant
        if instant is not None and instant != then:
            ingested, log = side.run.ingested_files(), side.run.log.read()
            built = retractions.until(log, instant)
            judged = retractions.judged(built, ingested)
            _, keys = difference.deliveries_of(judged, then, ingested.contents)
            found.append(keys)
    return reduce(DataFrame.union, found).distinct()


def _events(
    main: SideRows,
    joined: SideRows,
    key: Sequence[str],
    behind: StaleLayers,
    keys: DataFrame,
) -> DataFrame:
    def versions(side: SideRows) -> Versions:
        rows = side.rows if behind.since is None else _of_keys(side.rows, keys)
        return Versions(rows, side.spec.history.columns, side.shown)

    return state_events(versions(main), versions(joined), key)


def _of_keys(rows: DataFrame, keys: DataFrame) -> DataFrame:
    return rows.join(keys, KEY, "left_semi")


def _with_tracking_of(
    spec: DimensionTable, rows_of_sides: Sequence[SideRows]
) -> DimensionTable:
    """Return the spec with `ignore` of its tables, unless it says what to track."""
    if spec.history.track:
        return spec
    untracked = [name for side in rows_of_sides for name in side.untracked]
    ignore = (*spec.history.ignore, *untracked)
    return replace(spec, history=replace(spec.history, ignore=ignore))


def _layers(run: DimensionRun, columns: Sequence[str]) -> Mapping[str, Layer]:
    history = layers.layer_of_history(run, columns)
    return {layer.name: layer for layer in (history, CurrentLayer(run.spec, columns))}
