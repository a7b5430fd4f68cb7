"""Rules on the nodes of a cluster and on their scaling: EMR's own limits."""

from __future__ import annotations

from typing import Iterator, Sequence, Union

from lake_check.rules.rule_set import RuleSet
from lake_spec.diagnostics.diagnostic import Path, Problem, got
from lake_spec.model import ClusterSpec
from lake_spec.model.instances import (
    MOST_UNITS,
    CoreFleet,
    EbsVolume,
    InstanceFleets,
    ManagedScaling,
    TaskFleet,
    VolumeType,
)
from lake_spec.model.limits import Limits

INSTANCES = RuleSet()

_IOPS = {VolumeType.GP3: Limits(3000, 16000), VolumeType.IO1: Limits(100, 64000)}
_TOP = ("instances",)


@INSTANCES.rule("instances")
def instance_fleets_have_types_once_and_units(spec: ClusterSpec) -> Iterator[Problem]:
    """Refuse an instance type that a fleet has twice, and a fleet of tasks without units.

    Fix: Write EC2 instance types, each once, and give a fleet of tasks some units.
    """
    nodes = spec.instances
    if not isinstance(nodes, InstanceFleets):
        return
    yield from _types((*_TOP, "primary"), nodes.primary.instance_types)
    yield from _fleet((*_TOP, "core"), nodes.core)
    if nodes.task is not None:
        yield from _fleet((*_TOP, "task"), nodes.task)
        yield from _task((*_TOP, "task"), nodes.task)


def _types(top: Path, types: Sequence[str]) -> Iterator[Problem]:
    path = (*top, "instance_types")
    for position, name in enumerate(types):
        if name in types[:position]:
            yield got((*path, position), name, "Name each instance type once.")


def _fleet(top: Path, fleet: Union[CoreFleet, TaskFleet]) -> Iterator[Problem]:
    yield from _types(top, [each.instance_type for each in fleet.instance_types])


def _task(top: Path, task: TaskFleet) -> Iterator[Problem]:
    on_demand, on_spot = task.target_on_demand_capacity, task.target_spot_capacity
    if on_demand == on_spot == 0:
        hint = "Give it units on Spot or on demand, or remove `task`."
        yield got((*top, "target_spot_capacity"), on_spot, hint)


@INSTANCES.rule("instances")
def ebs_volume_limits(spec: ClusterSpec) -> Iterator[Problem]:
    """Refuse EBS volumes that AWS does not accept.

    Fix: Write iops only for gp3 and io1, within the limits that the message names, and
    throughput only for gp3.
    """
    for name in ("primary", "core", "task"):
        nodes = getattr(spec.instances, name)
        for position, volume in enumerate(nodes.ebs_volumes if nodes else ()):
            yield from _volume((*_TOP, name, "ebs_volumes", position), volume)


def _volume(top: Path, volume: EbsVolume) -> Iterator[Problem]:
    yield from _iops((*top, "iops"), volume)
    if volume.throughput is not None:
        path = (*top, "throughput")
        if volume.volume_type is not VolumeType.GP3:
            hint = "Remove it: only gp3 volumes support it."
            yield got(path, volume.throughput, hint)


def _iops(path: Path, volume: EbsVolume) -> Iterator[Problem]:
    kind = volume.volume_type
    if volume.iops is not None and kind in _IOPS:
        if not _IOPS[kind].hold(volume.iops):
            yield got(path, volume.iops, _IOPS[kind].hint)
    elif volume.iops is not None:
        yield got(path, volume.iops, "Remove it: only gp3 and io1 volumes support it.")
    elif kind is VolumeType.IO1:
        yield Problem(
            path, None, "missing", "Write 100 to 64000: an io1 volume requires it."
        )


_MOST = "managed_scaling.maximum_capacity_units"
_UNITS = (
    "instances.core.instance_count",
    "instances.core.target_on_demand_capacity",
    "instances.task.instance_count",
    "instances.task.target_on_demand_capacity",
    "instances.task.target_spot_capacity",
)


@INSTANCES.rule(_MOST, *_UNITS)
def scaling_limits_in_order(spec: ClusterSpec) -> Iterator[Problem]:
    """Refuse scaling whose minimum, start and maximum are not in order.

    Fix: Choose minimum <= maximum, and start with no more units than the maximum.
    """
    scaling = spec.managed_scaling
    if scaling is None:
        return
    top, most = ("managed_scaling",), scaling.maximum_capacity_units
    if most < scaling.minimum_capacity_units <= MOST_UNITS:
        least = (*top, "minimum_capacity_units")
        yield got(least, scaling.minimum_capacity_units, Limits(1, most).hint)
    for name, start in (
        ("maximum_core_capacity_units", spec.instances.core_units),
        ("maximum_on_demand_capacity_units", spec.instances.on_demand_units),
    ):
        value, fitting = getattr(scaling, name), Limits(start, max(start, most))
        is_possible = value is not None and 0 <= value <= MOST_UNITS
        if is_possible and not fitting.hold(value):
            yield got((*top, name), value, fitting.hint)
    if spec.instances.units > most:
        hint = (
            f"The cluster starts with {spec.instances.units} core and task units: "
            "start with fewer, or allow at least as many."
        )
        yield got((*top, "maximum_capacity_units"), most, hint)


@INSTANCES.rule(_MOST, *_UNITS)
def scaled_nodes_have_a_place(spec: ClusterSpec) -> Iterator[Problem]:
    """Refuse scaling that asks for nodes the cluster cannot add.

    Fix: Add `task` to `instances`, or correct the limits under `managed_scaling`.
    """
    scaling = spec.managed_scaling
    if scaling is None:
        return
    core = _or_all(scaling, "maximum_core_capacity_units")
    on_demand = _or_all(scaling, "maximum_on_demand_capacity_units")
    if core > on_demand:
        hint = (
            f"Up to {core} units are core nodes, which are always on demand: set "
            f"maximum_core_capacity_units to {on_demand} at most, or allow more here."
        )
        path = ("managed_scaling", "maximum_on_demand_capacity_units")
        yield got(path, on_demand, hint)
    if core < scaling.maximum_capacity_units and spec.instances.task is None:
        hint = "The other units are task nodes: add `task` to `instances`."
        yield got(("managed_scaling", "maximum_core_capacity_units"), core, hint)


def _or_all(scaling: ManagedScaling, name: str) -> int:
    value = getattr(scaling, name)
    return scaling.maximum_capacity_units if value is None else value
