"""Random snapshots from landing files to both tables, against the oracle.

Thirty things in four to six snapshots, in three runs: rows that change, move between
regions, go and return, twice or bad; files that come late, again or empty.
"""

from __future__ import annotations

import pytest

from lake_spec.model import HUDI_TYPES
from tests.oracle.snapshots import SnapshotPlay, SnapshotWorld

COPY, MERGE = HUDI_TYPES
WORLDS = [
    pytest.param("whole", 7, COPY, marks=pytest.mark.nightly),
    ("whole", 7, MERGE),
    pytest.param("by_path", 8, MERGE, marks=pytest.mark.nightly),
    pytest.param("by_column", 9, MERGE, marks=pytest.mark.nightly),
]


@pytest.mark.nightly  # by day: ingest/test_snapshot_backlog.py
@pytest.mark.parametrize("name, seed, kind", WORLDS)
def test_every_run_leaves_the_tables_of_the_oracle(spark, tmp_path, name, seed, kind):
    play = SnapshotPlay(spark, tmp_path, SnapshotWorld(name, seed, range(10)), kind)
    mismatches = play.mismatches()
    shown = "\n".join(f"thing {n} {text}" for n, text in list(mismatches.items())[:2])
    assert not mismatches, shown
    assert play.lake.history.count() > 30
