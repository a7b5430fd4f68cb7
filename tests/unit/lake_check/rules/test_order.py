"""Keys, orders, times and quality rules are told where they are broken."""

import pytest

from tests.unit.lake_check.spec_files import FEED, LEFT_OUT, SNAPSHOT, diagnostics_of


@pytest.mark.parametrize(
    "changes, message",
    [
        (
            {"key": []},
            "key: got []. Name the columns that identify a row, as in key: [id]",
        ),
        (
            {"key": ["order_id", "order_id"]},
            "key[1]: got 'order_id'. It is listed twice: remove one.",
        ),
        (
            {"key": ["lines"]},
            "key[0]: got 'lines'. It is of type array: choose a column",
        ),
        (
            {"storage.partition_by": ["lines"]},
            "storage.partition_by[0]: got 'lines'. It is",
        ),
        (
            {"order_by": ["updated_at", "lines"]},
            "order_by[1]: got 'lines'. Type array has",
        ),
        (
            {"order_by": ["updated_at", "is_paid"]},
            "Type boolean has no order: choose a num",
        ),
        (
            {"effective_at": "amount"},
            "effective_at: got 'amount'. It is of type decimal:",
        ),
        (
            {"history.track": ["order_id"]},
            "history.track[0]: got 'order_id'. Remove it: a key column",
        ),
        (
            {"load_effective_at": "1900"},
            "load_effective_at: got '1900'. Write a date, or a",
        ),
        (
            {"history.open_end": "9999-99-31"},
            "history.open_end: got '9999-99-31'. Write a",
        ),
        (
            {"load_effective_at": "2000-01-01", "history.open_end": "1999-01-01"},
            "history.open_end: got '1999-01-01'. Choose a time after load_effective_at (2000-",
        ),
        (
            {"history.track": ["status"], "history.ignore": ["amount"]},
            "history.ignore: got ['amount']. `track` is set too: keep `track` (only "
            "these",
        ),
        (
            {"order_by": LEFT_OUT, "effective_at": "updated_at"},
            "order_by: missing. This feed has deletes, which need an order:",
        ),
        (
            {"order_by": ["amount"]},
            "effective_at: missing. Nothing says since when a row is valid: name a",
        ),
        (
            {"order_by": ["amount"], "effective_at": "updated_at"},
            "effective_at: got 'updated_at'. This feed has deletes, which have only "
            "key and",
        ),
        (
            {"order_by": LEFT_OUT, "source.operation": LEFT_OUT},
            "effective_at: missing. Nothing says since when a row is valid: name a",
        ),
        (
            {"columns": LEFT_OUT},
            "order_by: got ['updated_at']. Values without declared types are text, and",
        ),
    ],
)
def test_keys_orders_and_times(specs, changes, message):
    (diagnostic,) = diagnostics_of(specs, FEED, changes)
    assert diagnostic.startswith(message) or message in diagnostic


def test_a_snapshot_takes_no_order(specs):
    assert diagnostics_of(specs, SNAPSHOT, {"order_by": ["status"]}) == [
        "order_by: no key of a snapshot. Remove it: snapshots are ordered by their own "
        "times. Only a feed takes it."
    ]


@pytest.mark.parametrize(
    "changes",
    [
        {"order_by": ["amount", "updated_at"]},
        {
            "order_by": ["amount"],
            "effective_at": "updated_at",
            "source.operation.delete": [],
        },
        {
            "order_by": LEFT_OUT,
            "effective_at": "updated_at",
            "source.operation.delete": [],
        },
        {"source.format": {"type": "parquet"}, "columns": LEFT_OUT},
        {"history.open_end": "9999-12-31 00:00:00", "load_effective_at": "1900-01-01"},
        {"history.track": ["status", "updated_at"]},
        {"source.timezone": "Europe/Berlin", "source.changes": "**/cdc-?.csv.gz"},
        {"source.format.delimiter": "\t", "source.format.encoding": "ISO-8859-1"},
    ],
)
def test_sound_feeds_pass(specs, changes):
    assert diagnostics_of(specs, FEED, changes) == []


@pytest.mark.parametrize(
    "rule, message",
    [
        (
            {},
            "quality[0]: has no test. Write exactly one test of: not_null, one_of,",
        ),
        (
            {"at_least": 0, "one_of": ["1"]},
            "quality[0]: has one_of and at_least. Write exactly",
        ),
        (
            {"matches": "("},
            "quality[0].matches: got '('. Fix the regular expression: mis",
        ),
        ({"at_most": 5, "column": "status"}, "Column 'status' is string, not a number"),
    ],
)
def test_quality_rules_must_be_testable(specs, rule, message):
    (diagnostic,) = diagnostics_of(
        specs, FEED, {"quality": [{"column": "amount", **rule}]}
    )
    assert message in diagnostic


def test_a_limit_of_zero_is_a_test(specs):
    rules = [{"column": "amount", "at_least": 0}, {"column": "amount", "at_most": 0.0}]
    assert diagnostics_of(specs, FEED, {"quality": rules}) == []


def test_what_could_not_be_read_is_not_judged_as_well(specs):
    changes = {"source": {"kind": "feed"}, "quality": [{"column": 5, "at_least": 0}]}
    assert [each.split(". ")[0] for each in diagnostics_of(specs, FEED, changes)] == [
        "source.path: missing",
        "source.format: missing",
        "quality[0].column: got 5",
    ]
