"""The ledger of cluster-minutes: one entry per cluster, read by run, table or domain.

An entry is written when its cluster is gone and holds what was seen. How starting and
idle minutes are shared is decided here, when entries are read: docs/cost.md. So are prices.
"""

from __future__ import annotations

import csv
import io
from datetime import date, datetime, timedelta, timezone
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Tuple

from lake_check.costs.prices import Prices, minutes_by_type

Entry = Mapping[str, Any]
OF_ANY_DOMAIN = "j-"
"""What names of entries begin with that older releases wrote: those of clusters alone."""
Interval = Tuple[datetime, datetime]

NO_TABLE = "-"
"""Stands for minutes that no table's report explains."""

BY = ("run", "table", "domain")
COLUMNS = (
    *("clusters", "start", "busy", "idle", "minutes"),
    *("instance_minutes", "normalized_hours"),
)
"""Columns that are summed over clusters; times are minutes."""

_DIGITS = 3  # of what is written


def ledger_folder(runs: str) -> str:
    """Return the folder of all entries, below the root of the runs, with a slash."""
    return f"{runs.rstrip('/')}/costs/"


def day_folder(runs: str, day: date) -> str:
    """Return the folder of the entries of clusters created on a day, in UTC."""
    return f"{ledger_folder(runs)}{day.isoformat()}/"


def entry_start(domain: str) -> str:
    """Return what the names of a domain's entries begin with."""
    return f"{domain}."


def entry_file(domain: str, cluster: str) -> str:
    """Return the name of an entry in the folder of its day."""
    return f"{entry_start(domain)}{cluster}.json"


def cluster_of(name: str) -> str:
    """Return the id of the cluster that an entry is of, from its address."""
    return name.rsplit("/", 1)[-1].rsplit(".", 2)[-2]


def made_since(names: Iterable[str], since: date) -> List[str]:
    """Select the addresses of entries of clusters created on that day or later."""
    first = since.isoformat()
    entries = (name for name in names if name.endswith(".json"))
    return sorted(name for name in entries if name.split("/")[-2] >= first)


def covered_minutes(intervals: Iterable[Interval]) -> float:
    """Return the minutes in which at least one of the intervals was open."""
    minutes, until = 0.0, None
    for start, end in sorted(intervals):
        if until is None or start > until:
            until = start
        if end > until:
            minutes += (end - until).total_seconds() / 60
            until = end
    return minutes


def distribute(minutes: float, weights: Mapping[Any, float]) -> Dict[Any, float]:
    """Divide minutes by weight; all go to NO_TABLE if no weight is positive."""
    total = sum(weights.values())
    if not total:
        return {NO_TABLE: minutes}
    return {name: minutes * weight / total for name, weight in weights.items()}


def rows(
    entries: Iterable[Entry],
    by: str,
    *,
    start_minutes: Optional[float] = None,
    prices: Optional[Prices] = None,
) -> List[Dict[str, Any]]:
    """Return a row per run, table or domain by falling cost, and the total last.

    With `start_minutes` every cluster is counted as if it had started in just these,
    as on a laptop, where clusters start at once. With `prices` each row has its cost as
    its last column: None if one of its clusters has none. Raises SpecErrors for prices
    that are needed and lacking.
    """
    entries = list(entries)
    column = prices.column if prices else ""
    columns = (*COLUMNS, column) if prices else COLUMNS
    if prices:
        prices.require(entries)
    found: Dict[str, Dict[str, Any]] = {}
    total = _empty("all", by, columns)
    for entry in entries:
        costs = _costs(entry, start_minutes, prices)
        _add(total, costs, 1.0)
        for name, share in _shares(entry, by):
            _add(found.setdefault(name, _empty(name, by, columns)), costs, share)
    dearest = sorted(
        found.values(), key=lambda row: (-(row.get(column) or 0), -row["minutes"])
    )
    return [*dearest, total]


def without_cost(
    entries: Iterable[Entry], prices: Prices, *, start_minutes: Optional[float] = None
) -> str:
    """Describe the clusters without cost and the cost of the others, or return ""."""
    entries = list(entries)
    priced = [entry for entry in entries if minutes_by_type(entry) is not None]
    others = [entry for entry in entries if minutes_by_type(entry) is None]
    if not others:
        return ""
    total = rows(priced, "run", start_minutes=start_minutes, prices=prices)[-1]
    newest = max(datetime.fromisoformat(entry["created"]) for entry in others)
    after = newest.astimezone(timezone.utc).date() + timedelta(days=1)
    return (
        f"{len(others)} of {len(entries)} clusters have no cost: their entries lack "
        "instance types. Rows with such a cluster show `-`; the other clusters cost "
        f"{total[prices.column]:.{_DIGITS}f} {prices.currency}. Exclude them with "
        f"`--since {after}`."
    )


def to_csv(table: Iterable[Mapping[str, Any]], by: str) -> str:
    """Format rows as CSV, a header first; figures with three digits, `-` for no
    cost."""
    table = list(table)
    text = io.StringIO()
    writer = csv.DictWriter(text, tuple(table[0]), lineterminator="\n")
    writer.writeheader()
    for row in table:
        figures = {name: _written(row[name]) for name in row if name != by}
        writer.writerow({by: row[by], **figures})
    return text.getvalue()


def _written(figure: Optional[float]) -> Any:
    return "-" if figure is None else round(figure, _DIGITS)


def _shares(entry: Entry, by: str) -> Iterator[Tuple[str, float]]:
    """Return the parts of a cluster; a table's part is its share of the busy
    minutes."""
    if by != "table":
        yield entry[by], 1.0
        return
    busy = {name: sum(of.values()) for name, of in entry["tables"].items()}
    for name, share in distribute(1.0, busy).items():
        yield f"{entry['domain']}.{name}", share


def _costs(
    entry: Entry, start_minutes: Optional[float], prices: Optional[Prices]
) -> Dict[str, Optional[float]]:
    """Return the sums of one cluster: all columns but `clusters`."""
    minutes = entry["minutes"]
    start = minutes["start"] if start_minutes is None else start_minutes
    more = start - minutes["start"]
    costs = {
        "start": start,
        "busy": minutes["busy"],
        "idle": minutes["idle"],
        "minutes": minutes["total"] + more,
        "instance_minutes": entry["instance_minutes"] + more * entry["instances"],
        "normalized_hours": entry["normalized_instance_hours"] or 0,
    }
    if prices:
        costs[prices.column] = prices.of(entry, more)
    return costs


def _empty(name: str, by: str, columns: Iterable[str]) -> Dict[str, Any]:
    return {by: name, **dict.fromkeys(columns, 0)}


def _add(
    row: Dict[str, Any], costs: Mapping[str, Optional[float]], share: float
) -> None:
    """Add a part of a cluster; a sum that lacks an addend becomes None."""
    row["clusters"] += 1
    for name, value in costs.items():
        if row[name] is not None:
            row[name] = None if value is None else row[name] + value * share
