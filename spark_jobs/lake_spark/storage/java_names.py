"""Names of Java that are looked up once.

Each use of `functions.col` asks the JVM what `functions` is, and it looks through all jars
before it says so: a tenth of what a table of few rows took (docs/speed.md). What py4j
found is set as an attribute of where it was found, so that it is not asked for again.
"""

from __future__ import annotations

from typing import Any

OFTEN = (
    "functions",
    "PythonUtils",
    "py4j.reflection.TypeUtil",
    "org.apache.hadoop.fs.FileSystem",
    "org.apache.hadoop.fs.Path",
    "org.apache.hudi.common.table.HoodieTableMetaClient",
    "org.apache.hudi.common.table.timeline.TimelineUtils",
    "org.apache.hudi.storage.hadoop.HadoopStorageConfiguration",
    "org.apache.spark.sql.expressions.Window",
    "org.apache.spark.storage.StorageLevel",
    "org.apache.spark.util.Utils",
)
"""What PySpark and the stages use for each table, as counted in a run of small tables."""


def remember_java_names(jvm: Any) -> None:
    """Look the names of `OFTEN` up in py4j's view of the JVM, and keep them there."""
    for name in OFTEN:
        place = jvm
        for part in name.split("."):
            found = getattr(place, part)
            setattr(place, part, found)
            place = found
