"""The rule on what runs on the primary node: the driver of every step."""

from __future__ import annotations

import re
from typing import Iterator, Optional, Tuple

from lake_check.rules.rule_set import RuleSet
from lake_spec.diagnostics.diagnostic import Problem, got
from lake_spec.model import ClusterSpec
from lake_spec.model.instances import InstanceGroups
from lake_spec.platform.parallelism import vcpus

DRIVERS = RuleSet()

FOR_DRIVERS = 0.75
"""Share of the primary node's memory; the rest is for EMR."""

_GIB_PER_CORE = {"c": 2, "m": 4, "r": 8}
_TYPE = re.compile(r"([cmr])\d[a-z0-9-]*\.(?:\d{0,2}x)?large", re.ASCII)
_MEMORY = re.compile(r"(\d{1,6})([mg])", re.ASCII)


@DRIVERS.rule("instances", "driver_memory")
def drivers_fit_the_primary_node(spec: ClusterSpec) -> Iterator[Problem]:
    """Refuse drivers that do not fit into the memory of the primary node.

    Fix: Lower `driver_memory` or `step_concurrency_level`, or choose a larger primary
    node.
    """
    memory = _MEMORY.fullmatch(spec.driver_memory)
    known = [(each, _gib(each)) for each in _primary_types(spec)]
    rooms = [(gib, each) for each, gib in known if gib is not None]
    if not memory or not rooms:
        return
    gib, smallest = min(rooms)
    at_once = spec.step_concurrency_level
    room = int(FOR_DRIVERS * gib * 1024) // at_once  # MiB
    if int(memory[1]) * {"m": 1, "g": 1024}[memory[2]] > room:
        hint = (
            "Every step has its driver on the primary node, and drivers may use "
            f"{FOR_DRIVERS:.0%} of the {gib} GiB of {smallest}. With "
            f"step_concurrency_level {at_once} write {room}m at most, or choose a "
            "lower level or a larger primary node."
        )
        yield got(("driver_memory",), spec.driver_memory, hint)


def _primary_types(spec: ClusterSpec) -> Tuple[str, ...]:
    nodes = spec.instances
    if isinstance(nodes, InstanceGroups):
        return (nodes.primary.instance_type,)
    return nodes.primary.instance_types


def _gib(instance_type: str) -> Optional[int]:
    """Return the memory of the families c, m and r in usual sizes; None for others."""
    found = _TYPE.fullmatch(instance_type)
    if not found:
        return None
    return vcpus(instance_type) * _GIB_PER_CORE[found[1]]
