"""Random histories, published as Iceberg and as Delta, and read by every reader.

Twenty in one table of a feed. Spark with Iceberg, pyiceberg, delta-rs and DuckDB find the
columns, types and rows that Hudi finds, at the newest commit and at each published one.
As many as wished: ./run_tests_locally.sh readers --histories N. The same after a few kills
between a commit and the end of its publication: ./run_tests_locally.sh readers --kills N.
"""

from __future__ import annotations

import pytest

from lake_spec.model import TableType
from tests.oracle.playing import World
from tests.readers.kills import KilledLake
from tests.readers.playing import play

WORLD = World("plain", 17, range(20))


@pytest.mark.nightly  # by day: after a kill, below
def test_every_reader_finds_the_rows_of_hudi_at_every_commit(spark, tmp_path):
    outcome = play(spark, tmp_path, WORLD, TableType.COPY_ON_WRITE)
    assert outcome.differences == []
    assert outcome.commits > 6
    assert outcome.compared > 5 * outcome.commits


@pytest.fixture(scope="module")
def killed(spark, tmp_path_factory):
    root = tmp_path_factory.mktemp("killed")
    return KilledLake(spark, root, TableType.COPY_ON_WRITE, seed=2026)


METADATA = "create iceberg/current/metadata/v"
KILLS = [
    pytest.param("incremental", METADATA, False, marks=pytest.mark.nightly),
    # There is no hint for readers.
    pytest.param("incremental", METADATA, True, marks=pytest.mark.nightly),
    ("scd2", "create history/_delta_log/", False),  # as Iceberg it is published
    pytest.param(
        "maintenance",
        "put current/_delta_log/.*checkpoint.parquet",
        True,
        marks=pytest.mark.nightly,
    ),
    pytest.param(
        "rebuild", "register history iceberg", False, marks=pytest.mark.nightly
    ),
    pytest.param(
        "erase", "delete iceberg/current/metadata/", True, marks=pytest.mark.nightly
    ),
]
"""The stage, and the change before which, or after which, it dies."""


@pytest.mark.parametrize("stage, change, after", KILLS)
def test_readers_find_the_rows_of_hudi_after_a_kill(killed, stage, change, after):
    assert killed.at(stage, change, after=after).startswith(stage)
    differences, killed.outcome.differences = killed.outcome.differences, []
    assert differences == []
