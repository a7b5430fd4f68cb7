"""A compiled query in DuckDB's SQL; `tests/readers` asks DuckDB what it makes of it."""

from __future__ import annotations

import pytest

from lake_desk.products.sql_tree import BadSql, in_duckdb
from tests.readers.spark_words import WORDS


@pytest.mark.parametrize("spark, duckdb, _", WORDS, ids=[each[0] for each in WORDS])
def test_what_means_another_thing_in_duckdb_is_written_anew(spark, duckdb, _):
    assert in_duckdb(spark) == duckdb


@pytest.mark.parametrize(
    "sql, reason",
    [
        ("hash(a)", "hash"),
        ("EXTRACT(DAYOFWEEK FROM a)", "DAYOFWEEK has other numbers"),
        ("date_part('DOW', a)", "DOW has other numbers"),
    ],
)
def test_what_duckdb_counts_otherwise_is_refused(sql, reason):
    with pytest.raises(BadSql, match=reason):
        in_duckdb(f"SELECT {sql} FROM input_0")
