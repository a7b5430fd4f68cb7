"""The Spark session of a step."""

from __future__ import annotations

from pyspark.sql import SparkSession

from lake_spark.packed import read_zstd

CONFIGURATION = {
    "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
    "spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar",
    "spark.sql.extensions": "org.apache.spark.sql.hudi.HoodieSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.hudi.catalog.HoodieCatalog",
    # Timestamps are instants; what has no zone is read as UTC.
    "spark.sql.session.timeZone": "UTC",
    # A row with too many or too few fields must be seen as one.
    "spark.sql.csv.parser.columnPruning.enabled": "false",
    # The proleptic calendar throughout, also before 1582.
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInWrite": "CORRECTED",
    "spark.sql.avro.datetimeRebaseModeInWrite": "CORRECTED",
    "spark.sql.avro.datetimeRebaseModeInRead": "CORRECTED",
    # The old form of lists cannot hold a null.
    "spark.hadoop.parquet.avro.write-old-list-structure": "false",
    # Tables of one application share the cores.
    "spark.scheduler.mode": "FAIR",
    # What the driver remembers of past queries, with their plans, for its pages.
    "spark.sql.ui.retainedExecutions": "50",
    "spark.ui.retainedJobs": "200",
    "spark.ui.retainedStages": "200",
}
"""What the jobs rely on, whatever the cluster's defaults say."""


def open_session(name: str) -> SparkSession:
    """The session of this process, made if there is none."""
    builder = SparkSession.builder.appName(name)
    for key, value in CONFIGURATION.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    cores = session.sparkContext.defaultParallelism
    session.conf.set("spark.sql.shuffle.partitions", str(max(2, cores)))
    read_zstd(session)
    return session
