"""What is left of a column's values on a way to another column, and on several ways."""

from __future__ import annotations

from typing import Dict, Iterable, Tuple, TypeVar

from lake_spec.model import ColumnUse

_FROM_ALL_TO_NOTHING = tuple(ColumnUse)

Origin = TypeVar("Origin")


def on_a_way(one: ColumnUse, next_one: ColumnUse) -> ColumnUse:
    """Return the use of values that are used one after the other: less is left."""
    return max(one, next_one, key=_FROM_ALL_TO_NOTHING.index)


def on_all_ways(
    found: Iterable[Tuple[Origin, ColumnUse]],
) -> Dict[Origin, ColumnUse]:
    """Return each origin once, by the way on which most of its values is left."""
    uses: Dict[Origin, ColumnUse] = {}
    for origin, use in found:
        before = uses.get(origin, use)
        uses[origin] = min(before, use, key=_FROM_ALL_TO_NOTHING.index)
    return uses
