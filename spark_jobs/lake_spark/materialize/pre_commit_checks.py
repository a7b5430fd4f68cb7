"""What is counted and checked of the rows that a commit is about to write.

Contract section 8: a violation stops the commit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, Mapping, Optional, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lake_spec.text.marked_values import row_value
from lake_spark.errors import BrokenInvariant
from lake_spark.scd2.derived_table import CHANGED, INSERTED, Layer, REMOVED
from lake_spark.scd2.events import KEY
from lake_spark.storage.spark_jobs import row_of

ONE_ROW = "a key with one event has one row"
"""A promise of rows that are alone, in both tables."""


@dataclass(frozen=True)
class Changes:
    """Rows about to be written, and how they differ from the table's.

    `compared` were compared with the rows that the table has, or are all new. `single_events`
    are more new ones, each the only row of its key: no neighbours are looked for, but as
    many rows as `single_event_keys` must be there.
    """

    compared: DataFrame
    single_events: Optional[DataFrame] = None
    single_event_keys: int = 0

    @property
    def all(self) -> DataFrame:
        """Return all rows."""
        if self.single_events is None:
            return self.compared
        return self.compared.unionByName(self.single_events)


def counted(changes: Changes, layer: Layer) -> Dict[str, Any]:
    """Count rows by their action, those that open and close, and breaches of each promise.

    Of a promise: `broken_<n>` rows, the least of their keys `broken_key_<n>`. And what the
    layer has counted besides, by its names.
    """
    counts = _counts(layer.checked(changes.compared), layer, F.lit(0))
    if changes.single_events is None:
        return counts
    # A row too many is a breach; which one is not looked for.
    copies = F.count(KEY) - changes.single_event_keys
    single_events = _counts(
        layer.checked_single_events(changes.single_events), layer, copies
    )
    return {name: _both(name, counts[name], single_events[name]) for name in counts}


def _both(name: str, one: Any, other: Any) -> Any:
    if name.startswith("broken_key"):
        return min((key for key in (one, other) if key is not None), default=None)
    return one + other


def _counts(checked: DataFrame, layer: Layer, copies: Column) -> Dict[str, Any]:
    actions = [
        F.count_if(F.col("lake_action") == action).alias(action)
        for action in (INSERTED, CHANGED, REMOVED)
    ]
    opened = F.count_if(F.expr("lake_is_open AND NOT lake_was_open")).alias("opened")
    closed = F.count_if(F.expr("lake_was_open AND NOT lake_is_open")).alias("closed")
    breaches = [_of_kept(bad) for bad in layer.broken.values()]
    broken = [F.count_if(b).alias(f"broken_{i}") for i, b in enumerate(breaches)]
    more = [
        F.count_if(_of_kept(sql)).alias(name)
        for name, sql in layer.also_counted.items()
    ]
    found = checked.agg(
        *actions, opened, closed, *broken, *more, copies.alias("copies")
    )
    (row,) = found.collect()  # `first` plans one step more
    counts = row.asDict()
    return {**counts, **_first_keys(checked, breaches, counts)}


def _of_kept(sql: str) -> Column:
    """Return what is true of rows that stay or come, and fulfil a condition."""
    return F.expr(f"lake_action != '{REMOVED}' AND ({sql})")


def _first_keys(
    checked: DataFrame, breaches: Sequence[Column], counts: Mapping[str, int]
) -> Dict[str, Optional[str]]:
    """Return the least key of each breach, looked for only where there is one.

    A key as text is long in the making, and hardly any commit has a breach.
    """
    found: Dict[str, Optional[str]] = {
        f"broken_key_{i}": None for i in range(len(breaches))
    }
    there = [
        F.min(F.when(breach, F.col(KEY))).alias(f"broken_key_{i}")
        for i, breach in enumerate(breaches)
        if counts[f"broken_{i}"]
    ]
    if there:
        found.update(row_of(checked.agg(*there)).asDict())
    return found


def keep_invariants(layer: Layer, counts: Dict[str, Any]) -> None:
    """Raise BrokenInvariant if rows break one, naming it and a key."""
    faults = [
        f"{invariant}: {counts[f'broken_{i}']} row(s), for example key "
        f"{row_value(counts[f'broken_key_{i}'])}"
        for i, invariant in enumerate(layer.broken)
        if counts[f"broken_{i}"]
    ]
    if counts["copies"]:
        too = "many" if counts["copies"] > 0 else "few"
        faults.append(f"{ONE_ROW}: {abs(counts['copies'])} row(s) too {too}")
    if faults:
        raise BrokenInvariant(
            f"{layer.name} was not written, because its rows break the contract: "
            f"{'; '.join(faults)}. Rebuild it from the change log: the domain's DAG "
            "<domain>_rebuild."
        )


def agree(layer: Layer, still_open: int, must_be_open: Optional[int]) -> None:
    """Raise BrokenInvariant if as many are not open as are known to have to be."""
    if must_be_open not in (None, still_open):
        raise BrokenInvariant(
            f"{layer.name} was not written: it would have {still_open:,} open versions, "
            f"and current has {must_be_open:,} rows at the same commit of the change log. "
            "Rebuild both from the change log: the domain's DAG <domain>_rebuild."
        )
