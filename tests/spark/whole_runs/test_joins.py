"""Random histories and facts in random batches, joined by products of each kind.

Twenty pairs in the same tables, compared with an oracle in plain Python after the batches,
a reprocess and a rebuild. As many as wished: ./run_tests_locally.sh joins --pairs N.
"""

from __future__ import annotations

import pytest

from tests.joins.playing import Play


@pytest.mark.nightly
def test_products_hold_what_the_oracle_makes_of_the_events(spark, tmp_path):
    play = Play(spark, tmp_path, seed=34, numbers=range(1, 21))
    assert play.mismatches() == {}
    assert play.partly > 5
