"""Schedules played one after the other, for tests."""

from __future__ import annotations

from typing import Any, Iterator, Sequence

from tests.simulator import __main__ as command
from tests.simulator import designs
from tests.simulator.invariants import violations
from tests.simulator.world import PLANS, World

SCHEDULES = 40


def play(
    design: Any = designs.ours,
    schedules: int = SCHEDULES,
    seeds: Sequence[int] = (),
) -> Iterator[World]:
    """Worlds of these seeds, or of so many, each after its schedule."""
    wired = {kind: design(plan) for kind, plan in PLANS.items()}
    for seed in seeds or range(1, schedules + 1):
        played = World(seed, wired)
        played.play()
        yield played


def broken(**more: Any) -> Iterator[str]:
    """The kinds of invariants that schedules break, one after the other."""
    for played in play(**more):
        yield from map(command.kind_of, violations(played))
