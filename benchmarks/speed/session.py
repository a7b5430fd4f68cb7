"""The one Spark session of the benchmarks: as in a step, with Delta next to Hudi."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from pyspark.sql import SparkSession

from lake_spark.storage.session import CONFIGURATION, open_session
from tests.spark import local_files

CORES = 2
MEMORY = "12g"
_EXTENSIONS = "spark.sql.extensions"
_DELTA = "io.delta.sql.DeltaSparkSessionExtension"


def jars() -> str:
    """The jars of a step, and Delta's; SystemExit if they are not there."""
    folder = local_files.jars_folder()
    found = [
        str(jar)
        for name in ("spark-3.5", "delta")
        for jar in sorted((folder / name).glob("*.jar"))
    ]
    if not any("delta" in jar for jar in found):
        raise SystemExit(f"no jars in {folder}: run ./setup.sh --only bench")
    return ",".join(found)


def open_both(scratch: Path, memory: str = MEMORY) -> SparkSession:
    """The session on two cores; Delta's extension is added to those of a step.

    Delta's catalogue is left out, for there is one catalogue and a step's is Hudi's:
    Delta tables are used by path.
    """
    settings = {
        **local_files.in_java(),
        _EXTENSIONS: f"{CONFIGURATION[_EXTENSIONS]},{_DELTA}",
        "spark.master": f"local[{CORES}]",
        "spark.jars": jars(),
        "spark.driver.memory": memory,
        "spark.driver.extraJavaOptions": "-Duser.timezone=UTC",
        "spark.local.dir": str(scratch),
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
    }
    # Else the first `python3` of the PATH.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = open_session("benchmarks", settings)
    session.sparkContext.setLogLevel("ERROR")
    return session
