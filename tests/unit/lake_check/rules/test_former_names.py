"""Former names: of one table each, and of no other that is there."""

from __future__ import annotations

import pytest

from tests.unit.lake_check.spec_files import changed, FEED


def put(specs, table, changes):
    domain, _, name = table.partition(".")
    own = {"name": name, "source.path": f"{domain}/{name}", **changes}
    specs.put(f"tables/{domain}/{name}.yml", changed(FEED, own))


@pytest.mark.parametrize("former", ["orders", "sales.parts", "sales.", ".x", "Sales.x"])
def test_a_former_name_is_one_of_another_table(specs, former):
    put(specs, "sales.parts", {"formerly": former})
    (told,) = specs.diagnostics()
    assert told.startswith("tables/sales/parts.yml:1: formerly: ")


def test_a_name_that_is_in_use_is_nobodys_former_one(specs):
    put(specs, "sales.parts", {"formerly": "sales.orders"})
    (told,) = specs.diagnostics()
    assert "sales.orders is stored there too: remove its spec" in told
    (specs.tables / "sales/orders.yml").unlink()
    assert specs.diagnostics() == []


def test_two_tables_were_not_one(specs):
    for name in ("parts", "pieces"):
        put(specs, f"sales.{name}", {"formerly": "sales.things"})
    (told,) = specs.diagnostics()
    assert "sales.parts is stored there too" in told


@pytest.mark.parametrize(
    "path, is_free",
    [
        ("crm/people", True),
        ("crm/orders", False),
        ("crm", False),
        ("crm/orders/old", False),
        ("sales/people", True),
    ],
)
def test_landing_files_of_the_former_domain_are_of_no_table_there(specs, path, is_free):
    domain = (specs.tables / "sales/_domain.yml").read_text()
    specs.put("tables/crm/_domain.yml", domain.replace("sales", "crm"))
    put(specs, "crm.orders", {})
    put(specs, "sales.people", {"formerly": "crm.people", "source.path": path})
    told = specs.diagnostics()
    assert bool(told) != is_free
    assert is_free or any("crm.orders has its files there" in e for e in told)
