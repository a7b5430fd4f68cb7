"""The EC2 instances of a cluster: instance groups, or instance fleets."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import ClassVar, Optional, Tuple, Union

from lake_spec.model.forms import INSTANCE_TYPE
from lake_spec.model.limits import Limits
from lake_spec.model.spec_field import setting

MOST_UNITS = 10_000
"""More than an account has: of the units of a fleet, and of scaling."""

MOST_TYPES = 30
"""EMR's limit for a fleet with an allocation strategy, which all fleets here have."""


class Market(str, Enum):
    """Purchasing option of instances (EMR's MarketType)."""

    ON_DEMAND = "ON_DEMAND"
    """EC2 never takes them back."""
    SPOT = "SPOT"
    """Cheaper; EC2 may take them back with two minutes' notice."""


class TimeoutAction(str, Enum):
    """EMR's action when Spot instances do not arrive in time."""

    SWITCH_TO_ON_DEMAND = "SWITCH_TO_ON_DEMAND"
    """On-demand instances are taken."""
    TERMINATE_CLUSTER = "TERMINATE_CLUSTER"
    """The cluster is terminated, and the run fails."""


class SpotAllocationStrategy(str, Enum):
    """From which pools EC2 takes Spot instances."""

    PRICE_CAPACITY_OPTIMIZED = "price-capacity-optimized"
    """The cheapest of those that are least likely to be interrupted."""
    CAPACITY_OPTIMIZED = "capacity-optimized"
    """Those with most capacity."""
    LOWEST_PRICE = "lowest-price"
    """The cheapest ones."""
    DIVERSIFIED = "diversified"
    """All of them, evenly."""


class VolumeType(str, Enum):
    """Types of EBS volumes."""

    GP3 = "gp3"
    """General purpose, with `iops` and `throughput` of its own."""
    GP2 = "gp2"
    """General purpose, whose speed grows with its size."""
    IO1 = "io1"
    """Provisioned: `iops` is required."""
    ST1 = "st1"
    """Hard disk for long reads."""
    SC1 = "sc1"
    """Hard disk for what is seldom read."""
    STANDARD = "standard"
    """Magnetic, of the previous generation."""


@dataclass(frozen=True)
class EbsVolume:
    """EBS volumes of every instance, next to its root volume."""

    size_in_gb: int = setting(
        "Size of a volume in GiB.", example=100, limits=Limits(10, 1024)
    )
    volume_type: VolumeType = setting("Type of the volume.", VolumeType.GP3)
    iops: Optional[int] = setting(
        "I/O operations per second: gp3 3000 to 16000, io1 100 to 64000.", None
    )
    throughput: Optional[int] = setting(
        "MiB/s of a gp3 volume.", None, limits=Limits(125, 1000)
    )
    volumes_per_instance: int = setting("Number of volumes.", 1, limits=Limits(1, 24))


@dataclass(frozen=True)
class PrimaryGroup:
    """The primary node, on demand. Drivers run here."""

    instance_type: str = setting("EC2 instance type.", "m7g.xlarge", form=INSTANCE_TYPE)
    ebs_volumes: Tuple[EbsVolume, ...] = setting("EBS volumes.", ())


@dataclass(frozen=True)
class CoreGroup:
    """The core nodes, on demand. Application masters run here."""

    instance_type: str = setting("EC2 instance type.", "m7g.xlarge", form=INSTANCE_TYPE)
    instance_count: int = setting("Number of nodes.", 1, limits=Limits(1, 1000))
    ebs_volumes: Tuple[EbsVolume, ...] = setting("EBS volumes of each.", ())


@dataclass(frozen=True)
class TaskGroup:
    """Task nodes: executors only; a run outlives their loss."""

    instance_type: str = setting("EC2 instance type.", "m7g.xlarge", form=INSTANCE_TYPE)
    instance_count: int = setting("Number of nodes.", 1, limits=Limits(1, 1000))
    market: Market = setting("Purchasing option.", Market.SPOT)
    ebs_volumes: Tuple[EbsVolume, ...] = setting("EBS volumes of each.", ())


@dataclass(frozen=True)
class InstanceGroups:
    """One instance type each for primary, core and task nodes."""

    kind: ClassVar[str] = "instance_groups"
    primary: PrimaryGroup = setting("The primary node.", PrimaryGroup())
    core: CoreGroup = setting("The core nodes.", CoreGroup())
    task: Optional[TaskGroup] = setting("Task nodes; optional.", None)

    @property
    def core_units(self) -> int:
        """The core nodes at the start, in the units of managed scaling."""
        return self.core.instance_count

    @property
    def units(self) -> int:
        """Core and task nodes at the start."""
        return self.core_units + (self.task.instance_count if self.task else 0)

    @property
    def on_demand_units(self) -> int:
        """Those of them that are on demand."""
        return self.core_units if self.has_spot else self.units

    @property
    def has_spot(self) -> bool:
        """True if EC2 can reclaim nodes."""
        return self.task is not None and self.task.market is Market.SPOT


