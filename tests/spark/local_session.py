"""A Spark session on this machine with the project's own Hudi jars."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Callable, Dict, Tuple

from py4j.java_gateway import JavaPackage, JVMView
from pyspark.sql import SparkSession

from lake_spark.packed import read_zstd
from lake_spark.session import CONFIGURATION

PROJECT = Path(__file__).resolve().parents[2]

JAVA = "-Duser.timezone=UTC -XX:+UseSerialGC -XX:ReservedCodeCacheSize=256m"

FOR_FEW_ROWS = {
    "spark.ui.enabled": "false",
    "spark.driver.memory": "2g",
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    # Compiling a query, and planning it again at each shuffle, takes longer than
    # running it. The end-to-end tests run with both, as a cluster does.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
}


def remember_java_names() -> None:
    """Ask the JVM once what a name is: it looks through all jars for each."""
    for cls in (JVMView, JavaPackage):
        cls.__getattr__ = _remembering(cls.__getattr__)


def _remembering(look: Callable[[Any, str], Any]) -> Callable[[Any, str], Any]:
    known: Dict[Tuple[str, str], Any] = {}

    def remembering(self: Any, name: str) -> Any:
        at = (self.__dict__.get("_fqn", ""), name)
        if at not in known:
            known[at] = look(self, name)
        return known[at]

    return remembering


def local_session() -> SparkSession:
    """The session, made if there is none; times are UTC, all else as in a step."""
    folder = Path(os.environ.get("LAKE_JARS", PROJECT / ".local" / "jars"))
    jars = ",".join(str(jar) for jar in sorted((folder / "spark-3.5").glob("*.jar")))
    assert jars, f"no jars in {folder}/spark-3.5: run ./setup.sh"
    builder = SparkSession.builder.master("local[2]").appName("tests")
    settings = {
        **CONFIGURATION,
        "spark.jars": jars,
        "spark.driver.extraJavaOptions": JAVA,
        **FOR_FEW_ROWS,
    }
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    read_zstd(session)
    remember_java_names()
    return session
