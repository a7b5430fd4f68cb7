"""Tests of products by DuckDB: which rows are missing, which are too many."""

import json

import pytest

from lake_local.show import product_tests
from lake_local.show.product_tests import outcome
from lake_local.show.request import QueryRefused
from lake_local.show.tests_by_duckdb import DuckDbEngine
from tests.cases.product_tests import GIVEN, MATCHING, OUTCOMES, asked


@pytest.fixture
def engine():
    """A database in memory."""
    engine = DuckDbEngine()
    yield engine
    engine.close()


@pytest.mark.parametrize("name", OUTCOMES)
def test_rows_are_compared_as_values_of_their_types(engine, name):
    expect, missing, unexpected = OUTCOMES[name]
    (test,) = json.loads(json.dumps(outcome(engine, asked(expect))["tests"]))
    assert (test["missing"], test["unexpected"]) == (missing, unexpected)
    assert test["columns"] == list(expect[0])


def test_no_expected_row_compares_all_columns(engine):
    (test,) = outcome(engine, asked([]))["tests"]
    assert test["columns"] == ["order_id", "placed_at", "name", "cost"]
    assert len(test["unexpected"]) == 2


def test_given_rows_of_one_test_are_not_those_of_the_next(engine):
    empty = {name: [] for name in GIVEN}
    product = asked(MATCHING)
    product["tests"].append({"name": "nothing", "given": empty, "expect": []})
    tests = outcome(engine, product)["tests"]
    assert [(t["missing"], t["unexpected"]) for t in tests] == [([], []), ([], [])]


def test_a_value_that_is_none_of_its_type_is_refused_with_its_place(engine):
    given = {**GIVEN, "shop.orders": [{"order_id": "one"}]}
    with pytest.raises(
        QueryRefused, match="shop.orders, row 1: order_id: 'one' is no int"
    ):
        outcome(engine, asked(MATCHING, given))
    with pytest.raises(QueryRefused, match="expect, row 1: cost: 'much' is no decimal"):
        outcome(engine, asked([{"cost": "much"}]))


@pytest.mark.parametrize(
    "sql, reason",
    [
        ("SELECT no_such_function(order_id) FROM input_0", "no_such_function"),
        ("SELECT * FROM read_csv('/etc/hosts')", "disabled"),
    ],
)
def test_sql_that_duckdb_does_not_run_is_left_to_spark_with_the_reason(
    engine, sql, reason
):
    found = outcome(engine, asked(MATCHING, sql=sql))
    assert found["tests"] == [] and reason in found["failed"]


def test_the_program_answers_in_a_file(tmp_path, monkeypatch):
    files = [tmp_path / name for name in ("question.json", "log", "answer.json")]
    products = [asked(MATCHING)]
    files[0].write_text(json.dumps({"engine": "duckdb", "products": products}))
    monkeypatch.setattr(product_tests, "keep_output_clean", lambda _: 2 * [_Nowhere()])
    assert product_tests.main([str(each) for each in files]) == 0
    (found,) = json.loads(files[2].read_text())
    assert found["name"] == "shop.named_orders" and found["failed"] is None


class _Nowhere:
    """An output that nobody reads."""

    begun = False

    def write(self, text):
        pass

    def flush(self):
        pass
