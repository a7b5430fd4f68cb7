"""Where a table's landing files lie: below landing, or in a landing root."""

from __future__ import annotations

import pytest

from lake_spec.facts.landing_folders import landing_folder, landing_root
from lake_spec.model import EnvironmentSpec, Feed, LandingRoot, Parquet, TableSpec

PARTNER = LandingRoot("s3://partner/out", ("sales",))
OTHER = LandingRoot("s3://other", ("sales.orders",))


def environment(**roots: LandingRoot) -> EnvironmentSpec:
    names = ("warehouse", "artifacts", "runs", "logs")
    places = {name: f"s3://lake/{name}" for name in names}
    return EnvironmentSpec(
        name="test",
        region="eu-central-1",
        landing="s3://lake/landing",
        landing_roots=tuple(roots.items()),
        **places,
    )


def table(path: str, domain: str = "sales", name: str = "orders") -> TableSpec:
    source = Feed(path=path, format=Parquet())
    return TableSpec(name, domain, "words", "owner", source, ("id",))


@pytest.mark.parametrize(
    "roots, path, folder",
    [
        ({}, "sales/orders", "s3://lake/landing/sales/orders"),
        ({"partner": PARTNER}, "sales/orders", "s3://partner/out/orders"),
        ({"partner": PARTNER}, "sales/a/b", "s3://partner/out/a/b"),
        ({"partner": PARTNER}, "sales", "s3://partner/out"),
        ({"partner": PARTNER, "other": OTHER}, "sales/orders", "s3://other/orders"),
        ({"partner": PARTNER}, "crm/people", "s3://lake/landing/crm/people"),
    ],
)
def test_a_root_takes_the_place_of_the_folder_of_the_domain(roots, path, folder):
    assert landing_folder(environment(**roots), table(path)) == folder


def test_a_table_that_is_named_goes_before_its_domain():
    place = environment(partner=PARTNER, other=OTHER)
    assert landing_root(place, table("sales/orders")) is OTHER
    assert landing_root(place, table("sales/items", name="items")) is PARTNER


def test_a_granted_folder_is_where_its_owner_has_it():
    place = environment(partner=PARTNER)
    granted = table("sales/orders", domain="shop")
    assert landing_folder(place, granted) == "s3://partner/out/orders"
