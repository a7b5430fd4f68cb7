"""Tests of a product and what becomes of them, by whichever engine runs the SQL."""

from copy import deepcopy

ORDERS = {
    "order_id": "int",
    "customer_id": "int",
    "placed_at": "timestamp",
    "tags": "array<string>",  # which no test can give
}
CUSTOMERS = {"customer_id": "int", "name": "string", "valid_from": "timestamp"}
GIVEN = {
    "shop.orders": [
        {"order_id": "1", "customer_id": "7", "placed_at": "2026-01-03"},
        {"order_id": "2", "customer_id": None, "placed_at": "2026-01-08 12:00:00"},
    ],
    "shop.customers_history": [
        {"customer_id": "7", "name": "Ann", "valid_from": "2026-01-01"}
    ],
}
PRODUCT = {
    "name": "shop.named_orders",
    "sql": (
        "SELECT o.order_id, o.placed_at, c.name, o.order_id * 1.5 AS cost"
        " FROM input_0 AS o LEFT JOIN input_1 AS c ON c.customer_id = o.customer_id"
        " AND c.valid_from <= o.placed_at"
    ),
    "columns": {
        "order_id": "int",
        "placed_at": "timestamp",
        "name": "string",
        "cost": "decimal(10,2)",
    },
    "views": {
        "input_0": ["shop.orders", ORDERS],
        "input_1": ["shop.customers_history", CUSTOMERS],
    },
}
MATCHING = [
    {"order_id": "2", "name": None, "cost": "3"},
    {"order_id": "1", "name": "Ann", "cost": "1.50"},
]


def asked(expect, given=None, sql=PRODUCT["sql"]):
    """A product with one test."""
    test = {"name": "names", "given": deepcopy(given or GIVEN), "expect": expect}
    return {**deepcopy(PRODUCT), "sql": sql, "tests": [test]}


OUTCOMES = {
    "rows in any order, of the columns that are named": (MATCHING, [], []),
    "a value that differs": (
        [MATCHING[0], {**MATCHING[1], "name": "Anne"}],
        [["1", "Anne", "1.50"]],
        [["1", "Ann", "1.50"]],
    ),
    "a row that is expected twice": (
        [*MATCHING, MATCHING[0]],
        [["2", None, "3.00"]],
        [],
    ),
    "times are compared as instants": (
        [{"placed_at": "2026-01-03T00:00:00Z"}, {"placed_at": "2026-01-08 12:00"}],
        [],
        [],
    ),
}
"""By what is played: the expected rows, those that are missing and not expected."""
