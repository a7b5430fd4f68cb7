"""Lakes whose runs went as a test asks for: specs, summaries and ledger entries."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime, timedelta, timezone
from typing import Any

from lake_site.facts import DomainFacts, runs_of
from lake_spec.model import (
    Column,
    Csv,
    Dimension,
    DimensionTable,
    DomainSpec,
    EnvironmentSpec,
    Feed,
    FeedTable,
    Product,
    ProductTable,
    Rule,
    Sensitivity,
    Side,
    TableSpec,
    Term,
)
from lake_spec.model.sources import Operation
from lake_spec.state.report import FileReport, Report

NOW = datetime(2026, 11, 26, 12, 0, tzinfo=timezone.utc)
ENVIRONMENT = EnvironmentSpec(
    name="test",
    region="eu-central-1",
    landing="s3://lake/landing",
    warehouse="s3://lake/warehouse",
    artifacts="s3://lake/artifacts",
    runs="s3://lake/runs",
    logs="s3://lake/logs",
)


def feed(
    name: str = "customer", columns: dict[str, Column] = {}, **more: Any
) -> TableSpec:
    """A feed of the domain `shop`."""
    own = columns or {
        "customer_id": Column(
            "bigint", ("CUST_ID",), description="Number of the customer"
        ),
        "full_name": Column(
            "string", ("NAME",), description="Name", sensitivity=Sensitivity.PERSONAL
        ),
        "date_of_birth": Column("date", ("DOB",), sensitivity=Sensitivity.PERSONAL),
        "city": Column("string", description="Town of the customer", tags=("address",)),
        "updated_at": Column("timestamp"),
    }
    return FeedTable(
        name=name,
        domain="shop",
        description=f"One row per {name}",
        owner="shop-data",
        source=Feed(
            path=f"shop/{name}",
            format=Csv(),
            operation=Operation(column="op"),
            late_after_hours=26,
        ),
        columns=tuple(own.items()),
        **{"key": (next(iter(own)),), "order_by": ("updated_at",), **more},
    )


def product(name: str, columns: dict[str, Column], **source: Any) -> TableSpec:
    """A product of the domain `shop`, which reads what it is `from` or `reads`."""
    reads = {"reads": (source["from_"],)} if "from_" in source else {}
    return ProductTable(
        name=name,
        domain="shop",
        description=f"Made: {name}",
        owner="shop-data",
        source=Product(**reads, **source),
        columns=tuple(columns.items()),
        key=(next(iter(columns)),),
    )


def domain(*tables: TableSpec, **more: Any) -> DomainSpec:
    """The domain `shop`, of a customer and a dimension unless tables are given."""
    term = Term("Day on which a person was born", ("birthday", "born"))
    own = {
        "name": "shop",
        "description": "Customers and orders",
        "owner": "shop-data",
        "glossary": (
            ("date of birth", term),
            ("customer", Term("A buyer", ("client",))),
        ),
        **more,
    }
    return DomainSpec(tables=tables or sound_tables(), **own)


def sound_tables() -> tuple[TableSpec, ...]:
    address = feed(
        "address",
        {
            "customer_id": Column("bigint"),
            "street": Column("string"),
            "updated_at": Column("timestamp"),
        },
        quality=(Rule(column="street", not_null=True),),
    )
    both = DimensionTable(
        name="customer_with_address",
        domain="shop",
        description="Customers with their addresses",
        owner="shop-data",
        source=Dimension(
            main=Side("customer"),
            joined=Side("address", rename=(("updated_at", "address_updated_at"),)),
        ),
        key=("customer_id",),
    )
    return feed(), address, both


def report(table: str, stage: str, began: datetime, **more: Any) -> dict[str, Any]:
    """The report of a stage, as its JSON has it."""
    own = {"state": "done", "seconds": 12.5, "started": began.isoformat(), **more}
    name = began.strftime("manual__%Y-%m-%dT%H-%M")
    run = f"shop_incremental/{name}"
    return asdict(Report(run, "abc123", "shop", table, stage, engine="pyspark", **own))


def summary(began: datetime, *tables: str, **more: Any) -> dict[str, Any]:
    """The summary of a run of `shop_incremental` that did these tables."""
    found = {
        table: {
            "incremental": report(
                table,
                "incremental",
                began,
                rows_in=110,
                accepted=100,
                quarantined=10,
                newest_input=began.isoformat(),
                newest_event=began.isoformat(),
                files=[
                    FileReport(f"shop/{table}/changes/1.csv", "e", 110, 100, 0, 0, 10)
                ],
            ),
            "scd2": report(
                table,
                "scd2",
                began + timedelta(seconds=14),
                current_rows=5000,
                versions=7000,
                versions_open=5000,
                versions_opened=90,
                versions_closed=80,
                commits={"current": "20261126110000", "history": "20261126110010"},
            ),
        }
        for table in tables
    }
    return {
        "run": f"shop_incremental/{began.strftime('manual__%Y-%m-%dT%H-%M')}",
        "domain": "shop",
        "release": "abc123",
        "version": "0.1.0",
        "dry_run": False,
        "state": "succeeded",
        "tables": found,
        "stages": {},
        "warnings": [],
        "causes": [],
        **more,
    }


def entry(run: str, *tables: str) -> dict[str, Any]:
    """The ledger's entry of a run's cluster."""
    return {
        "format": 1,
        "cluster": "j-1",
        "run": run,
        "domain": "shop",
        "created": NOW.isoformat(),
        "minutes": {"start": 5.0, "busy": 8.0, "idle": 1.0, "total": 14.0},
        "instances": 3,
        "instance_minutes": 42.0,
        "instance_minutes_by_type": {"m7g.xlarge": {"on_demand": 42.0}},
        "normalized_instance_hours": 4,
        "tables": {table: {"incremental": 4.0} for table in tables},
    }


def facts(spec: DomainSpec | None = None, *summaries: dict, **more: Any) -> DomainFacts:
    """Facts of a domain; with ten daily runs unless summaries are given."""
    spec = spec or domain()
    names = [table.name for table in spec.tables]
    days = (NOW - timedelta(days=ago, hours=1) for ago in range(10))
    found = summaries or tuple(summary(began, *names) for began in days)
    entries = [entry(each["run"], *names) for each in found]
    return DomainFacts(spec, runs_of(found), NOW, **{"entries": entries, **more})
