"""The SQL of checks: conditions over the columns of one row, checked at a desk."""

import pytest

from lake_desk.products.plans import check


def faults(shop, sql, layer="current"):
    """What `validate` says of the orders with a check of this SQL."""
    path = shop.tables / "shop" / "orders.yml"
    text = path.read_text(encoding="utf-8")
    more = f"checks:\n  - {{kind: expression, sql: {sql!r}, layer: {layer}}}\n"
    shop.put("shop/orders.yml", text + more)
    _, diagnostics, _ = check(shop.tables)
    return [str(each) for each in diagnostics]


@pytest.mark.parametrize(
    "sql",
    [
        "amount >= 0",
        "ordered_at <= at",
        "region IS NULL OR length(region) = 2",
        "size(tags) > 0 AND array_contains(tags, region)",
        "amount BETWEEN 0 AND 100",
    ],
)
def test_sound_conditions_are_accepted(shop, sql):
    assert faults(shop, sql) == []


def test_a_condition_of_history_may_use_its_own_columns(shop):
    assert faults(shop, "valid_from < valid_to", layer="history") == []


@pytest.mark.parametrize(
    "sql, words",
    [
        ("amout >= 0", "unknown column 'amout'. Did you mean 'amount'?"),
        ("amount +", "checks[0].sql: "),
        ("amount + 1", "it is decimal"),
        (
            "region <= ordered_at",
            "compares region (string) with ordered_at (timestamp)",
        ),
        ("sum(amount) > 1", "an aggregate in"),
        ("row_number() OVER (ORDER BY at) = 1", "a window in"),
        ("order_id IN (SELECT order_id FROM x)", "a subquery in"),
        ("EXISTS (SELECT 1)", "a subquery in"),
        ("at <= current_timestamp()", "Its result differs each time"),
        ("amount > 0; DROP TABLE x", "checks[0].sql: "),
        ("amount > 0 FROM x", "Write one expression"),
        ("java_method(region) = 1", "is not supported"),
        ("region = '${spark.secret}'", "is not supported"),
        ("valid_from < valid_to", "unknown column 'valid_from'"),
    ],
)
def test_everything_else_is_refused_at_its_key(shop, sql, words):
    found = faults(shop, sql)
    assert found and words in found[0], found
    assert all("orders.yml:" in each and "checks[0].sql" in each for each in found)
