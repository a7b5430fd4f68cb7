"""The plans of products next to a release's DAGs are used only for the specs they are of."""

import json

import pytest

from lake_check.parsing import product_plans
from lake_check.parsing.loader import load_domain
from lake_check.parsing.product_plans import FILE, planned, plans_text, read_plans
from tests.unit.lake_desk.products.shop import (
    ENRICHED,
    ENRICHED_SQL,
    Shop,
    planned_domains,
)


@pytest.fixture
def shop(tmp_path):
    """A lake with a product, and its plans in a file."""
    shop = Shop(tmp_path).enriched()
    (tmp_path / FILE).write_text(plans_text(planned_domains(shop), shop.tables))
    return shop


def read(shop: Shop):
    return read_plans(shop.tables.parent / FILE, shop.tables)


def test_a_domain_with_plans_that_were_read_is_the_compiled_one(shop):
    plans = read(shop)
    assert set(plans) == {"shop.enriched"}
    found = [planned(load_domain(n, shop.tables), plans) for n in ("crm", "shop")]
    assert found == sorted(planned_domains(shop), key=lambda each: each.name)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("shop/enriched.sql", ENRICHED_SQL.replace("c.segment", "c.name AS segment")),
        ("shop/enriched.yml", ENRICHED.replace("Orders", "All orders")),
        ("crm/_defaults.yml", "owner: crm-data\n"),
        (f"../{FILE}", "not JSON"),
        (f"../{FILE}", "[]"),
        (f"../{FILE}", '{"sources": "x", "plans": {}}'),
    ],
)
def test_plans_of_other_specs_are_not_used(shop, name, text):
    shop.put(name, text)
    assert read(shop) == {}


def test_plans_of_other_code_are_not_used(shop, monkeypatch):
    monkeypatch.setattr(product_plans, "code_version", lambda: "of another version")
    assert read(shop) == {}


def test_plans_of_another_form_are_not_used(shop):
    file = shop.tables.parent / FILE
    content = json.loads(file.read_text())
    content["plans"]["shop.enriched"] = {"sql": "SELECT 1"}
    file.write_text(json.dumps(content))
    assert read(shop) == {}


def test_without_the_file_there_are_no_plans(shop):
    (shop.tables.parent / FILE).unlink()
    assert read(shop) == {}
