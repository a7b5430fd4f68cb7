"""The ledger of cluster-minutes: one entry per cluster, read by run, table or domain.

An entry is written when its cluster is gone and holds what was seen. How starting and
idle minutes are shared is decided here, when entries are read: docs/cost.md.
"""

from __future__ import annotations

import csv
import io
from datetime import date, datetime
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Tuple

Entry = Mapping[str, Any]
Interval = Tuple[datetime, datetime]

NO_TABLE = "-"
"""Stands for the minutes that no table's report explains."""

BY = ("run", "table", "domain")
COLUMNS = (
    *("clusters", "start", "busy", "idle", "minutes"),
    *("instance_minutes", "normalized_hours"),
)
"""What is summed of each cluster; times are minutes."""


def ledger_folder(runs: str) -> str:
    """Where all entries are, below the root of the runs; with a slash at its end."""
    return f"{runs.rstrip('/')}/costs/"


def day_folder(runs: str, day: date) -> str:
    """Where the entries of clusters are that were made on a day, in UTC."""
    return f"{ledger_folder(runs)}{day.isoformat()}/"


def made_since(names: Iterable[str], since: date) -> List[str]:
    """Of the addresses of entries, those of clusters made on that day or later."""
    first = since.isoformat()
    entries = (name for name in names if name.endswith(".json"))
    return sorted(name for name in entries if name.split("/")[-2] >= first)


def covered_minutes(intervals: Iterable[Interval]) -> float:
    """Minutes in which at least one of the intervals was open."""
    minutes, until = 0.0, None
    for start, end in sorted(intervals):
        if until is None or start > until:
            until = start
        if end > until:
            minutes += (end - until).total_seconds() / 60
            until = end
    return minutes


def dealt(minutes: float, weights: Mapping[str, float]) -> Dict[str, float]:
    """The minutes divided by weight; all to NO_TABLE where nothing has any."""
    total = sum(weights.values())
    if not total:
        return {NO_TABLE: minutes}
    return {name: minutes * weight / total for name, weight in weights.items()}


def rows(
    entries: Iterable[Entry], by: str, *, start_minutes: Optional[float] = None
) -> List[Dict[str, Any]]:
    """One row per run, table or domain, the dearest first, and a last one for all.

    With `start_minutes` every cluster is counted as if it had started in just these,
    as on a laptop, where clusters start at once.
    """
    found: Dict[str, Dict[str, Any]] = {}
    total = _empty("all", by)
    for entry in entries:
        costs = _costs(entry, start_minutes)
        _add(total, costs, 1.0)
        for name, share in _shares(entry, by):
            _add(found.setdefault(name, _empty(name, by)), costs, share)
    return [*sorted(found.values(), key=lambda row: -row["minutes"]), total]


def to_csv(table: Iterable[Mapping[str, Any]], by: str) -> str:
    """Rows as CSV, a header first; minutes with three digits."""
    text = io.StringIO()
    writer = csv.DictWriter(text, (by, *COLUMNS), lineterminator="\n")
    writer.writeheader()
    for row in table:
        figures = {name: round(row[name], 3) for name in COLUMNS}
        writer.writerow({by: row[by], **figures})
    return text.getvalue()


def _shares(entry: Entry, by: str) -> Iterator[Tuple[str, float]]:
    """Who bears which part of a cluster: a table, that of its part in busy minutes."""
    if by != "table":
        yield entry[by], 1.0
        return
    busy = {name: sum(of.values()) for name, of in entry["tables"].items()}
    for name, share in dealt(1.0, busy).items():
        yield f"{entry['domain']}.{name}", share


def _costs(entry: Entry, start_minutes: Optional[float]) -> Dict[str, float]:
    minutes = entry["minutes"]
    start = minutes["start"] if start_minutes is None else start_minutes
    more = start - minutes["start"]
    return {
        "start": start,
        "busy": minutes["busy"],
        "idle": minutes["idle"],
        "minutes": minutes["total"] + more,
        "instance_minutes": entry["instance_minutes"] + more * entry["instances"],
        "normalized_hours": entry["normalized_instance_hours"] or 0,
    }


def _empty(name: str, by: str) -> Dict[str, Any]:
    return {by: name, **dict.fromkeys(COLUMNS, 0)}


def _add(row: Dict[str, Any], costs: Mapping[str, float], share: float) -> None:
    row["clusters"] += 1
    for name, value in costs.items():
        row[name] += value * share
