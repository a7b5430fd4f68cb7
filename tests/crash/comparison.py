"""Tables after a kill next to those that nobody disturbed."""

from __future__ import annotations

import re
from collections import Counter
from typing import Dict, Iterable, List, Sequence

Tables = Dict[str, Counter]
"""Layer -> its rows as JSON, each with how often it is there."""

_INSTANT = re.compile(r"(\d+)(?:_\d+)?\..*?(requested|inflight)?$")
"""Hudi's names: `1.commit.requested`, `1.inflight`, then `1_2.commit` or `1.commit`."""


def half_visible(
    seen: Tables, states: Sequence[Tables], layers: Iterable[str]
) -> List[str]:
    """Of these layers, those that show neither the old rows nor new ones."""
    return [
        f"killed: {layer} is neither old nor new: {_told(seen[layer], states[-1][layer])}"
        for layer in layers
        if seen[layer] not in [rows[layer] for rows in states]
    ]


def unequal(when: str, made: Tables, wanted: Tables) -> List[str]:
    """Tables whose rows are others."""
    return [
        f"{when}: {layer}: {_told(made[layer], wanted[layer])}"
        for layer in wanted
        if made[layer] != wanted[layer]
    ]


def pending(names: Iterable[str]) -> List[str]:
    """Of the files of a timeline those of what was begun and not ended."""
    begun, ended = {}, set()
    for name in names:
        found = _INSTANT.match(name)
        if found and found.group(2):
            begun[found.group(1)] = name
        elif found:
            ended.add(found.group(1))
    return sorted(name for instant, name in begun.items() if instant not in ended)


def _told(made: Counter, wanted: Counter) -> str:
    surplus, missing = made - wanted, wanted - made
    some = [
        f"{sign}{row}"
        for sign, rows in (("+", surplus), ("-", missing))
        for row in list(rows)[:2]
    ]
    return f"{surplus.total()} too many, {missing.total()} missing: {' '.join(some)}"
