"""A small Spark session for a question, which lives for seconds."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Dict, Optional

# Quick to start rather than quick in the long run.
JAVA_OPTIONS = "-Duser.timezone=UTC -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def spark_session(jars: Path, endpoint: Optional[str] = None) -> Any:
    """Return a session on two cores with Hudi, and S3 where there is an endpoint.

    Keys of S3 come from the environment.
    """
    from pyspark.sql import SparkSession

    log4j = Path(__file__).with_name("log4j2.properties").as_uri()
    settings = {
        "spark.jars": ",".join(str(each) for each in sorted(jars.glob("*.jar"))),
        "spark.driver.memory": "1g",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraJavaOptions": (
            f"{JAVA_OPTIONS} -Dlog4j2.configurationFile={log4j}"
        ),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
        "spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar",
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        # Instants in UTC and days as they are, also of long ago, for any reader.
        "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
        "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
        **(_s3(endpoint) if endpoint else {}),
    }
    builder = SparkSession.builder.master("local[2]").appName("lake show")
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def _s3(endpoint: str) -> Dict[str, str]:
    hadoop = "spark.hadoop.fs.s3a"
    return {
        "spark.hadoop.fs.s3.impl": "org.apache.hadoop.fs.s3a.S3AFileSystem",
        f"{hadoop}.endpoint": endpoint,
        f"{hadoop}.endpoint.region": os.environ["AWS_REGION"],
        f"{hadoop}.path.style.access": "true",
        f"{hadoop}.connection.ssl.enabled": "false",
        f"{hadoop}.aws.credentials.provider": (
            "com.amazonaws.auth.EnvironmentVariableCredentialsProvider"
        ),
    }
