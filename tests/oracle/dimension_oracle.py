"""What a dimension must be, from the versions of its two tables alone.

Written from docs/contract.md (end of section 3), never from the code: look at every
instant at which anything changes, ask what is true then, join equal neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Collection, Dict, List, Optional


@dataclass(frozen=True)
class Version:
    """What was true of a key over [start, end); no end while it is."""

    start: datetime
    end: Optional[datetime]
    values: Dict[str, Any]


def true_at(timestamp: datetime, versions: List[Version]) -> Optional[Dict[str, Any]]:
    """The values at a moment, none if there is no row then."""
    for each in versions:
        if each.start <= timestamp and (each.end is None or timestamp < each.end):
            return each.values
    return None


def dimension_of(
    main: List[Version],
    joined: List[Version],
    *,
    joined_columns: Collection[str],
    tracked: Collection[str],
) -> List[Version]:
    """The versions of one key: the main table's row with the joined one's, if any."""
    nothing = {name: None for name in joined_columns}
    timestamps = {each.start for each in main + joined}
    timestamps |= {each.end for each in main + joined if each.end is not None}
    found: List[Version] = []
    for timestamp in sorted(timestamps):
        row = true_at(timestamp, main)
        if row is not None:
            row = {**row, **(true_at(timestamp, joined) or nothing)}
        last = found[-1] if found else None
        open_row = last.values if last and last.end is None else None
        if row is None and open_row is not None:
            found[-1] = Version(last.start, timestamp, open_row)
        elif row is not None and open_row is None:
            found.append(Version(timestamp, None, row))
        elif row is not None and all(row[n] == open_row[n] for n in tracked):
            found[-1] = Version(last.start, None, row)
        elif row is not None:
            found[-1] = Version(last.start, timestamp, open_row)
            found.append(Version(timestamp, None, row))
    return found
