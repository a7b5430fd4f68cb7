"""Names, words and amounts of a table are told where they are broken."""

import pytest

from tests.unit.lake_check.spec_files import FEED, diagnostics_of


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"name": "Orders"}, "name: got 'Orders'. Write 1 to 63 of a-z, 0-9"),
        ({"name": "' OR 1=1"}, 'name: got "\' OR 1=1". Write 1 to 63 of a-z'),
        ({"name": "a; rm"}, "name: got 'a; rm'. Write 1 to 63 of a-z"),
        ({"name": "{{ ds }}"}, "name: got '{{ ds }}'. Write 1 to 63 of a-z"),
        ({"name": "../x"}, "name: got '../x'. Write 1 to 63 of a-z"),
        ({"name": "a" * 64}, "Write 1 to 63 of a-z"),
        ({"name": "orders\n"}, "name: got 'orders\\n'. Write 1 to 63 of a-z"),
        (
            {"name": "other"},
            "name: got 'other'. Its file or folder is named 'orders': write `name",
        ),
        (
            {"owner": "airflow"},
            "owner: got 'airflow'. Name a team in more than 5 characters",
        ),
        (
            {"owner": "sales"},
            "owner: got 'sales'. Name a team in more than 5 characters",
        ),
        (
            {"owner": "team {{ x }}"},
            "owner: got 'team {{ x }}'. Write one line of plain",
        ),
        (
            {"description": "Orders of them"},
            "got 'Orders of them'. Write more than 15 characters that say what it",
        ),
        ({"description": "Orders of\nthe whole shop"}, "Write one line of plain text"),
        (
            {"storage.buckets": 0},
            "storage.buckets: got 0. Choose a number from 1 to 1000",
        ),
        (
            {"storage.buckets": 1001},
            "storage.buckets: got 1001. Choose a number from 1",
        ),
        ({"storage.table_version": 7}, "storage.table_version: got 7. Choose 6 or 8"),
        (
            {"storage": {"type": "merge_on_read", "table_version": 6}},
            "storage.table_version: got 6. Version 6 is for readers of Hudi 0.14, which"
            " are supported for copy_on_write tables only",
        ),
        (
            {"storage.readable_as": ["delta", "delta"]},
            "storage.readable_as: got ['delta', 'delta']. Name each format once.",
        ),
        (
            {"storage.readable_as": ["parquet"]},
            "storage.readable_as[0]: got 'parquet'. Choose one of: iceberg, delta",
        ),
        (
            {"maintenance.keep_commits": 0},
            "keep_commits: got 0. Choose a number from 1",
        ),
        (
            {"maintenance.compact_after": 0},
            "compact_after: got 0. Choose a number from",
        ),
        (
            {"maintenance.cluster_after": 1},
            "cluster_after: got 1. Choose a number from 2",
        ),
        (
            {"quarantine.max_share": 1.5},
            "max_share: got 1.5. Choose a number from 0 to 1",
        ),
        (
            {"quarantine.min_rows": -1},
            "quarantine.min_rows: got -1. Choose a number from",
        ),
        (
            {"quarantine.warn_share": 0.02},
            "quarantine.warn_share: got 0.02. Choose a number from 0 to max_share, which"
            " is 0.01",
        ),
        (
            {"source.late_after_hours": 0},
            "source.late_after_hours: got 0.0. Choose a number from 0.1 to 10000",
        ),
    ],
)
def test_names_words_and_amounts(specs, changes, message):
    assert any(message in each for each in diagnostics_of(specs, FEED, changes))
