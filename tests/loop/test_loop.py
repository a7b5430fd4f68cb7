"""Real databases, captured and followed: the lake has what they have, and had.

A little of what ./run_tests_locally.sh loop does with many seeds; and that a lake
which is wrong is found out.
"""

from __future__ import annotations

import pytest

from tests.loop.play import Loop, Size
from tests.loop.seam import SeamLoop
from tests.loop.servers import DATABASES, Servers
from tests.loop.tables import TABLES
from tests.kinds import one_by_day

SMALL = Size(before=60, phases=2, steps=120, kills=2, looks=0)
SEAM = Size(
    before=60, phases=2, steps=120, kills=0, lives=0, looks=0, only=("everything",)
)


@pytest.fixture(scope="module")
def servers():
    with Servers() as started:
        yield started


@pytest.mark.nightly  # ten tables, minutes each; by day one table has a load and changes
@pytest.mark.parametrize("database", DATABASES)
def test_the_lake_is_what_the_source_says(spark, servers, tmp_path, database):
    loop = Loop(spark, servers, tmp_path, database, seed=1)
    assert loop.play(SMALL) == []
    # What no capture sees any more is told, of current and of history.
    place = f"{loop.source.schema}.member"
    loop.source.server.execute(f"INSERT INTO {place} VALUES (99, 'unseen')")
    (member,) = [each for each in TABLES if each.name == "member"]
    told = loop.compare(member)
    assert len(told) == 2 and all("is missing" in words for words in told), told


def test_mariadb_and_its_audit_know_no_update_that_changes_no_byte(servers):
    source = servers.source("mariadb", seed=2)
    source.create()
    place = f"{source.schema}.member"
    (member,) = [each for each in TABLES if each.name == "member"]
    source.server.execute(f"INSERT INTO {place} VALUES (1, 'a')")

    def told_by(assignment):
        before = source.last_change(member), source.server.execute("SHOW MASTER STATUS")
        source.server.execute(f"UPDATE {place} SET {assignment}")
        after = source.last_change(member), source.server.execute("SHOW MASTER STATUS")
        return [one != other for one, other in zip(before, after)]

    name = list(source.shapes["member"].now)[1]
    assert told_by(f"{name} = {name}") == [False, False]
    # Equal to a collation that ignores spaces at the end.
    assert told_by(f"{name} = 'a '") == [True, True]


@pytest.mark.parametrize("database", one_by_day(DATABASES))
def test_a_load_amid_the_work_joins_the_changes(spark, servers, tmp_path, database):
    loop = SeamLoop(spark, servers, tmp_path, database, seed=1)
    assert loop.play(SEAM) == []
    # Events from before the load came again, over rows that it had read.
    log = loop.lakes["everything"].changes
    loaded = log.where("lake_rank = 0").select("lake_key")
    older = log.where(f"unix_micros(source_ts) < {loop.since['everything']}")
    assert older.join(loaded, "lake_key").count()
