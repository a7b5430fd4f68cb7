"""An environment and domains to make templates of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lake_spec.model import (
    DomainSpec,
    EnvironmentSpec,
    Feed,
    FeedTable,
    Notifications,
    Parquet,
    Product,
    ProductTable,
    TableSpec,
)

ACCOUNT = "111122223333"


def role(name: str) -> str:
    return f"arn:aws:iam::{ACCOUNT}:role/{name}"


def topic(name: str) -> str:
    return f"arn:aws:sns:eu-central-1:{ACCOUNT}:{name}"


ENVIRONMENT = EnvironmentSpec(
    name="test",
    region="eu-central-1",
    landing="s3://land/files",
    warehouse="s3://house/tables",
    artifacts="s3://work/artifacts",
    runs="s3://work/runs",
    logs="s3://work/logs",
    service_role="arn:aws:iam::111122223333:role/emr",
    instance_profile="nodes",
    runtime_role=role("steps"),
    runtime_roles=(("sales", role("lake/steps-sales")),),
    security_configuration="lake",
    alarm_topic=topic("alarms"),
)


def environment(**changes: object) -> EnvironmentSpec:
    return replace(ENVIRONMENT, **changes)


def pulling(spec: DomainSpec, **sources: Any) -> DomainSpec:
    """The same domain, whose tables pull from that source."""
    tables = tuple(replace(t, source=replace(t.source, **sources)) for t in spec.tables)
    return replace(spec, tables=tables)


def product(name: str, *reads: str) -> TableSpec:
    """A product of the domain `sales` that reads these tables."""
    words = ("Totals of other tables", "sales-data")
    source = Product(sql=f"{name}.sql", reads=reads)
    return ProductTable(name, "sales", *words, source, ("id",))


def domain(name: str, *paths: str, told: str = "") -> DomainSpec:
    """A domain with a table for each path of landing files."""
    tables = tuple(
        FeedTable(
            name=f"t{number}",
            domain=name,
            description="",
            owner="",
            source=Feed(path=path, format=Parquet()),
            key=("id",),
        )
        for number, path in enumerate(paths)
    )
    return DomainSpec(
        name=name,
        description=f"What {name} is about",
        owner="somebody",
        notifications=Notifications(topic=topic(told) if told else None),
        tables=tables,
    )
