"""Random histories from landing files to both tables, against the oracle.

Two hundred histories in one table. Their files land in random order and in
random runs, with the full load before, between or after the changes; copy on
write gets other runs, by night. After each history stage both tables are
what the oracle makes of the files so far. At last some files are corrected and
reprocessed.
"""

from __future__ import annotations

import pytest

from lake_spec.model import HUDI_TYPES
from tests.oracle.oracle import accepted, as_events
from tests.oracle.playing import Play, World
from tests.kinds import TABLE_TYPES

WORLD = World("plain", 41, range(200))
ADDED = ("version_key",)


@pytest.fixture(scope="module")
def played(spark, tmp_path_factory):
    """The world in a table of a kind, with what differed in it: played once each."""
    plays = {}

    def of(kind):
        if kind not in plays:
            play = Play(spark, tmp_path_factory.mktemp(kind.value), WORLD, kind)
            plays[kind] = (play, play.mismatches())
        return plays[kind]

    return of


@pytest.mark.parametrize("kind", TABLE_TYPES, ids=lambda kind: kind.value)
def test_every_run_leaves_the_tables_of_the_oracle(played, kind):
    play, mismatches = played(kind)
    shown = "\n".join(f"history {n} {text}" for n, text in list(mismatches.items())[:3])
    assert not mismatches, f"seed {play.world.seed}\n{shown}"


@pytest.mark.nightly
def test_other_runs_give_the_same_tables(played):
    one, other = (played(kind)[0] for kind in HUDI_TYPES)
    assert one.batches != other.batches
    assert sorted(one.current(), key=repr) == sorted(other.current(), key=repr)
    assert set(one.history(*ADDED)) == set(other.history(*ADDED))


@pytest.mark.parametrize("kind", TABLE_TYPES, ids=lambda kind: kind.value)
def test_the_open_versions_are_the_current_rows(played, kind):
    play, _ = played(kind)
    lake, names = play.lake, [*play.lake.spec.key, *play.settings.columns]
    open_rows = lake.history.where("is_current").select(names)
    current = lake.current
    if play.flags:
        current = current.where("NOT is_deleted")
    assert current.count() == open_rows.count()
    keys = list(play.lake.spec.key)
    assert current.join(open_rows, keys, "left_anti").count() == 0


@pytest.mark.parametrize("kind", TABLE_TYPES, ids=lambda kind: kind.value)
def test_every_good_row_is_in_the_log_and_every_bad_one_in_the_quarantine(played, kind):
    play, _ = played(kind)
    landed = play.landing.deliveries()
    good = [each for each in landed if accepted(each, play.settings)]
    logged = [event for each in good for event in as_events(each, play.settings)]
    landed_rows = play.lake.changes.where("lake_op != 'full_refresh'")
    assert landed_rows.count() == len(logged)
    assert len(good) < len(landed)
    assert play.lake.tables.quarantine.read().count() == len(landed) - len(good)


@pytest.mark.nightly
def test_a_reprocess_of_corrected_files_leaves_what_the_oracle_makes_of_them(played):
    for kind in HUDI_TYPES:
        play, _ = played(kind)
        mismatches = play.reprocess()
        shown = "\n".join(f"history {n} {t}" for n, t in list(mismatches.items())[:3])
        assert not mismatches, f"seed {play.world.seed}\n{shown}"
        bad = [e for e in play.landing.deliveries() if not accepted(e, play.settings)]
        assert play.lake.tables.quarantine.read().count() == len(bad)
    one, other = (played(kind)[0] for kind in HUDI_TYPES)
    assert set(one.history(*ADDED)) == set(other.history(*ADDED))
