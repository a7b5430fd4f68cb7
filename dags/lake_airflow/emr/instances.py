"""The Instances of a RunJobFlow request and the bounds of their scaling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lake_spec.model import ClusterSpec, EnvironmentSpec
from lake_spec.model.instances import (
    EbsVolume,
    FleetInstanceType,
    InstanceFleets,
    InstanceGroups,
    ManagedScaling,
    Market,
    SpotSpecification,
)

# The allocation strategy lets a fleet have 30 instance types; without, EMR takes 5.
_ON_DEMAND = {"AllocationStrategy": "lowest-price"}


def given(**members: Any) -> dict[str, Any]:
    """Return the members that have a value."""
    return {name: value for name, value in members.items() if value not in (None, [])}


def instances(cluster: ClusterSpec, environment: EnvironmentSpec) -> dict[str, Any]:
    """Return JobFlowInstancesConfig: the nodes and their network."""
    return {
        **_NODES[type(cluster.instances)](cluster.instances, environment.subnets),
        **_security_groups(environment),
        "KeepJobFlowAliveWhenNoSteps": True,
        "TerminationProtected": False,
    }


def managed_scaling_policy(cluster: ClusterSpec) -> dict[str, Any] | None:
    """Return ManagedScalingPolicy; None without scaling."""
    scaling = cluster.managed_scaling
    return {"ComputeLimits": _limits(cluster, scaling)} if scaling else None


def _limits(cluster: ClusterSpec, scaling: ManagedScaling) -> dict[str, Any]:
    fleets = isinstance(cluster.instances, InstanceFleets)
    return given(
        UnitType="InstanceFleetUnits" if fleets else "Instances",
        MinimumCapacityUnits=scaling.minimum_capacity_units,
        MaximumCapacityUnits=scaling.maximum_capacity_units,
        MaximumOnDemandCapacityUnits=scaling.maximum_on_demand_capacity_units,
        MaximumCoreCapacityUnits=scaling.maximum_core_capacity_units,
    )


def _groups(nodes: InstanceGroups, subnets: Sequence[str]) -> dict[str, Any]:
    primary, core, task = nodes.primary, nodes.core, nodes.task
    groups = [
        _group("Primary", "MASTER", primary, 1, Market.ON_DEMAND),
        _group("Core", "CORE", core, core.instance_count, Market.ON_DEMAND),
    ]
    if task:
        groups.append(_group("Task", "TASK", task, task.instance_count, task.market))
    return given(InstanceGroups=groups, Ec2SubnetId=subnets[0] if subnets else None)


def _group(name: str, role: str, group: Any, count: int, market: Market) -> Any:
    return given(
        Name=name,
        InstanceRole=role,
        InstanceType=group.instance_type,
        InstanceCount=count,
        Market=market.value,
        EbsConfiguration=_ebs(group.ebs_volumes),
    )


def _fleets(nodes: InstanceFleets, subnets: Sequence[str]) -> dict[str, Any]:
    primary, core, task = nodes.primary, nodes.core, nodes.task
    types = tuple(FleetInstanceType(name) for name in primary.instance_types)
    fleets = [
        _fleet("Primary", "MASTER", types, primary.ebs_volumes, on_demand=1),
        _fleet(
            "Core",
            "CORE",
            core.instance_types,
            core.ebs_volumes,
            on_demand=core.target_on_demand_capacity,
        ),
    ]
    if task:
        fleets.append(
            _fleet(
                "Task",
                "TASK",
                task.instance_types,
                task.ebs_volumes,
                on_demand=task.target_on_demand_capacity,
                on_spot=task.target_spot_capacity,
                spot=task.spot,
            )
        )
    return given(InstanceFleets=fleets, Ec2SubnetIds=list(subnets))


def _fleet(
    name: str,
    kind: str,
    types: Sequence[FleetInstanceType],
    volumes: Sequence[EbsVolume],
    *,
    on_demand: int,
    on_spot: int = 0,
    spot: SpotSpecification | None = None,
) -> dict[str, Any]:
    ebs = _ebs(volumes)
    return {
        "Name": name,
        "InstanceFleetType": kind,
        "TargetOnDemandCapacity": on_demand,
        "TargetSpotCapacity": on_spot,
        "InstanceTypeConfigs": [
            given(
                InstanceType=each.instance_type,
                WeightedCapacity=each.weighted_capacity,
                EbsConfiguration=ebs,
            )
            for each in types
        ],
        "LaunchSpecifications": given(
            OnDemandSpecification=_ON_DEMAND, SpotSpecification=_spot(spot)
        ),
    }


def _spot(spot: SpotSpecification | None) -> dict[str, Any] | None:
    if spot is None:
        return None
    return {
        "TimeoutDurationMinutes": spot.timeout_duration_minutes,
        "TimeoutAction": spot.timeout_action.value,
        "AllocationStrategy": spot.allocation_strategy.value,
    }


def _ebs(volumes: Sequence[EbsVolume]) -> dict[str, Any] | None:
    if not volumes:
        return None
    configs = [
        {
            "VolumeSpecification": given(
                VolumeType=volume.volume_type.value,
                SizeInGB=volume.size_in_gb,
                Iops=volume.iops,
                Throughput=volume.throughput,
            ),
            "VolumesPerInstance": volume.volumes_per_instance,
        }
        for volume in volumes
    ]
    return {"EbsBlockDeviceConfigs": configs}


def _security_groups(environment: EnvironmentSpec) -> dict[str, Any]:
    groups = environment.security_groups
    if groups is None:
        return {}
    return given(
        EmrManagedMasterSecurityGroup=groups.primary,
        EmrManagedSlaveSecurityGroup=groups.core_and_task,
        ServiceAccessSecurityGroup=groups.service_access,
        AdditionalMasterSecurityGroups=list(groups.additional_primary),
        AdditionalSlaveSecurityGroups=list(groups.additional_core_and_task),
    )


_NODES: dict[type, Callable[..., dict[str, Any]]] = {
    InstanceGroups: _groups,
    InstanceFleets: _fleets,
}
