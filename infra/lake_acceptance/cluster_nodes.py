"""The instances that a cluster asks EC2 for: types by part, and vCPUs on demand."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import List, Mapping, Tuple

from lake_spec.model import ClusterSpec
from lake_spec.model.instances import FleetInstanceType, InstanceGroups, Market


@dataclass(frozen=True)
class Part:
    """The primary, core or task nodes of a cluster."""

    types: Tuple[FleetInstanceType, ...]
    """The types that may stand for each other; a group has one."""
    on_demand: int
    """Units on demand at the start."""
    grows_on_demand: bool = True
    """False where managed scaling adds none on demand."""

    def vcpus(self, units: int, of_type: Mapping[str, int]) -> int:
        """Return the vCPUs of so many units, of the first type."""
        first = self.types[0]
        return math.ceil(units / first.weighted_capacity) * of_type[first.instance_type]


def parts(cluster: ClusterSpec) -> List[Part]:
    """Return the parts of a cluster: primary, core and, where there are some, task."""
    nodes = cluster.instances
    if isinstance(nodes, InstanceGroups):
        found = [
            Part((FleetInstanceType(nodes.primary.instance_type),), 1, False),
            Part(
                (FleetInstanceType(nodes.core.instance_type),),
                nodes.core.instance_count,
            ),
        ]
        if nodes.task:
            bought = nodes.task.market is not Market.SPOT
            count = nodes.task.instance_count if bought else 0
            kind = FleetInstanceType(nodes.task.instance_type)
            found.append(Part((kind,), count, bought))
        return found
    primary = tuple(FleetInstanceType(each) for each in nodes.primary.instance_types)
    found = [
        Part(primary, 1, False),
        Part(nodes.core.instance_types, nodes.core.target_on_demand_capacity),
    ]
    if nodes.task:
        found.append(
            Part(nodes.task.instance_types, nodes.task.target_on_demand_capacity)
        )
    return found


def most_on_demand_vcpus(cluster: ClusterSpec, of_type: Mapping[str, int]) -> int:
    """Return the vCPUs on demand of a cluster at its largest.

    `of_type` has the vCPUs of the first type of each part. Managed scaling is taken to
    its maximum, first by the nodes with most vCPUs for a unit.
    """
    primary, *others = parts(cluster)
    units = [part.on_demand for part in others]
    if scaling := cluster.managed_scaling:
        most = scaling.maximum_capacity_units
        bounds = (
            scaling.maximum_on_demand_capacity_units,
            scaling.maximum_core_capacity_units,
        )
        on_demand, core = (most if n is None else min(n, most) for n in bounds)
        free = max(0, on_demand - sum(units))
        room = [max(0, core - units[0]), free]
        dearest = sorted(enumerate(others), key=lambda e: -e[1].vcpus(1000, of_type))
        for number, part in dearest:
            added = min(free, room[number]) if part.grows_on_demand else 0
            units[number] += added
            free -= added
    return primary.vcpus(1, of_type) + sum(
        part.vcpus(count, of_type) for part, count in zip(others, units)
    )
