"""Tests of products by Spark come to what they come to by DuckDB."""

import json

import pytest

from lake_local.show.product_tests import outcome
from lake_local.show.request import QueryRefused
from lake_local.show.tests_by_spark import SparkEngine
from tests.cases.product_tests import GIVEN, MATCHING, OUTCOMES, asked


def test_rows_are_compared_as_values_of_their_types(spark):
    engine = SparkEngine(spark)
    for expect, missing, unexpected in OUTCOMES.values():
        (test,) = json.loads(json.dumps(outcome(engine, asked(expect))["tests"]))
        assert (test["missing"], test["unexpected"]) == (missing, unexpected)


def test_wrong_values_and_wrong_sql_are_named(spark):
    engine = SparkEngine(spark)
    given = {**GIVEN, "shop.orders": [{"order_id": "one"}]}
    with pytest.raises(QueryRefused, match="row 1: order_id: 'one' is no int"):
        outcome(engine, asked(MATCHING, given))
    found = outcome(engine, asked(MATCHING, sql="SELECT nobody FROM input_0"))
    assert "nobody" in found["failed"]
