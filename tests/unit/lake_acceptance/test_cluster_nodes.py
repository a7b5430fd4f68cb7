"""The most vCPUs on demand that a cluster can have, by its file."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lake_acceptance.cluster_nodes import most_on_demand_vcpus, parts
from lake_acceptance.subject import PROJECT
from lake_check.parsing.loader import load_cluster
from lake_spec.model import ClusterSpec
from lake_spec.model.instances import (
    CoreFleet,
    CoreGroup,
    FleetInstanceType,
    InstanceFleets,
    InstanceGroups,
    ManagedScaling,
    Market,
    PrimaryGroup,
    TaskFleet,
    TaskGroup,
)

OF_TYPE = {"small": 2, "middle": 4, "big": 16}


def grouped(task: TaskGroup | None) -> InstanceGroups:
    return InstanceGroups(PrimaryGroup("small"), CoreGroup("middle", 2), task)


ON_SPOT = grouped(TaskGroup("big", 3, Market.SPOT))
BOUGHT = grouped(TaskGroup("big", 3, Market.ON_DEMAND))
FLEETS = InstanceFleets(
    CoreFleet((FleetInstanceType("middle", 2),), 3),
    task=TaskFleet((FleetInstanceType("big", 4),), target_on_demand_capacity=5),
)


def most(nodes, *scaling):
    bounds = ManagedScaling(1, *scaling) if scaling else None
    cluster = ClusterSpec("c", instances=nodes, managed_scaling=bounds)
    return most_on_demand_vcpus(cluster, {**OF_TYPE, "m7g.xlarge": 4})


@pytest.mark.parametrize(
    "nodes, scaling, vcpus",
    [
        (grouped(None), (), 2 + 2 * 4),
        (ON_SPOT, (), 2 + 2 * 4),
        (BOUGHT, (), 2 + 2 * 4 + 3 * 16),
        (FLEETS, (), 4 + 2 * 4 + 2 * 16),  # 3 units by 2, 5 units by 4
        (grouped(None), (10,), 2 + 10 * 4),
        (ON_SPOT, (10,), 2 + 10 * 4),
        (ON_SPOT, (10, 4), 2 + 4 * 4),
        (ON_SPOT, (10, None, 3), 2 + 3 * 4),
        (BOUGHT, (10,), 2 + 2 * 4 + 8 * 16),
        (BOUGHT, (10, None, 7), 2 + 2 * 4 + 5 * 16),
        (BOUGHT, (1,), 2 + 2 * 4 + 3 * 16),  # what is there at the start
        (FLEETS, (12,), 4 + 2 * 4 + 3 * 16),  # 3 units, and 9
    ],
)
def test_scaling_is_taken_to_its_maximum(nodes, scaling, vcpus):
    assert most(nodes, *scaling) == vcpus


def test_core_and_task_nodes_of_one_kind_count_twice():
    same = InstanceGroups(
        PrimaryGroup("small"),
        CoreGroup("middle"),
        TaskGroup("middle", 1, Market.ON_DEMAND),
    )
    assert most(same) == 2 + 4 + 4


def test_of_our_file_with_fleets_the_task_nodes_are_on_spot():
    large = load_cluster("large", PROJECT / "dags" / "clusters")
    of_type = {"m7g.2xlarge": 8, "r7g.2xlarge": 8}
    assert most_on_demand_vcpus(large, of_type) == 24
    assert [len(part.types) for part in parts(large)] == [2, 2, 6]
    free = replace(large, managed_scaling=ManagedScaling(2, 20))
    assert most_on_demand_vcpus(free, of_type) == 8 + 20 * 8
