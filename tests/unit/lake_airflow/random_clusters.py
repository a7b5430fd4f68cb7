"""Clusters and environments at random, with every setting, that keep all rules."""

from __future__ import annotations

from random import Random
from typing import Any

from lake_spec.model.aws import (
    BootstrapAction,
    ClusterSpec,
    EnvironmentSpec,
    SecurityGroups,
)
from lake_spec.model.instances import (
    CoreFleet,
    CoreGroup,
    EbsVolume,
    FleetInstanceType,
    InstanceFleets,
    InstanceGroups,
    Instances,
    ManagedScaling,
    Market,
    PrimaryFleet,
    SpotAllocationStrategy,
    SpotSpecification,
    TaskFleet,
    TaskGroup,
    TimeoutAction,
    VolumeType,
)

ACCOUNT = "111122223333"
KEY = f"arn:aws:kms:eu-central-1:{ACCOUNT}:key/01234567-89ab-cdef-0123-456789abcdef"
TYPES = [
    f"{family}.{size}" for family in ("m7g", "r7g") for size in ("large", "xlarge")
]


def maybe(random: Random, value: Any) -> Any:
    """The value or nothing."""
    return value if random.random() < 0.5 else None


def volumes(random: Random) -> tuple[EbsVolume, ...]:
    kind = random.choice(list(VolumeType))
    iops = 4000 if kind is VolumeType.IO1 else None
    throughput = maybe(random, 125) if kind is VolumeType.GP3 else None
    volume = EbsVolume(random.randint(10, 1024), kind, iops, throughput)
    return (volume,) * random.randint(0, 2)


def types(random: Random) -> tuple[FleetInstanceType, ...]:
    names = random.sample(TYPES, random.randint(1, 4))
    return tuple(FleetInstanceType(name, random.randint(1, 8)) for name in names)


def groups(random: Random) -> InstanceGroups:
    task = TaskGroup(
        random.choice(TYPES), random.randint(1, 9), random.choice(list(Market))
    )
    core = CoreGroup(random.choice(TYPES), random.randint(1, 9), volumes(random))
    return InstanceGroups(core=core, task=maybe(random, task))


def fleets(random: Random) -> InstanceFleets:
    spot = SpotSpecification(
        random.randint(5, 1439),
        random.choice(list(TimeoutAction)),
        random.choice(list(SpotAllocationStrategy)),
    )
    task = TaskFleet(
        types(random), random.randint(1, 9), random.randint(0, 9), spot, volumes(random)
    )
    core = CoreFleet(types(random), random.randint(1, 9), volumes(random))
    primary = PrimaryFleet(tuple(random.sample(TYPES, 2)), volumes(random))
    return InstanceFleets(core, primary, maybe(random, task))


def scaling(random: Random, nodes: Instances) -> ManagedScaling:
    core, most = nodes.core_units, nodes.units + random.randint(0, 20)
    if nodes.task is None:
        return ManagedScaling(1, most)
    on_demand = random.randint(nodes.on_demand_units, most)
    most_core = random.randint(core, on_demand)
    return ManagedScaling(random.randint(1, most), most, most_core, on_demand)


def cluster(random: Random) -> ClusterSpec:
    nodes = random.choice((groups, fleets))(random)
    action = BootstrapAction("ca", "bootstrap/ca.sh", ("--quiet",))
    return ClusterSpec(
        name="random",
        instances=nodes,
        managed_scaling=maybe(random, scaling(random, nodes)),
        ebs_root_volume_size=maybe(random, 40),
        step_concurrency_level=random.randint(1, 256),
        start_minutes=1440,
        tables_at_once=random.randint(1, 64),
        driver_memory=f"{random.randint(1, 24)}m",  # 256 of them fit the least node
        idle_minutes=random.randint(1, 10080),
        spark_defaults=(("spark.executor.memory", "9g"),) * random.randint(0, 1),
        bootstrap_actions=(action,) * random.randint(0, 16),
        tags=tuple((f"c{n}", "x") for n in range(random.randint(0, 20))),
    )


def environment(random: Random) -> EnvironmentSpec:
    roots = ("landing", "warehouse", "artifacts", "runs", "logs")
    role = maybe(random, f"arn:aws:iam::{ACCOUNT}:role/lake")
    security = SecurityGroups(
        "sg-01234567", "sg-89abcdef", maybe(random, "sg-00000000")
    )
    return EnvironmentSpec(
        name="random",
        region="eu-central-1",
        **{root: f"s3://lake/{root}" for root in roots},
        runtime_role=role,
        security_configuration="roles" if role else maybe(random, "plain"),
        subnets=("subnet-01234567", "subnet-89abcdef")[: random.randint(0, 2)],
        security_groups=maybe(random, security),
        log_encryption_kms_key_id=maybe(random, KEY),
        s3_encryption_kms_key_id=maybe(random, KEY),
        tags=tuple((f"e{n}", "x") for n in range(random.randint(0, 20))),
    )
