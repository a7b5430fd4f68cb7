"""Snapshots, each compared with the one before it, in one sort of their rows.

Their rows and what was known before the first are sorted by key and snapshot. A window over
the rows of each key finds what became of them: the row before is what was known, and a key
is absent from the first snapshot between its row and the next one. So the cost is that of
the rows, however many snapshots they are of. Contract section 4, decision 050.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from lake_spec.model import MissingKeys, SnapshotTable
from lake_spec.text.sql_text import sql_identifier
from lake_spark.changelog.not_sent import is_missing
from lake_spark.changelog.schema import LogColumn
from lake_spark.reading.row_expressions import is_dropped
from lake_spark.scd2.events import KEY
from lake_spark.schema.equality import comparable
from lake_spark.snapshots.derived_events import BEFORE, KNOWN
from lake_spark.snapshots.source_snapshot import SourceSnapshot, scope_text
from lake_spark.storage.inline_rows import small_table

PLACE = "lake_place"
"""The number of a snapshot in its sequence, from 0; -1 is what was known before it."""

PREVIOUS = "lake_previous"
"""The time of the snapshot before, of the row's scope value."""

_SCOPE = "lake_of_scope"
_NEXT = "lake_next"
"""The place of the first later snapshot that deletes what it lacks."""
_GONE = "lake_gone"
"""The place of the snapshot by which a row's key is deleted."""
_KIND = "lake_kind"
_BASE, _ROW, _HELD = 0, 1, 2
"""What was known before, a row, and the key of a quarantined row."""
_VALUES, _KEPT, _DECLARED = "lake_values", "lake_kept", "lake_declared"
_DROPPED = "lake_dropped"
"""The values of dropped columns, a struct each."""

_PLACES = ((LogColumn.PATH, "string"), (PLACE, "int"))
_STEPS = (
    (PLACE, "int"),
    (_SCOPE, "string"),
    (_NEXT, "int"),
    (PREVIOUS, "timestamp"),
)


@dataclass(frozen=True)
class SnapshotInOrder:
    """One snapshot of a sequence; its scope values are known.

    `deletes` says whether keys that it lacks are deleted.
    """

    snapshot: SourceSnapshot
    deletes: bool = True


def compared(
    rows: DataFrame,
    state: DataFrame,
    held: Optional[DataFrame],
    steps: Sequence[SnapshotInOrder],
    newest: Mapping[Optional[str], datetime],
    spec: SnapshotTable,
    columns: Sequence[str],
) -> DataFrame:
    """Compare the rows of all snapshots, each with what was known before its snapshot.

    `state` is of `previous_snapshot.before` the first of them, `newest` has the time of
    the snapshot before it per scope value. `held` has the keys (lake_path, lake_key) of
    quarantined rows. Of several snapshots all rows lack the same dropped columns, or none.

    `outcomes` says what the result means.
    """
    spark = rows.sparkSession
    places = [
        (file.path, place)
        for place, step in enumerate(steps)
        for file in step.snapshot.files
    ]
    place_of = F.broadcast(small_table(spark, _PLACES, places))
    ignores = spec.source.missing_keys is MissingKeys.IGNORE
    step_of = F.broadcast(
        small_table(spark, _STEPS, rows_of_steps(steps, newest, ignores))
    )
    kept = _kept(spec, columns)
    dropped = [name for name in columns if is_dropped(spec, name)]
    facts = {
        _SCOPE: F.coalesce(scope_text(spec), F.lit("")),
        _KEPT: F.struct(*[F.col(name) for name in kept]),
    }
    at = F.lit(None) if spec.effective_at is None else F.col(spec.effective_at)
    line = (
        rows.withColumns({**facts, **_values(rows, columns, dropped)})
        .withColumns({KNOWN: F.lit(True), _KIND: F.lit(_ROW)})
        .withColumn(_DECLARED, at.cast("timestamp"))
        .join(place_of, LogColumn.PATH)
    )
    base_values = _values(state, columns, dropped)
    base = state.withColumns({**facts, **base_values}).select(
        *map(F.col, (KEY, KNOWN, _SCOPE, _KEPT, *base_values)),
        F.col(BEFORE).alias(_DECLARED),
        F.lit(_BASE).alias(_KIND),
        F.lit(-1).alias(PLACE),
    )
    line = line.unionByName(base, allowMissingColumns=True)
    if held is not None:
        keys = held.join(place_of, LogColumn.PATH).select(KEY, PLACE).distinct()
        keys = keys.join(step_of.select(PLACE, _SCOPE), PLACE)
        keys = keys.withColumns({_KIND: F.lit(_HELD), KNOWN: F.lit(False)})
        line = line.unionByName(keys, allowMissingColumns=True)
    # A path may spell a scope value otherwise than its rows do: 01 for 1.
    line = _with_what_was(line.join(step_of, [PLACE, _SCOPE], "left"), dropped)
    others = [name for name in rows.columns if name not in kept]
    return line.where(f"lake_change IS NOT NULL OR {_GONE} IS NOT NULL").select(
        *others,
        *[F.col(_KEPT)[name].alias(name) for name in kept],
        *(PLACE, PREVIOUS, BEFORE, "lake_change", _GONE),
    )


def _kept(spec: SnapshotTable, columns: Sequence[str]) -> List[str]:
    """Return the columns whose values a derived delete keeps."""
    names = {*spec.key, *([spec.scope.column] if spec.scope else [])}
    return [name for name in columns if name in names]


