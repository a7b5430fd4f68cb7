"""What the lake calls the tables and columns of sources."""

from __future__ import annotations

import pytest

from lake_spec.model.choices import Connector

from lake_local.onboard.naming import (
    column_names,
    lake_name,
    same_but_for_case,
    table_names,
    topic,
)


@pytest.mark.parametrize(
    "source, name",
    [
        ("orders", "orders"),
        ("OrderID", "order_id"),
        ("customerName", "customer_name"),
        ("HTTPStatus", "http_status"),
        ("Line No", "line_no"),
        ("größe", "grosse"),
        ("2nd", "x_2nd"),
        ("_id", "id"),
        ("日本", "x"),
        ("a" * 70, "a" * 63),
    ],
    ids=lambda text: text[:12],
)
def test_a_name_is_of_small_letters_digits_and_underscores(source, name):
    assert lake_name(source) == name


def test_columns_of_the_lake_keep_their_names():
    names, _ = column_names(
        ["valid_from", "source_ts", "lake_id", "_hoodie_x", "ValidTo"],
        Connector.POSTGRESQL,
    )
    assert names == {
        "valid_from": "valid_from_of_row",
        "source_ts": "source_ts_of_row",
        "lake_id": "row_lake_id",
        "_hoodie_x": "hoodie_x",
        "ValidTo": "valid_to_of_row",
    }


def test_without_events_their_columns_are_free():
    names, _ = column_names(["source_ts", "binlog_pos"], None)
    assert names == {"source_ts": "source_ts", "binlog_pos": "binlog_pos"}


def test_two_columns_of_one_name_get_numbers():
    names, _ = column_names(["userId", "user_id", "user id"], None)
    assert list(names.values()) == ["user_id", "user_id_2", "user_id_3"]


def test_a_name_that_no_spec_can_say_is_told():
    names, unsaid = column_names(["it's", "id"], None)
    assert (names, unsaid) == ({"id": "id"}, ["it's"])


def test_a_table_leaves_the_names_free_that_another_needs_besides():
    names = table_names(
        ["orders", "orders_history", "orders_quarantine", "Orders", "stock_changes"]
    )
    assert names == {
        "Orders": "orders",
        "orders": "orders_2",
        "orders_history": "orders_history_rows",
        "orders_quarantine": "orders_quarantine_rows",
        "stock_changes": "stock_changes",
    }


def test_columns_that_differ_only_in_case_are_found():
    assert same_but_for_case(["id", "Name", "name"]) == ("Name", "name")
    assert same_but_for_case(["id", "name"]) == ()


def test_a_topic_has_no_character_that_kafka_refuses():
    assert topic("pg", "public", "Order Items") == "pg.public.Order_Items"
