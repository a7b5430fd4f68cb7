"""Which columns identify a row, which tells that it changed, and how many buckets."""

from __future__ import annotations

import pytest

from lake_spec.hudi.buckets import buckets_for

from lake_local.onboard.catalog import Column, Index, Table
from lake_local.onboard.table_keys import cursor_of, key_of

MIB = 1024 * 1024


def table(*columns, indexes=(), name="orders"):
    made = [c if isinstance(c, Column) else Column(c, "integer") for c in columns]
    return Table(name, tuple(made), tuple(indexes))


def column(name, type="timestamp with time zone", **more):
    return Column(name, type, **more)


def test_the_primary_key_is_the_key():
    indexes = [Index("u", ("b",), unique=True), Index("p", ("b", "a"), True, True)]
    found = key_of(table("a", "b", indexes=indexes))
    assert (found.columns, found.guess) == (("b", "a"), "")


def test_without_it_the_narrowest_unique_index_without_null_is_guessed():
    columns = [Column(each, "integer", nullable=each == "c") for each in "abc"]
    indexes = [
        Index("wide", ("a", "b"), unique=True),
        Index("loose", ("c",), unique=True),
        Index("plain", ("a",)),
    ]
    found = key_of(table(*columns, indexes=indexes))
    assert found.columns == ("a", "b")
    assert found.guess == "no primary key; the unique index wide"


def test_an_index_that_lets_null_in_is_a_worse_guess():
    found = key_of(table("a", indexes=[Index("u", ("a",), unique=True)]))
    assert found.columns == ("a",) and "NULL" in found.guess


def test_the_index_that_identifies_rows_in_the_log_comes_first():
    columns = [Column(each, "integer", nullable=False) for each in "ab"]
    indexes = [
        Index("a_key", ("a",), unique=True),
        Index("logged", ("a", "b"), unique=True, identifies=True),
    ]
    assert key_of(table(*columns, indexes=indexes)).columns == ("a", "b")


@pytest.mark.parametrize("name", ["id", "OrderID", "orders_id", "uuid"])
def test_a_name_like_a_key_is_the_last_guess(name):
    assert key_of(table("words", name)).columns == (name,)


def test_nothing_like_a_key_is_no_key():
    assert key_of(table("words", "customer_id")) is None


def test_a_time_named_like_a_change_is_a_guessed_cursor():
    found = cursor_of(table("id", column("created_at"), column("updated_at")))
    assert found.columns == ("updated_at",)
    assert "only its name" in found.guess and "no index" in found.guess


def test_of_two_the_one_with_an_index_is_better():
    indexes = [Index("i", ("modified", "id"))]
    found = cursor_of(table(column("updated_at"), column("modified"), indexes=indexes))
    assert found.columns == ("modified",)


def test_a_column_that_the_database_moves_needs_no_guess():
    moved = column("c", "timestamp(6)", nullable=False, moves_with_updates=True)
    found = cursor_of(table(column("updated_at"), moved, indexes=[Index("i", ("c",))]))
    assert (found.columns, found.guess) == (("c",), "")


@pytest.mark.parametrize("kind", ["date", "text", "integer", "timestamp[]"])
def test_only_a_time_is_a_cursor(kind):
    assert cursor_of(table(column("updated_at", kind))) is None


@pytest.mark.parametrize(
    "rows, size, number",
    [
        (None, None, 1),
        (0, 0, 1),
        (10, 8192, 1),
        (10, 128 * MIB, 1),
        (10, 128 * MIB + 1, 2),
        (10, 256 * MIB + 1, 4),
        (10, 10_000 * MIB, 80),
        (10, 10_000_000 * MIB, 256),
        (10_000_000, None, 16),
    ],
)
def test_there_is_a_bucket_for_each_128_mib_of_the_source_in_even_numbers(
    rows, size, number
):
    assert buckets_for(rows, size) == number


def test_a_size_is_told_in_words():
    sized = Table("words", (), rows=12_000, bytes=3_400_000)
    assert sized.size_in_words == "about 12,000 rows, 3.4 MB in the source"
    assert Table("words", ()).size_in_words == "of unknown size"
