"""Columns from the paths of a feed's files: what a table cannot take from there."""

import pytest

from tests.unit.lake_check.rules.test_pulls import FROM_DATABASE
from tests.unit.lake_check.spec_files import FEED, changed, diagnostics_of

REGION = {"region": "region=([^/]+)/"}
WITH_REGION = changed(
    FEED, {"source.path_columns": REGION, "columns.region": {"type": "string"}}
)


def test_a_column_of_the_path_may_be_part_of_the_key(specs):
    changes = {"key": ["region", "order_id"], "storage.partition_by": ["region"]}
    assert diagnostics_of(specs, WITH_REGION, changes) == []


@pytest.mark.parametrize(
    "changes, words",
    [
        (
            {"source.path_columns": {"region": "region=[^/]+/"}},
            "source.path_columns.region: got 'region=[^/]+/'. It has 0 groups; put one "
            "pair of parentheses around the value",
        ),
        (
            {"source.path_columns": {"region": "region=(.*a.*b.*c)/"}},
            "source.path_columns.region: got 'region=(.*a.*b.*c)/'. ",
        ),
        (
            {"source.path_columns": {"regoin": "region=([^/]+)/"}},
            "source.path_columns.regoin: 'regoin' is not a declared column",
        ),
        (
            {"columns.region": "int"},
            "source.path_columns.region: got 'region'. Values from a path are text: "
            "declare it as string, not int.",
        ),
        (
            {"columns.region": {"type": "string", "source": ["r"]}},
            "columns.region.source: got ['r']. Remove it: the paths have the values",
        ),
        (
            {"order_by": ["updated_at", "region"]},
            "source.path_columns.region: got 'region'. Remove it from order_by: as text "
            "'10' sorts before '9'",
        ),
        (
            {"source.operation": {"column": "region"}},
            "source.path_columns.region: got 'region'. All rows of a file have its value",
        ),
        (
            {
                "key": ["region", "order_id"],
                "source.operation": {"column": "Op", "before": "BI_{column}"},
            },
            "source.path_columns.region: got 'region'. It is part of the key, and with "
            "operation.before records say the key before an update, which lacks it",
        ),
    ],
    ids=[
        *("no-group", "slow", "undeclared", "number", "read-too", "order"),
        *("operation", "key-before"),
    ],
)
def test_what_a_path_cannot_say_is_refused(specs, changes, words):
    (diagnostic,) = diagnostics_of(specs, WITH_REGION, changes)
    assert diagnostic.startswith(words)


def test_columns_must_be_declared(specs):
    changes = {"source.path_columns": REGION, "columns": {}, "source.format": "parquet"}
    diagnostics = diagnostics_of(specs, FEED, changes)
    assert (
        "source.path_columns.region: got 'region'. Declare it, as string, under "
        "`columns`." in diagnostics
    )


def test_pulled_files_name_nothing(specs):
    changes = {"source.path_columns": REGION, "columns.region": "string"}
    diagnostics = diagnostics_of(specs, FROM_DATABASE, changes)
    assert any(
        each.startswith("source.path_columns: got {'region': ")
        and "paths of pulled files contain no values" in each
        for each in diagnostics
    ), diagnostics
