"""On a cluster whose executors come later, shuffles have partitions for all of its cores.

Each case is an application of its own, with executors that are processes of their own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.spark import local_files

MASTER = "local-cluster[3,2,2048]"

PROGRAM = """
import json, sys
from pyspark.sql import functions as F
from lake_spark.storage.session import open_session

session = open_session("parallelism", json.loads(sys.argv[1]))
# Without joining small partitions, the tasks show what was planned.
session.conf.set("spark.sql.adaptive.enabled", "false")
rows = session.range(10_000).groupBy(F.col("id") % 1000).count()
print("FOUND", rows.rdd.getNumPartitions(), rows.count())
session.stop()
"""


@pytest.mark.nightly  # by day: test_shuffle_partitions.py
@pytest.mark.parametrize(
    "settings, expected",
    [
        ({"spark.lake.clusterCores": "6"}, 18),
        pytest.param(
            {"spark.lake.clusterCores": "6", "spark.sql.shuffle.partitions": "5"},
            5,
            marks=pytest.mark.nightly,  # by day without a cluster: test_shuffle_partitions.py
        ),
    ],
    ids=["derived", "configured"],
)
def test_shuffles_have_partitions_for_the_cores_of_the_cluster(
    tmp_path, settings, expected
):
    jars = sorted((local_files.jars_folder() / "spark-3.5").glob("hudi-*.jar"))
    more = {
        "spark.master": MASTER,
        "spark.ui.enabled": "false",
        "spark.executor.memory": "1g",
        # On every class path: the serializer is among them.
        "spark.driver.extraClassPath": ":".join(map(str, jars)),
        "spark.executor.extraClassPath": ":".join(map(str, jars)),
        "spark.local.dir": str(tmp_path),
        **settings,
    }
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(more)],
        cwd=tmp_path,
        env={
            **os.environ,
            "PYTHONPATH": f"{local_files.PROJECT / 'spark_jobs'}:{local_files.PROJECT / 'dags'}",
            "PYSPARK_PYTHON": sys.executable,
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert f"FOUND {expected} 1000" in found.stdout, found.stderr[-3000:]
