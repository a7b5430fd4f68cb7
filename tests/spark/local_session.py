"""A Spark session on this machine with the project's own Hudi jars."""

from __future__ import annotations

import os
import sys

from pyspark.sql import SparkSession

from lake_spark.storage.session import FOR_FEW_ROWS, open_session
from tests.spark import local_files

JAVA = "-Duser.timezone=UTC -XX:+UseSerialGC -XX:ReservedCodeCacheSize=256m"

HERE = {
    "spark.master": "local[2]",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "2g",
    "spark.default.parallelism": "2",
    "spark.driver.extraJavaOptions": JAVA,
    # The end-to-end tests run without these, as a cluster does.
    **FOR_FEW_ROWS,
}


CODE = ("spark_jobs", "dags", "")
"""Folders of what our functions import in Python's workers, who have no path of pytest's."""


def local_session() -> SparkSession:
    """The session, made if there is none; times are UTC, all else as in a step."""
    folder = local_files.jars_folder()
    jars = ",".join(str(jar) for jar in sorted((folder / "spark-3.5").glob("*.jar")))
    assert jars, f"no jars in {folder}/spark-3.5: run ./setup.sh"
    # Else the first `python3` of the PATH.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    code = os.pathsep.join(str(local_files.PROJECT / name) for name in CODE)
    settings = {**HERE, **local_files.in_java(), "spark.jars": jars}
    settings["spark.executorEnv.PYTHONPATH"] = code
    session = open_session("tests", settings)
    session.sparkContext.setLogLevel("ERROR")
    return session