@dataclass(frozen=True)
class FleetInstanceType:
    """An instance type that a fleet may take."""

    shorthand: ClassVar[str] = "instance_type"
    instance_type: str = setting(
        "EC2 instance type.", example="m7g.2xlarge", form=INSTANCE_TYPE
    )
    weighted_capacity: int = setting(
        "Units of the fleet's capacity that one instance counts for.",
        1,
        limits=Limits(1, 1000),
    )


@dataclass(frozen=True)
class SpotSpecification:
    """Spot options of a fleet."""

    timeout_duration_minutes: int = setting(
        "Minutes to wait for Spot capacity when the cluster starts.",
        15,
        limits=Limits(5, 1440),
    )
    timeout_action: TimeoutAction = setting(
        "Action after that time.", TimeoutAction.SWITCH_TO_ON_DEMAND
    )
    allocation_strategy: SpotAllocationStrategy = setting(
        "Allocation strategy: the pools that instances are taken from.",
        SpotAllocationStrategy.PRICE_CAPACITY_OPTIMIZED,
    )


@dataclass(frozen=True)
class PrimaryFleet:
    """The primary node, on demand: one instance of any of its types."""

    instance_types: Tuple[str, ...] = setting(
        "EC2 instance types.",
        ("m7g.xlarge", "m6g.xlarge"),
        entries=Limits(1, MOST_TYPES),
        form=INSTANCE_TYPE,
    )
    ebs_volumes: Tuple[EbsVolume, ...] = setting("EBS volumes.", ())


@dataclass(frozen=True)
class CoreFleet:
    """The core nodes, on demand. Application masters run here."""

    instance_types: Tuple[FleetInstanceType, ...] = setting(
        "EC2 instance types.",
        example=["m7g.2xlarge", "m6g.2xlarge"],
        entries=Limits(1, MOST_TYPES),
    )
    target_on_demand_capacity: int = setting("Units.", 1, limits=Limits(1, MOST_UNITS))
    ebs_volumes: Tuple[EbsVolume, ...] = setting("EBS volumes of each.", ())


@dataclass(frozen=True)
class TaskFleet:
    """Task nodes: executors only; a run outlives the loss of its Spot instances."""

    instance_types: Tuple[FleetInstanceType, ...] = setting(
        "EC2 instance types; more types reduce interruptions.",
        example=["m7g.2xlarge", "m6g.2xlarge", "r7g.2xlarge"],
        entries=Limits(1, MOST_TYPES),
    )
    target_spot_capacity: int = setting(
        "Units on Spot.", 0, limits=Limits(0, MOST_UNITS)
    )
    target_on_demand_capacity: int = setting(
        "Units on demand.", 0, limits=Limits(0, MOST_UNITS)
    )
    spot: SpotSpecification = setting("Spot options.", SpotSpecification())
    ebs_volumes: Tuple[EbsVolume, ...] = setting("EBS volumes of each.", ())


@dataclass(frozen=True)
class InstanceFleets:
    """Several instance types each for primary, core and task nodes."""

    kind: ClassVar[str] = "instance_fleets"
    core: CoreFleet = setting(
        "The core nodes.", example={"instance_types": ["m7g.2xlarge", "m6g.2xlarge"]}
    )
    primary: PrimaryFleet = setting("The primary node.", PrimaryFleet())
    task: Optional[TaskFleet] = setting("Task nodes; optional.", None)

    @property
    def core_units(self) -> int:
        """The capacity of core nodes at the start."""
        return self.core.target_on_demand_capacity

    @property
    def units(self) -> int:
        """The capacity of core and task nodes at the start."""
        on_spot = self.task.target_spot_capacity if self.task else 0
        return self.on_demand_units + on_spot

    @property
    def on_demand_units(self) -> int:
        """Those of them that are on demand."""
        task = self.task.target_on_demand_capacity if self.task else 0
        return self.core_units + task

    @property
    def has_spot(self) -> bool:
        """True if EC2 can reclaim nodes."""
        return self.task is not None and self.task.target_spot_capacity > 0


Instances = Union[InstanceGroups, InstanceFleets]


@dataclass(frozen=True)
class ManagedScaling:
    """Bounds between which EMR adds and removes core and task nodes.

    They count instances where the cluster has instance groups, units of capacity
    where it has fleets.
    """

    minimum_capacity_units: int = setting(
        "Smallest number of units.", example=2, limits=Limits(1, MOST_UNITS)
    )
    maximum_capacity_units: int = setting(
        "Largest number of units.", example=20, limits=Limits(1, MOST_UNITS)
    )
    maximum_core_capacity_units: Optional[int] = setting(
        "Largest number of core units; if left out, all.",
        None,
        limits=Limits(0, MOST_UNITS),
    )
    maximum_on_demand_capacity_units: Optional[int] = setting(
        "Largest number of on-demand units, the others are on Spot; if left out, all.",
        None,
        limits=Limits(0, MOST_UNITS),
    )
