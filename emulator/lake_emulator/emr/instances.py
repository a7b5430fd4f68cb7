"""The instances that a cluster would have: shown as asked for, never started."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from lake_emulator.emr.describe import timestamp, present
from lake_emulator.emr.models import Cluster

_TARGETS = {"ON_DEMAND": "TargetOnDemandCapacity", "SPOT": "TargetSpotCapacity"}
"""Where a fleet says how much of its capacity is bought in which market."""


def groups(cluster: Cluster) -> list[dict[str, Any]]:
    """Return instance groups, also where the request named only types and a count."""
    said = cluster.described.get("Instances", {})
    return [
        {
            "Id": f"ig-{cluster.id[2:]}{number}",
            **present(
                Name=group.get("Name"),
                Market=group.get("Market", "ON_DEMAND"),
                InstanceGroupType=group["InstanceRole"],
                InstanceType=group["InstanceType"],
                RequestedInstanceCount=group["InstanceCount"],
                RunningInstanceCount=group["InstanceCount"] if cluster.alive else 0,
                Status=_status(cluster),
            ),
        }
        for number, group in enumerate(said.get("InstanceGroups") or _plain(said))
    ]


def fleets(cluster: Cluster) -> list[dict[str, Any]]:
    said = cluster.described.get("Instances", {}).get("InstanceFleets") or []
    return [
        {
            "Id": f"if-{cluster.id[2:]}{number}",
            **present(
                Name=fleet.get("Name"),
                InstanceFleetType=fleet["InstanceFleetType"],
                TargetOnDemandCapacity=fleet.get("TargetOnDemandCapacity", 0),
                TargetSpotCapacity=fleet.get("TargetSpotCapacity", 0),
                ProvisionedOnDemandCapacity=fleet.get("TargetOnDemandCapacity", 0),
                ProvisionedSpotCapacity=fleet.get("TargetSpotCapacity", 0),
                InstanceTypeSpecifications=fleet.get("InstanceTypeConfigs"),
                LaunchSpecifications=fleet.get("LaunchSpecifications"),
                Status=_status(cluster),
            ),
        }
        for number, fleet in enumerate(said)
    ]


def instances(cluster: Cluster) -> list[dict[str, Any]]:
    """Return one entry per instance of the groups or fleets, as ListInstances gives it."""
    return [
        {
            "Id": f"ci-{owner['Id'][3:]}{number}",
            "Ec2InstanceId": f"i-{owner['Id'][3:].lower()}{number}",
            "PublicDnsName": "localhost",
            "PrivateDnsName": "localhost",
            "PrivateIpAddress": "127.0.0.1",
            **owned,
            "Status": _status(cluster),
        }
        for owner, bought in _bought(cluster)
        for number, owned in enumerate(bought)
    ]


def _bought(cluster: Cluster) -> Iterator[tuple[dict[str, Any], list[dict[str, str]]]]:
    """Yield each group and fleet with owner, market and type of each of its instances."""
    for group in groups(cluster):
        one = {"InstanceGroupId": group["Id"], "Market": group["Market"]}
        one["InstanceType"] = group["InstanceType"]
        yield group, [one] * group["RequestedInstanceCount"]
    for fleet in fleets(cluster):
        yield fleet, [
            {"InstanceFleetId": fleet["Id"], "Market": market, "InstanceType": kind}
            for market, target in _TARGETS.items()
            for kind in _filled(fleet, fleet[target])
        ]


def _filled(fleet: dict[str, Any], target: int) -> list[str]:
    """Return the types that fill a target: as many as needed of the first that was asked for."""
    first, *_ = fleet.get("InstanceTypeSpecifications") or [{}]
    count = math.ceil(target / first.get("WeightedCapacity", 1))
    return [first["InstanceType"]] * count if first else []


def _plain(said: dict[str, Any]) -> list[dict[str, Any]]:
    count = said.get("InstanceCount", 1)
    primary = said.get("MasterInstanceType")
    wanted = [("MASTER", primary, 1 if primary else 0)]
    wanted.append(("CORE", said.get("SlaveInstanceType", primary), count - 1))
    return [
        {"InstanceRole": role, "InstanceType": kind, "InstanceCount": number}
        for role, kind, number in wanted
        if number > 0
    ]


def _status(cluster: Cluster) -> dict[str, Any]:
    return {
        "State": cluster.state.instances,
        "StateChangeReason": {},
        "Timeline": present(
            CreationDateTime=timestamp(cluster.created),
            ReadyDateTime=timestamp(cluster.ready),
            EndDateTime=timestamp(cluster.ended),
        ),
    }
