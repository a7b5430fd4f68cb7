"""Tests beside a product's SQL are read, with what is not given; mistakes have a line."""

import pytest

from lake_check.parsing.loader import load_lake
from lake_desk.products.product_tests import tests_of as read_tests
from tests.unit.lake_desk.products.shop import planned_domains

TEST = """\
- name: an order has the segment of its time
  given:
    shop.orders:
      - {order_id: 1, customer_id: 7, ordered_at: 2026-01-03, amount: 1.10}
    crm.customer_history:
      - {customer_id: 7, segment: old, valid_from: 2026-01-01, valid_to: 2026-01-05}
      - {customer_id: 7, segment: null, valid_from: 2026-01-05}
  expect:
    - {order_id: 1, segment: old}
"""


def reading(shop, text):
    shop.enriched().put("shop/enriched.tests.yml", text)
    return read_tests(planned_domains(shop), shop.tables)["shop.enriched"]


def test_values_are_texts_and_versions_are_current_until_they_end(shop):
    found = reading(shop, TEST)
    assert found.diagnostics == []
    (test,) = found.tests
    assert test.name == "an order has the segment of its time"
    assert test.expect == [{"order_id": "1", "segment": "old"}]
    assert test.given["shop.orders"][0]["amount"] == "1.1"
    first, second = test.given["crm.customer_history"]
    ends = [(each["valid_to"], each["is_current"]) for each in (first, second)]
    assert ends == [("2026-01-05", "false"), ("9999-12-31", "true")]
    assert first["is_deleted"] == "false" and second["segment"] is None


def test_a_table_that_is_not_given_has_no_rows(shop):
    only = "- {name: none, given: {}, expect: []}\n"
    (test,) = reading(shop, only).tests
    assert test.given == {"shop.orders": [], "crm.customer_history": []}


def test_products_without_tests_have_none(shop):
    shop.enriched()
    assert read_tests(planned_domains(shop), shop.tables) == {}


@pytest.mark.parametrize(
    "old, new, message",
    [
        (
            TEST,
            "name: x",
            "shop/enriched.tests.yml:1: got {'name': 'x'}. Write a list of",
        ),
        ("  expect:", "  expects:", "tests.yml:8: [0].expects: unknown key."),
        ("  given:", "  given: 7\n  more:", "[0].more: unknown key."),
        (
            "crm.customer_history",
            "crm.customer",
            "Did you mean 'crm.customer_history'?",
        ),
        ("amount: 1.10", "amounts: 1", "shop.orders has no such column. Did you mean"),
        ("amount: 1.10", "tags: [a]", "got a value with parts. Leave the column out"),
        ("{order_id: 1, segment: old}", "7", "[0].expect[0]: got 7. Write a mapping"),
        (
            "segment: old}\n",
            "segment: old}\n    - {order_id: 2}\n",
            "[0].expect[1]: its columns are not those of the first row: order_id, segment",
        ),
        (
            "    - {order_id: 1, segment: old}\n",
            "    []\n" + TEST,
            "[1].name: the name is there twice. Test 1 has it too",
        ),
        (
            "- name: an order has the segment of its time",
            "- name: 7",
            "[0].name: got 7",
        ),
    ],
)
def test_mistakes_are_said_with_their_line_by_validate(shop, old, new, message):
    wrong = TEST.replace(old, new, 1)
    shop.enriched().put("shop/enriched.tests.yml", wrong)
    said = "\n".join(shop.messages())
    assert message in said and "[invalid-product-test]" in said


def test_tests_are_no_spec_and_belong_to_a_product(shop):
    shop.enriched().put("shop/enriched.tests.yml", TEST)
    assert shop.messages() == []
    names = [each.name for each in load_lake(shop.tables).domains["shop"].tables]
    assert names == ["enriched", "orders"]
    shop.put("shop/enrichde.tests.yml", TEST)
    (said,) = shop.messages()
    assert (
        "there is no product 'enrichde' in this folder. Did you mean 'enriched'?"
        in said
    )
