"""Checks of whole tables: what `validate` accepts, and what it refuses with which words."""

import re

import pytest

from lake_check.parsing.loader import load_domain
from lake_spec.model import Aggregate, CheckedLayer, Severity, TableSpec
from lake_spec.model.json_codec import from_data, to_data

from tests.unit.lake_check.spec_files import FEED, SNAPSHOT, changed

SOUND = [
    {"kind": "unique", "columns": ["status", "updated_at"], "severity": "warn"},
    {"kind": "row_count", "at_least": 1, "change": 0.5},
    {"kind": "freshness", "column": "updated_at", "hours": 26},
    {"kind": "references", "column": "status", "to": "states.name"},
    {"kind": "references", "column": "order_id", "to": "orders.order_id"},
    {"kind": "expression", "sql": "amount >= 0 OR NOT is_paid", "layer": "history"},
    {"kind": "null_share", "column": "amount", "at_most": 0.1, "layer": "changes"},
    {"kind": "accepted_range", "column": "amount", "aggregate": "avg", "at_most": 9},
    {"kind": "drift", "share": 0.3, "runs": 7},
    {"kind": "drift", "column": "amount", "aggregate": "sum", "sigma": 4},
]
STATES = changed(
    SNAPSHOT,
    {
        "name": "states",
        "source.path": "sales/states",
        "columns": {"name": "string", "code": "int"},
        "key": ["name"],
    },
)


def faults(specs, *checks, **changes):
    """The faults of orders with these checks, without their file."""
    specs.put("tables/sales/states.yml", STATES)
    specs.put(
        "tables/sales/orders.yml", changed(FEED, {"checks": list(checks), **changes})
    )
    return [
        re.sub(r"^tables/sales/(\w+).yml:1: ", "", each) for each in specs.diagnostics()
    ]


def test_each_kind_is_decoded_and_survives_a_release(specs):
    assert faults(specs, *SOUND) == []
    orders = {t.name: t for t in load_domain("sales", specs.tables).tables}["orders"]
    assert from_data(TableSpec, to_data(orders)) == orders
    assert [each.title for each in orders.checks] == [
        "unique(status, updated_at)",
        "row_count",
        "freshness(updated_at)",
        "references(status -> states.name)",
        "references(order_id -> orders.order_id)",
        "expression(amount >= 0 OR NOT is_paid)",
        "null_share(amount)",
        "accepted_range(avg(amount))",
        "drift(row_count)",
        "drift(sum(amount))",
    ]
    assert orders.checks[0].severity is Severity.WARN
    assert orders.checks[1].severity is Severity.FAIL
    assert orders.checks[2].severity is Severity.WARN  # a late source stops nothing
    assert orders.checks[5].layer is CheckedLayer.HISTORY
    assert orders.checks[7].aggregate is Aggregate.AVG


RANGE = {"kind": "accepted_range", "column": "amount", "aggregate": "sum"}


@pytest.mark.parametrize(
    "check, words",
    [
        (
            {"kind": "unique", "columns": ["statuz"]},
            "checks[0].columns[0]: 'statuz' is not a declared column. Did you mean "
            "'status'?",
        ),
        (
            {"kind": "uniqe", "columns": ["status"]},
            "Did you mean 'unique'?",
        ),
        ({"kind": "unique", "columns": []}, "Name the columns that are unique."),
        ({"kind": "unique", "columns": ["lines"]}, "unique needs single values"),
        ({"kind": "row_count"}, "row_count has no limit. Write at_least, at_most or"),
        ({"kind": "row_count", "at_least": 9, "at_most": 1}, "It is above at_most: 1."),
        ({"kind": "row_count", "at_least": -1}, "Write 0 or more."),
        ({"kind": "row_count", "change": 0}, "Write a number above 0."),
        (RANGE, "accepted_range has no limit. Write at_least, at_most."),
        (
            {**RANGE, "column": "status", "at_most": 1},
            "checks[0].column: got 'status'. It is string, and sum of it needs a number. "
            "Name another column.",
        ),
        (
            {**RANGE, "column": "order_id", "aggregate": "max", "at_most": 1},
            "it is part of the key, whose values may be erased",
        ),
        (
            {"kind": "freshness", "column": "amount", "hours": 2},
            "It is decimal(10,2), and freshness needs a date or timestamp.",
        ),
        ({"kind": "freshness", "column": "updated_at", "hours": 0}, "above 0"),
        ({"kind": "null_share", "column": "amount", "at_most": 5}, "from 0 to 1"),
        ({"kind": "drift"}, "drift has neither share nor sigma"),
        ({"kind": "drift", "share": 1, "sigma": 2}, "drift has share and sigma"),
        (
            {"kind": "drift", "share": 1, "column": "amount"},
            "drift has column and no aggregate",
        ),
        ({"kind": "drift", "share": 1, "runs": 1}, "from 2 to 100"),
        (
            {"kind": "references", "column": "status", "to": "state.name"},
            "unknown table 'state'. Did you mean 'states'?",
        ),
        (
            {"kind": "references", "column": "status", "to": "states.nam"},
            "states has no column 'nam'. Did you mean 'name'?",
        ),
        (
            {"kind": "references", "column": "status", "to": "states.code"},
            "got 'states.code'. It is int, and status is string.",
        ),
        (
            {"kind": "references", "column": "status", "to": "states"},
            "Write a table of this domain and its column",
        ),
    ],
)
def test_a_wrong_check_is_refused_with_what_to_write(specs, check, words):
    (fault,) = faults(specs, check)
    assert words in fault


def test_the_aggregates_of_personal_columns_are_refused(specs):
    check = {**RANGE, "at_most": 5}
    changes = {"columns.amount": {"type": "int", "sensitivity": "personal"}}
    (fault,) = faults(specs, check, **changes)
    assert "its values are data of persons" in fault
    check["aggregate"] = "count_distinct"
    assert faults(specs, check, **changes) == []


def test_a_layer_is_one_that_the_table_writes(specs):
    check = {"kind": "row_count", "at_least": 1, "layer": "changes"}
    (fault,) = faults(specs, check, engine="streamer")
    assert "Layers that can be checked here: current, history." in fault


def test_two_checks_of_a_layer_have_two_names(specs):
    one, two = ({"kind": "row_count", "at_least": each} for each in (1, 2))
    (fault,) = faults(specs, one, two)
    assert (
        "'row_count' is the name of checks[0] too. Give one of them a `name`" in fault
    )
    assert faults(specs, one, {**two, "name": "enough"}) == []
    assert faults(specs, one, {**two, "layer": "history"}) == []
