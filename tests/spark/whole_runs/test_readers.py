"""Random histories, published as Iceberg and as Delta, and read by every reader.

Twenty in one table of a feed. Spark with Iceberg, pyiceberg, delta-rs and DuckDB find the
columns, types and rows that Hudi finds, at the newest commit and at each published one.
As many as wished: ./run_tests_locally.sh readers --histories N.
"""

from __future__ import annotations

from lake_spec.model import TableType
from tests.oracle.playing import World
from tests.readers.playing import play

WORLD = World("plain", 17, range(20))


def test_every_reader_finds_the_rows_of_hudi_at_every_commit(spark, tmp_path):
    outcome = play(spark, tmp_path, WORLD, TableType.COPY_ON_WRITE)
    assert outcome.differences == []
    assert outcome.commits > 6
    assert outcome.compared > 5 * outcome.commits
