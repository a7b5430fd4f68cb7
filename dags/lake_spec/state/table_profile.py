"""The profile of a table: what its current had in each column when it was last measured.

One object per table, `<runs>/profiles/<domain>/<table>.json`, replaced by each newer one:

    {"format": 1, "written_by": ..., "domain": ..., "table": ..., "run": ..., "at": ...,
     "instant": ..., "rows": 15091, "columns": [
       {"name": "nationality", "type": "string", "nulls": 2475, "distinct": 108, "min": ...,
        "max": ..., "min_length": 4, "max_length": 18, "top": [["American", 5153], ...],
        "histogram": [], "counts_only": false}, ...]}
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Callable, Optional, Tuple, Union

from lake_spec.layout.table_folders import table_path
from lake_spec.state.state_format import (
    UnreadableState,
    from_fields,
    parse_state,
    state_text,
    to_fields,
)

_FOLDER = "profiles"

TOP = 10
"""Number of values that a profile lists, those with the most rows."""

BINS = 20
"""Number of parts of a histogram, all of the same width between min and max."""

LONGEST = 100
"""Characters of a value after which it is cut."""


@dataclass(frozen=True)
class ColumnProfile:
    """A column: counts are rows, values are texts, cut after 100 characters."""

    name: str
    type: str
    nulls: int
    distinct: Optional[int] = None
    """Number of different values, within about 5%; None for lists, maps and structs."""
    counts_only: bool = False
    """True where values may not be shown: then only the fields above have a value."""
    min: Optional[str] = None
    max: Optional[str] = None
    min_length: Optional[int] = None
    max_length: Optional[int] = None
    top: Tuple[Tuple[str, int], ...] = ()
    """Values with the most rows, each at least two, and the number of these rows."""
    histogram: Tuple[int, ...] = ()
    """Rows in each of 20 parts between min and max, of numbers, dates and timestamps."""

    def counts(self) -> ColumnProfile:
        """Return the same without values."""
        return ColumnProfile(self.name, self.type, self.nulls, self.distinct, True)


@dataclass(frozen=True)
class TableProfile:
    """The columns of a table's current as of a commit."""

    domain: str
    table: str
    run: str
    at: str
    """Time of measurement: ISO 8601 in UTC."""
    instant: str
    """Instant of the commit of current that was measured."""
    rows: int
    columns: Tuple[ColumnProfile, ...] = ()

    @property
    def shown(self) -> Tuple[str, ...]:
        """The columns whose values it shows."""
        return tuple(each.name for each in self.columns if not each.counts_only)

    def column(self, name: str) -> Optional[ColumnProfile]:
        """Return the profile of a column; None if it was not measured."""
        return next((each for each in self.columns if each.name == name), None)

    def redacted(self, may_show: Callable[[str], bool]) -> TableProfile:
        """Return the same with counts alone of columns whose values may not be shown.

        A spec may declare a column personal after the profile was measured.
        """
        columns = (e if may_show(e.name) else e.counts() for e in self.columns)
        return replace(self, columns=tuple(columns))


def profiles_folder(domain: str) -> str:
    """Return the folder of a domain's profiles, relative to the root of the runs."""
    return f"{_FOLDER}/{domain}/"


def profile_file(table: str) -> str:
    """Return the path of the profile of a table, `domain.table`, below the runs' root."""
    return f"{_FOLDER}/{table_path(table)}.json"


def profile_uri(runs: str, table: str) -> str:
    """Return the address of the profile of a table, `domain.table`."""
    return f"{runs.rstrip('/')}/{profile_file(table)}"


def profile_text(profile: TableProfile, release: str = "") -> str:
    """Encode a profile as JSON text."""
    return state_text(to_fields(profile), release=release, indent=1)


def read_profile(content: Union[str, bytes], where: str) -> TableProfile:
    """Decode a profile. Raises UnreadableState for what is none, or of a newer format."""
    data = parse_state(content, what="a table's profile", where=where)
    try:
        columns = tuple(
            from_fields(
                ColumnProfile,
                {
                    **each,
                    "top": tuple((str(text), int(n)) for text, n in each["top"]),
                    "histogram": tuple(map(int, each["histogram"])),
                },
            )
            for each in data["columns"]
        )
        return from_fields(TableProfile, {**data, "columns": columns})
    except (KeyError, TypeError, ValueError) as error:
        raise UnreadableState(
            f"a table's profile cannot be read: {error!r}. Location: {where}. Delete it: "
            "the next maintenance makes it again."
        ) from None
