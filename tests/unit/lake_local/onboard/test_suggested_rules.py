"""Proposed rules are kept by all measured rows, and are rules that the spec takes."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from lake_check.parsing.loader import load_domain
from lake_local.onboard.suggested_rules import rules_text, suggestions
from lake_spec.model import Rule
from lake_spec.state.table_profile import ColumnProfile, TableProfile
from tests.unit.lake_check.spec_files import FEED, SpecFiles, changed

ROWS = 1000
COLUMNS = {
    "order_id": "long",
    "status": "string",
    "country": "string",
    "amount": "decimal(10,2)",
    "updated_at": "timestamp",
}


def column(name, kind="string", nulls=0, distinct=500, **more):
    return ColumnProfile(name, kind, nulls, distinct, **more)


def profile(*columns, rows=ROWS):
    return TableProfile(
        "sales", "orders", "r", "2026-11-26T12:00:00+00:00", "1", rows, columns
    )


@pytest.fixture
def specs(tmp_path):
    files = SpecFiles(tmp_path)
    files.put("tables/sales/orders.yml", changed(FEED, {"columns": COLUMNS}))
    return files


@pytest.fixture
def spec(specs):
    return load_domain("sales", specs.tables).tables[0]


def rules_of(specs, text):
    """The rules of the spec of orders to which this text was added."""
    own = changed(FEED, {"columns": COLUMNS})
    lines = "".join(f"{name}: {json.dumps(value)}\n" for name, value in own.items())
    specs.put("tables/sales/orders.yml", f"{lines}{text}")
    return load_domain("sales", specs.tables).tables[0].quality


def found(spec, *columns, **more):
    proposed = suggestions(spec, profile(*columns, **more))
    return [(each.column, each.test, each.value) for each in proposed]


STATUS = column("status", distinct=3, top=(("new", 600), ("paid", 399)), nulls=1)


def test_columns_that_always_have_a_value_are_required(spec):
    assert found(spec, column("country")) == [("country", "not_null", True)]
    assert found(spec, column("country", nulls=1)) == []
    assert found(spec, column("order_id", "bigint")) == []  # a key is required anyway


def test_a_whole_list_of_values_is_accepted_and_no_other(spec):
    assert found(spec, STATUS) == [("status", "one_of", ["new", "paid"])]
    assert found(spec, replace(STATUS, nulls=0)) == [("status", "not_null", True)]
    for wrong in ("", "x" * 100):
        cut = replace(STATUS, top=((wrong, 600), ("paid", 399)))
        assert found(spec, cut) == []


@pytest.mark.parametrize(
    ("least", "greatest", "distinct", "limits"),
    [
        ("0.50", "119.00", 80, {"at_least": 0, "at_most": 200}),
        ("-3.00", "0.00", 80, {"at_least": -5, "at_most": 0}),
        ("0.01", "0.35", 80, {"at_least": 0, "at_most": 0.5}),
        ("1.00", "100.00", 80, {"at_least": 0, "at_most": 100}),
        ("1.00", "990.00", 990, {"at_least": 0}),
        ("0", "1.0000000000000000001", 80, {"at_least": 0, "at_most": 2}),
        ("10", "10000000000000001", 80, {"at_least": 0, "at_most": 2 * 10**16}),
        ("-1.7E308", "1.7E308", 80, {}),
        ("NaN", "NaN", 1, {}),
    ],
)
def test_limits_of_numbers_are_round_and_outside(
    spec, least, greatest, distinct, limits
):
    of = {"min": least, "max": greatest, "nulls": 5, "distinct": distinct}
    proposed = found(spec, column("amount", "decimal(10,2)", **of))
    assert proposed == [("amount", test, value) for test, value in limits.items()]


@pytest.mark.parametrize("most", ["3E-7", "3E20", "9E98", "4.9E-324"])
def test_limits_of_any_size_are_numbers_that_the_spec_takes(specs, spec, most):
    of = profile(column("amount", "double", nulls=5, min="0", max=most, distinct=9))
    low, high = rules_of(specs, rules_text(spec, of, suggestions(spec, of)))
    assert low.at_least == 0 and float(most) <= high.at_most < 1e100


def test_texts_of_one_length_match_a_pattern(spec):
    short = column("country", nulls=2, min_length=2, max_length=2)
    assert found(spec, short) == [("country", "matches", "(?s)^.{2}$")]
    assert found(spec, replace(short, min_length=1)) == []
    # Rules match no longer text: each row would break this one.
    assert found(spec, replace(short, min_length=4097, max_length=4097)) == []


def test_of_a_column_with_counts_alone_only_a_value_is_required(spec):
    assert found(spec, replace(STATUS, nulls=0).counts()) == [
        ("status", "not_null", True)
    ]


def test_rules_that_the_spec_has_are_not_proposed_again(spec):
    amount = column("amount", "decimal(10,2)", min="1.00", max="9.00", distinct=9)
    rules = (
        Rule("amount", not_null=True),
        Rule("amount", at_least=0.0),
        Rule("amount", at_most=7.0),
    )
    assert found(replace(spec, quality=rules), amount) == []


def test_a_small_table_says_too_little(spec):
    few = profile(column("country"), rows=99)
    assert suggestions(spec, few) == []
    assert "fewer than 100 rows" in rules_text(spec, few, [])


def test_the_text_is_yaml_that_the_spec_takes(specs, spec):
    odd = replace(STATUS, top=(("it's: {odd}", 600), ("1", 399)))
    of = profile(
        odd,
        column("country", min_length=2, max_length=2),
        column("amount", "decimal(10,2)", min="-0.01", max="7.00", distinct=9),
    )
    proposed = suggestions(spec, of)
    text = rules_text(spec, of, proposed)
    assert "  # country: each of 1,000 values has 2 characters\n" in text
    rules = rules_of(specs, text)
    assert [each.column for each in rules] == [each.column for each in proposed]
    assert {each.on_fail.value for each in rules} == {"warn"}
    assert rules[0].one_of == ("it's: {odd}", "1")
