"""Small specs, as the decoder would make them, for the tests of this folder."""

from __future__ import annotations

from dataclasses import replace
from typing import Tuple

from lake_airflow.planning.plan import DagPlan, plan
from lake_airflow.runs.run import Run
from lake_spec.model import (
    ClusterSpec,
    Csv,
    Dimension,
    DimensionTable,
    DomainSpec,
    Engine,
    EnvironmentSpec,
    Feed,
    FeedTable,
    Json,
    Product,
    ProductTable,
    Scope,
    Side,
    Snapshot,
    SnapshotTable,
    SnapshotTime,
    Storage,
    TableSpec,
)
from lake_spec.model.pulls import Changes

ENVIRONMENT = EnvironmentSpec(
    name="test",
    region="eu-central-1",
    landing="s3://lake/landing",
    warehouse="s3://lake/warehouse",
    artifacts="s3://lake/artifacts",
    runs="s3://lake/runs",
    logs="s3://lake/logs",
)
CLUSTER = ClusterSpec(name="standard")
RELEASE = "3f9c2a71"


def table(name: str, engine: Engine = Engine.PYSPARK) -> FeedTable:
    source = Feed(path=f"sales/{name}", format=Csv())
    return FeedTable(*about(name), source, ("id",), engine)


def about(name: str) -> Tuple[str, str, str, str]:
    """Name, domain, description and owner of a table."""
    return name, "sales", f"All {name} of the shop", "sales-data"


def snapshot(name: str, scope: Scope | None = None) -> SnapshotTable:
    """A table of snapshots."""
    source = Snapshot(
        path=f"sales/{name}",
        files="*.csv",
        format=Csv(),
        snapshot_time=SnapshotTime(pattern="^(.*)[.]csv$"),
        scope=scope,
    )
    return SnapshotTable(*about(name), source, ("id",))


def pulled(name: str, changes: Changes) -> FeedTable:
    """A table whose changes the runs pull."""
    source = Feed(path=f"sales/{name}", format=Json(), changes_from=changes)
    return replace(table(name), source=source)


def dimension(name: str, main: str, joined: str) -> DimensionTable:
    source = Dimension(main=Side(main), joined=Side(joined))
    return DimensionTable(*about(name), source, ("id",))


def product(name: str, *reads: str, partition_by: Tuple[str, ...] = ()) -> ProductTable:
    """A product that reads these tables."""
    source = Product(sql=f"{name}.sql", reads=reads)
    storage = Storage(partition_by=partition_by)
    return ProductTable(*about(name), source, ("id",), storage=storage)


def domain(*tables: TableSpec, **settings) -> DomainSpec:
    """A domain whose stages are steps of their own, so that runs have several."""
    settings = {"step_per_stage": True, **settings}
    return DomainSpec(
        name="sales",
        description="What the shop sells",
        owner="sales-data",
        tables=tables or (table("orders"), table("customers")),
        **settings,
    )


def dag_plan(kind: str, spec: DomainSpec | None = None) -> DagPlan:
    """The plan of one DAG of the domain."""
    (found,) = [each for each in plan(spec or domain()) if each.kind == kind]
    return found


def run(plan: DagPlan, **changes) -> Run:
    """A run of all tables of the plan."""
    settings = {"key": "manual-1", "release": RELEASE, "tables": plan.tables}
    return Run(dag_id=plan.dag_id, **{**settings, **changes})
