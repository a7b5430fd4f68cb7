"""How the change log keeps the values of a column whose type was widened.

Hudi writes and reads some widenings right, refuses others, and with a few it
leaves a table that nobody can read (decision 013). So nothing stored changes
its type: wider values go to a further column, `lake_2_<name>`, and readers are
shown one column of the widest type. Fields are added to structs in place.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Dict, List, Optional, Sequence, Tuple

from lake_spec.model.column_type import ColumnType
from lake_spec.text.sql_text import sql_identifier, sql_literal
from lake_spark.schema.casts import Conversion
from lake_spark.schema.promotion import float_paths, merged, only_adds

Typed = Tuple[str, ColumnType]
_WIDER = re.compile(r"lake_([2-9]|[1-9][0-9]+)_(.+)")


@dataclass(frozen=True)
class Stored:
    """One column of the table as readers see it: where its values are."""

    name: str
    places: Tuple[Typed, ...]

    @property
    def kind(self) -> ColumnType:
        """Return the widest of its types: that of its newest place."""
        return self.places[-1][1]

    @property
    def shown(self) -> str:
        """Return an expression of the widest type: a row has its value in one place."""
        values = [
            Conversion().value(sql_identifier(place), kind, self.kind)
            for place, kind in reversed(self.places)
        ]
        return f"coalesce({', '.join(values)})" if len(values) > 1 else values[0]

    @property
    def narrow(self) -> List[Tuple[str, List[str]]]:
        """Return (place, paths) of floats that are shown as doubles."""
        found = [(p, float_paths(k, self.kind, self.name)) for p, k in self.places]
        return [(place, paths) for place, paths in found if paths]


def shown_columns(stored: Sequence[Typed]) -> List[Stored]:
    """Return the columns that readers see of those that are stored."""
    names = {name.lower() for name, _ in stored}
    places: Dict[str, List[Typed]] = {}
    for name, kind in stored:
        wider = _WIDER.fullmatch(name)
        shown = wider.group(2) if wider and wider.group(2).lower() in names else name
        places.setdefault(shown, []).append((name, kind))
    return [
        Stored(name, tuple(sorted(found, key=_age))) for name, found in places.items()
    ]


def shown_expressions(columns: Sequence[Stored]) -> List[str]:
    """Return `<value> AS <column>` of each.

    `lake_narrow` names also floats stored before.
    """
    cases = [
        f"CASE WHEN {sql_identifier(place)} IS NOT NULL THEN {sql_literal(','.join(paths))} END"
        for each in columns
        for place, paths in each.narrow
    ]
    marks = f"nullif(concat_ws(',', lake_narrow, {', '.join(cases)}), '')"
    return [
        f"{marks if cases and each.name == 'lake_narrow' else each.shown}"
        f" AS {sql_identifier(each.name)}"
        for each in columns
    ]


def _age(place: Typed) -> int:
    wider = _WIDER.fullmatch(place[0])
    return int(wider.group(1)) if wider else 1


@dataclass(frozen=True)
class Written:
    """One stored column of a write; `column` is what it takes, null if nothing."""

    place: str
    kind: ColumnType
    column: Optional[Typed]

    @property
    def expression(self) -> str:
        """Return `<value> AS <place>`."""
        value = f"CAST(NULL AS {self.kind.text})"
        if self.column is not None:
            name, kind = self.column
            value = Conversion().value(sql_identifier(name), kind, self.kind)
        return f"{value} AS {sql_identifier(self.place)}"


def written_columns(stored: Sequence[Typed], rows: Sequence[Typed]) -> List[Written]:
    """Return where the columns of new rows go: every stored column, then the new ones."""
    known = {each.name: each for each in shown_columns(stored)}
    taking: Dict[str, Written] = {}
    for name, kind in rows:
        place, grown = _place(name, kind, known.get(name))
        taking[place] = Written(place, grown, (name, kind))
    kept = [taking.pop(name, Written(name, kind, None)) for name, kind in stored]
    return kept + list(taking.values())


def _place(
    name: str, kind: ColumnType, known: Optional[Stored]
) -> Tuple[str, ColumnType]:
    if known is None:
        return name, kind
    place, newest = known.places[-1]
    grown = merged(newest, kind, promote=False)
    if only_adds(kind, grown):
        return place, grown
    return f"lake_{_age(known.places[-1]) + 1}_{name}", kind
