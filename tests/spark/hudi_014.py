"""Tables as Spark 3.4 with Hudi 0.14 reads them, in a process of its own.

    python -m tests.spark.hudi_014 FOLDER...

runs in the environment of HoodieStreamer; it reads each Hudi table and writes its rows
as Parquet to the same folder with `.rows` behind its name.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import List, Sequence

PROJECT = Path(__file__).resolve().parents[2]
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": "-Duser.timezone=UTC -XX:+UseSerialGC",
    "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    # Dates before 1582 as they are.
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
}


def read_by_014(spark, paths: Sequence[Path], scratch: Path) -> List:
    """Return the rows of these tables as Hudi 0.14 reads them, as data frames."""
    from lake_emulator.runtimes import STREAMER

    log = scratch / "hudi-0.14.log"
    environment = {**os.environ, "PYSPARK_PYTHON": str(STREAMER.python), "TZ": "UTC"}
    jars = [*STREAMER.class_path.split(":"), str(STREAMER.emr_jar("spark-avro"))]
    environment.update(JARS=",".join(jars))
    with open(log, "w", encoding="utf-8") as lines:
        code = subprocess.call(
            [str(STREAMER.python), "-m", "tests.spark.hudi_014", *map(str, paths)],
            cwd=PROJECT,
            env=environment,
            stdout=lines,
            stderr=lines,
        )
    assert code == 0, log.read_text(encoding="utf-8")[-3000:]
    return [spark.read.parquet(f"{path}.rows") for path in paths]


def main(paths: Sequence[str]) -> None:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").appName("Hudi 0.14")
    for key, value in {**SETTINGS, "spark.jars": os.environ["JARS"]}.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    for path in paths:
        rows = spark.read.format("hudi").load(path)
        kept = [name for name in rows.columns if not name.startswith("_hoodie_")]
        rows.select(kept).write.parquet(f"{path}.rows")
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1:])
