"""Landing files of others, in another place: read, never written, also by an erase.

The table's files lie in a landing root. Its rows are those that they would be in landing;
an erase takes the subject out of every table, keeps its rows out of each later run, names
the files that stay, and changes none of them.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from lake_spec.model import LandingRoot
from lake_spark.stages.erase import erase
from tests.spark.erasing import CANARY, ask, erased, files_with
from tests.spark.lake import FEED_FILES, Lake, table
from tests.spark.reprocessing import done_reprocess

SPEC = FEED_FILES + """columns: {id: string, ts: timestamp, amount: int}
key: [id]
order_by: [ts]
storage: {buckets: 1}
"""
LOAD = f"id,ts,amount\na,2026-01-01,1\n{CANARY},2026-01-01,1\n"
CHANGES = f"op,id,ts,amount\nU,{CANARY},2026-01-02,2\nU,a,2026-01-02,2\n"
LATER = f"op,id,ts,amount\nU,{CANARY},2026-01-09,9\nU,a,2026-01-09,9\n"


class WithRoot(Lake):
    """A lake whose landing files lie in a folder `partner`, not in landing."""

    @property
    def environment(self):
        uri = f"file://{self.root}/partner/out"
        root = LandingRoot(uri, (self.spec.full_name,))
        return replace(super().environment, landing_roots=(("partner", root),))

    def land(self, path, content, *, at=None):
        _, _, below = self.spec.source.path.partition("/")
        file = self.root / "partner" / "out" / below / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)

    def partners(self):
        """What lies there: content and time of each file."""
        files = sorted(each for each in self.root.rglob("partner/**/*.csv"))
        return [(f.name, f.read_bytes(), f.stat().st_mtime_ns) for f in files]


@pytest.fixture(scope="module")
def lake(spark, tmp_path_factory):
    made = WithRoot(spark, tmp_path_factory.mktemp("root"), table(SPEC))
    made.land("load/1.csv", LOAD)
    made.land("changes/1.csv", CHANGES)
    made.done("full_load", "scd2", "incremental", "scd2")
    return made


def ids(lake):
    return sorted((row.id, row.amount) for row in lake.current.collect())


def test_a_landing_root_is_read_and_an_erase_names_what_stays(lake, monkeypatch):
    assert ids(lake) == [(CANARY, 2), ("a", 2)]
    assert not (lake.root / "landing" / lake.spec.source.path).exists()
    there = lake.partners()
    report = erased(lake, {"id": CANARY})
    assert ids(lake) == [("a", 2)]
    assert files_with(lake, CANARY) == []
    assert lake.partners() == there
    assert (report.erasure["landing_left"], report.erasure["landing"]) == (2, 0)
    (warning,) = [each for each in report.warnings if "NotErased" in str(each)]
    assert "2 record(s) of the request stay in 2 landing file(s)" in str(warning)
    assert "/partner/out/" in str(warning)

    lake.land("changes/2.csv", LATER)
    lake.done("incremental", "scd2")
    assert ids(lake) == [("a", 9)]
    done_reprocess(lake, "**")
    assert ids(lake) == [("a", 9)]
    assert files_with(lake, CANARY) == []

    # Planted: an erase that takes the files for its own would write them.
    monkeypatch.setattr(
        "lake_spark.tables.table_run.TableRun.landing_is_of_others", False
    )
    there = lake.partners()
    lake.run("erase", request_uri=ask(lake, {"id": CANARY}))
    assert lake.partners() != there
    assert erase.__module__ == "lake_spark.stages.erase"