def _values(
    rows: DataFrame, columns: Sequence[str], dropped: Sequence[str]
) -> Dict[str, Column]:
    """Return what is compared: the values of all columns, those of dropped ones apart."""
    others = [name for name in columns if name not in dropped]
    values = {_VALUES: F.struct(*comparable(rows, others))}
    if dropped:
        each = [F.struct(*comparable(rows, [name])).alias(name) for name in dropped]
        values[_DROPPED] = F.struct(*each)
    return values


def _is_same(dropped: Sequence[str]) -> str:
    """Return whether a row says what was known; a value that was not sent says nothing."""
    same = [f"{_VALUES} <=> lake_was.{_VALUES}"]
    for name in dropped:
        place = f"{_DROPPED}.{sql_identifier(name)}"
        same.append(f"({is_missing(name)} OR {place} <=> lake_was.{place})")
    return " AND ".join(same)


def _with_what_was(line: DataFrame, dropped: Sequence[str]) -> DataFrame:
    """Add BEFORE, lake_change, and the place from which a row's key is absent, if any.

    A key lives from a row on until it is absent: `lake_life` numbers its lives. Of
    several rows of one snapshot the last counts, the others are duplicates.
    """
    seen = Window.partitionBy(KEY, _SCOPE).orderBy(
        PLACE, _KIND, LogColumn.POSITION, LogColumn.RECORD
    )
    so_far = seen.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    earlier = seen.rowsBetween(Window.unboundedPreceding, -1)
    neighbours = {
        "lake_died": F.coalesce(F.lag(_NEXT).over(seen) < F.col(PLACE), F.lit(False)),
        "lake_last_place": F.lag(PLACE).over(seen),
        "lake_next_place": F.lead(PLACE).over(seen),
        "lake_next_kind": F.lead(_KIND).over(seen),
    }
    is_again = (
        f"{_KIND} = {_ROW} AND lake_next_place <=> {PLACE} AND lake_next_kind = {_ROW}"
    )
    remembered = f"{_KIND} != {_HELD} AND NOT lake_is_again"
    values = [_VALUES, *([_DROPPED] if dropped else [])]
    row = F.struct("lake_life", KNOWN, *values, _KEPT, _DECLARED)
    was_known = (
        "coalesce(lake_was.lake_known AND lake_was.lake_life = lake_life, false)"
    )
    change = (
        f"CASE WHEN {_KIND} = {_ROW} THEN CASE WHEN lake_is_again THEN 'duplicate'"
        f" WHEN NOT lake_was_known THEN 'new'"
        f" WHEN {_is_same(dropped)} THEN 'unchanged' ELSE 'changed' END"
        f" WHEN {_KIND} = {_HELD} AND lake_was_known AND lake_last_place < {PLACE}"
        " THEN 'held' END"
    )
    gone = (
        f"CASE WHEN NOT lake_is_again AND ({KNOWN} OR ({_KIND} = {_HELD} AND"
        f" lake_was_known)) AND (lake_next_place IS NULL OR {_NEXT} < lake_next_place)"
        f" THEN {_NEXT} END"
    )
    return (
        line.withColumns(neighbours)
        .withColumn("lake_life", F.sum(F.col("lake_died").cast("int")).over(so_far))
        .withColumn("lake_is_again", F.expr(f"coalesce({is_again}, false)"))
        .withColumn(
            "lake_was", F.last(F.when(F.expr(remembered), row), True).over(earlier)
        )
        .withColumn("lake_was_known", F.expr(was_known))
        .withColumns(
            {
                BEFORE: F.col(f"lake_was.{_DECLARED}"),
                "lake_change": F.expr(change),
                _GONE: F.expr(gone),
                _KEPT: F.coalesce(_KEPT, f"lake_was.{_KEPT}"),
            }
        )
    )


def outcomes(line: DataFrame, spec: SnapshotTable, columns: Sequence[str]) -> DataFrame:
    """Return what `compared` found: a row per landed row, derived delete and held key.

    lake_change is 'new', 'changed', 'unchanged', 'duplicate', 'absent', or 'held': a key
    that lives on, as its row is quarantined. PLACE is the snapshot, PREVIOUS the time of
    the one before it.
    """
    absent = line.where(f"{_GONE} IS NOT NULL").select(
        *map(F.col, (KEY, *_kept(spec, columns))),
        F.lit("absent").alias("lake_change"),
        F.col(_GONE).alias(PLACE),
    )
    landed = line.where("lake_change IS NOT NULL").drop(_GONE)
    return landed.unionByName(absent, allowMissingColumns=True)


def rows_of_steps(
    steps: Sequence[SnapshotInOrder],
    newest: Mapping[Optional[str], datetime],
    ignores: bool,
) -> List[Tuple[Any, ...]]:
    """Return for each place and scope value where a key would be absent next.

    And the time of the snapshot before.
    """
    previous: Dict[str, List[Tuple[int, Optional[datetime]]]] = {}
    for place, step in enumerate(steps):
        for scope in step.snapshot.scopes:
            before = previous.setdefault(scope or "", [(-1, None)])
            last = steps[before[-1][0]].snapshot.at if len(before) > 1 else None
            before.append((place, last or newest.get(scope)))
    found = []
    for scope, visits in previous.items():
        following: Optional[int] = None
        for place, last in reversed(visits):
            found.append((place, scope, following, last))
            if place >= 0 and steps[place].deletes and not ignores:
                following = place
    return found
