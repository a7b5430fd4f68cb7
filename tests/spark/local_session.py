"""A Spark session on this machine with the project's own Hudi jars."""

from __future__ import annotations

import os
from pathlib import Path

from pyspark.sql import SparkSession

from lake_spec.hudi_options import JAVA_OPTIONS
from lake_spark.session import CONFIGURATION

PROJECT = Path(__file__).resolve().parents[2]

# One compiler alone gets 48 MiB for its code, which a long test run fills up.
COMPILER = "-Duser.timezone=UTC -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m"


def local_session() -> SparkSession:
    """The session, made if there is none; times are UTC, all else as in a step."""
    folder = Path(os.environ.get("LAKE_JARS", PROJECT / ".local" / "jars"))
    jars = ",".join(str(jar) for jar in sorted((folder / "spark-3.5").glob("*.jar")))
    assert jars, f"no jars in {folder}/spark-3.5: run ./setup.sh"
    builder = SparkSession.builder.master("local[2]").appName("tests")
    settings = {
        **CONFIGURATION,
        "spark.jars": jars,
        "spark.ui.enabled": "false",
        "spark.driver.memory": "2g",
        "spark.driver.extraJavaOptions": f"{JAVA_OPTIONS} {COMPILER}",
        "spark.sql.shuffle.partitions": "2",
        "spark.default.parallelism": "2",
    }
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session
