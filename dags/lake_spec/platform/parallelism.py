"""Cores of a cluster at its largest, by which a step plans its shuffles: docs/clusters.md."""

from __future__ import annotations

import math
import re
from typing import Iterable

from lake_spec.model import ClusterSpec
from lake_spec.model.instances import FleetInstanceType, InstanceFleets

CLUSTER_CORES = "spark.lake.clusterCores"
"""Spark setting of a cluster: its vCPUs, also of nodes that are still to come."""

SHUFFLE_PARTITIONS_PER_CORE = 3
"""Adaptive execution joins those that are small."""

_VCPUS = {"medium": 1, "large": 2, "xlarge": 4, "metal": 64}
_XLARGES = re.compile(r"(?:metal-)?(\d+)xl(?:arge)?", re.ASCII)
_VCPUS_OF_OTHERS = 4


def vcpus(instance_type: str) -> int:
    """Return the vCPUs of an EC2 instance type by its size: 4 for each xlarge."""
    size = instance_type.partition(".")[2]
    many = _XLARGES.fullmatch(size)
    if many:
        return 4 * int(many[1])
    return _VCPUS.get(size, _VCPUS_OF_OTHERS)


def cluster_cores(cluster: ClusterSpec) -> int:
    """Return the vCPUs of core and task nodes when the cluster is at its largest.

    A fleet may take any of its types, so that the one with most vCPUs in a unit counts.
    """
    nodes, scaling = cluster.instances, cluster.managed_scaling
    if isinstance(nodes, InstanceFleets):
        core = _of_a_unit(nodes.core.instance_types)
        task = _of_a_unit(nodes.task.instance_types) if nodes.task else 0.0
    else:
        core = vcpus(nodes.core.instance_type)
        task = vcpus(nodes.task.instance_type) if nodes.task else 0
    if scaling is not None:
        return math.ceil(scaling.maximum_capacity_units * max(core, task))
    task_units = nodes.units - nodes.core_units
    return math.ceil(nodes.core_units * core + task_units * task)


def _of_a_unit(types: Iterable[FleetInstanceType]) -> float:
    return max(vcpus(each.instance_type) / each.weighted_capacity for each in types)
