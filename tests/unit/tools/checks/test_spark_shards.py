"""Each file of Spark tests is in one shard, and shards take about the same time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tools.checks.spark_shards import noted_seconds, spark_files, spark_shards
from tools.checks.speeds import FULL

ROOT = Path(__file__).resolve().parents[4]
SESSIONS = 2
MINUTES = 10
"""Of tests in a shard at most, by the table: a job is to take 15, with a set-up from the cache."""


def of_minutes(shards: list[list[str]], seconds: dict[str, float]) -> list[float]:
    return [sum(seconds.get(f, 0) for f in each) / SESSIONS / 60 for each in shards]


@pytest.fixture
def tree(tmp_path):
    """Make files of tests with these seconds; None: nobody has noted any."""

    def make(**seconds):
        folder = tmp_path / "tests/spark"
        folder.mkdir(parents=True)
        for name in seconds:
            (folder / f"test_{name}.py").touch()
        noted = {
            f"tests/spark/test_{name}.py": each
            for name, each in seconds.items()
            if each is not None
        }
        (folder / "seconds.json").write_text(json.dumps(noted))
        return tmp_path

    return make


def test_every_file_is_in_one_shard():
    (count,) = [each.shards for each in FULL if each.name == "spark"]
    dealt = [file for shard in spark_shards(ROOT, count) for file in shard]
    assert sorted(dealt) == spark_files(ROOT)
    assert (
        list((ROOT / "tests/spark").rglob("*_test.py")) == []
    )  # pytest finds these too


def test_no_shard_takes_longer_than_a_job_may():
    (count,) = [each.shards for each in FULL if each.name == "spark"]
    seconds = noted_seconds(ROOT)
    longest = max(of_minutes(spark_shards(ROOT, count), seconds))
    assert longest <= MINUTES, "give `spark` more shards (tools/checks/speeds.py, CI)"
    fewer = max(of_minutes(spark_shards(ROOT, count - 2), seconds))
    assert fewer > MINUTES, "take a shard away: each pays for a set-up"


def test_the_longest_files_are_dealt_first(tree):
    root = tree(a=9, b=8, c=3, d=2, e=1)
    names = [[file[-4] for file in shard] for shard in spark_shards(root, 2)]
    assert names == [["a", "d", "e"], ["b", "c"]]


def test_a_file_that_nobody_timed_stays_where_its_name_says(tree, tmp_path):
    root = tree(a=9, b=8, new=None, other=None)
    before = [
        [f for f in each if "_a." in f or "_b." in f] for each in spark_shards(root, 2)
    ]
    (place,) = [i for i, each in enumerate(spark_shards(root, 2)) if "new" in str(each)]
    (tmp_path / "tests/spark/test_other.py").unlink()
    assert "new" in str(spark_shards(root, 2)[place])
    assert [
        [f for f in each if "new" not in f] for each in spark_shards(root, 2)
    ] == before
