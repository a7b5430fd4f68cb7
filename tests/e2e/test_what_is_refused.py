"""What cannot be meant is refused by name, before it costs a cluster."""

from __future__ import annotations

import pytest

from tests.e2e.command_line import CommandLine

TEN_MISTAKES = """\
name: orders
description: Orders of the shop, one row per order
owner: airflow
engin: pyspark
source:
  kind: feed
  path: ../orders
  format: {type: cvs}
  operation: {column: Op}
columns:
  order_id: lonng
  updated_at: timestamp
key: [order_id]
order_by: [updatd_at]
history:
  traked: [amount]
  deletes: soft_ish
storage: {buckets: many}
storage: {buckets: 4}
"""
WHERE_AND_WHAT = [
    (3, "owner: got 'airflow'"),
    (4, "engin: unknown key. Did you mean 'engine'?"),
    (7, "source.path: got '../orders'"),
    (8, "source.format.type: got 'cvs'. Did you mean 'csv'?"),
    (11, "columns.order_id.type: got 'lonng'. Did you mean 'long'?"),
    (14, "order_by[0]: 'updatd_at' is not a declared column"),
    (16, "history.traked: unknown key. Did you mean 'track'?"),
    (17, "history.deletes: got 'soft_ish'"),
    (18, "storage.buckets: got 'many'"),
    (19, "storage: duplicate key"),
]


@pytest.fixture
def validated(tmp_path):
    """`validate` on a folder with one table and ten mistakes."""
    folder = tmp_path / "tables" / "sales"
    folder.mkdir(parents=True)
    (folder / "_domain.yml").write_text(
        "name: sales\ndescription: Sales of the shop, day by day\nowner: sales-data\n"
    )
    (folder / "orders.yml").write_text(TEN_MISTAKES)
    command = CommandLine(
        home=tmp_path / "home", tables=folder.parent, output=tmp_path / "output"
    )
    return command("validate", code=1)


def test_ten_mistakes_give_ten_messages_at_once(validated):
    *messages, count = validated.out.splitlines()
    assert len(messages) == 10
    for message, (line, words) in zip(messages, WHERE_AND_WHAT):
        assert f"sales/orders.yml:{line}: {words}" in message
    assert count.endswith(": 10 mistakes")


def test_a_dag_that_is_not_there_is_refused_with_the_nearest(refused):
    assert "no DAG 'moma_ful_load'. Did you mean 'moma_full_load'?" in refused.dag.err


def test_a_table_that_is_not_there_is_refused_with_the_nearest(refused):
    words = "tables: 'artits' is not a table of moma. Did you mean 'artists'?"
    assert words in refused.table.err


def test_a_window_that_ends_before_it_starts_is_refused(refused):
    assert "window_to 2016-05-01T00:00:00Z is not after" in refused.window.err


def test_what_is_refused_never_had_a_cluster(refused):
    assert refused.clusters == []
