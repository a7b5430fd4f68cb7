"""The cores of a cluster's file, at the largest size that it allows."""

import pytest

from lake_spec.model import ClusterSpec
from lake_spec.model.instances import (
    CoreFleet,
    CoreGroup,
    FleetInstanceType,
    InstanceFleets,
    InstanceGroups,
    ManagedScaling,
    TaskFleet,
    TaskGroup,
)
from lake_spec.platform.parallelism import cluster_cores, vcpus


@pytest.mark.parametrize(
    "instance_type, expected",
    [
        ("m7g.medium", 1),
        ("m7g.large", 2),
        ("m7g.xlarge", 4),
        ("r7g.12xlarge", 48),
        ("m7i.metal-24xl", 96),
        ("m6g.metal", 64),
        ("x9.unheard", 4),
    ],
)
def test_the_size_of_an_instance_type_says_its_vcpus(instance_type, expected):
    assert vcpus(instance_type) == expected


GROUPS = InstanceGroups(core=CoreGroup("m7g.2xlarge", 3), task=TaskGroup("r7g.xlarge"))
FLEETS = InstanceFleets(
    core=CoreFleet((FleetInstanceType("r7g.2xlarge"),), 2),
    task=TaskFleet(
        (FleetInstanceType("r7g.2xlarge"), FleetInstanceType("r7g.8xlarge", 2)), 4
    ),
)


@pytest.mark.parametrize(
    "instances, scaling, expected",
    [
        (InstanceGroups(core=CoreGroup("m7g.xlarge", 2)), None, 8),
        (GROUPS, None, 3 * 8 + 4),
        (GROUPS, ManagedScaling(2, 10), 10 * 8),
        (FLEETS, None, 2 * 8 + 4 * 16),
        (FLEETS, ManagedScaling(2, 20), 20 * 16),
    ],
    ids=["core", "groups", "scaled-groups", "fleets", "scaled-fleets"],
)
def test_the_cores_are_those_of_all_nodes_at_the_largest_size(
    instances, scaling, expected
):
    spec = ClusterSpec("c", instances=instances, managed_scaling=scaling)
    assert cluster_cores(spec) == expected
