"""The order in which products that read each other are built."""

from __future__ import annotations

from typing import Iterable, List

from lake_spec.model import TableSpec


def product_levels(products: Iterable[TableSpec]) -> List[List[TableSpec]]:
    """Group products so that each reads only tables of groups before its own.

    The products of a group can be built side by side. Those that read each other in a
    circle, which `validate` reports, are the last group.
    """
    waiting = {each.full_name: each for each in products}
    levels: List[List[TableSpec]] = []
    while waiting:
        ready = [
            name
            for name, each in sorted(waiting.items())
            if not set(each.source.reads) & set(waiting)
        ]
        levels.append([waiting.pop(name) for name in ready or sorted(waiting)])
    return levels
