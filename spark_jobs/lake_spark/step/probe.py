"""What a step finds where it runs, for an acceptance run: facts, and no verdict on them.

A fact that cannot be had is an error of its own, so that one does not hide another:

    {"region": {"value": "eu-central-1"},
     "secret": {"error": "AccessDeniedException: ..."}}

Nothing of a table is read or written, and no secret's value is in a fact.
"""

from __future__ import annotations

import json
import platform
import time
from typing import Any, Callable, Dict, Mapping

from pyspark.sql import SparkSession

from lake_spec.model import EnvironmentSpec
from lake_spec.text.marked_values import unmarked
from lake_spark import java
from lake_spark.errors import first_line
from lake_spark.storage.object_store import ObjectStore, split_uri
from lake_spark.storage.session import SHUFFLE_PARTITIONS, setting

PROBE = "probe"
"""The stage, and the folder of its facts below the run's."""

_CLASSES = (
    "org.apache.hudi.DefaultSource",
    "org.apache.spark.sql.hudi.HoodieSparkSessionExtension",
    "org.apache.spark.sql.avro.AvroFileFormat",
)
_TASKS, _TASK_SECONDS = 64, 0.1

Fact = Dict[str, Any]


def probe(
    spark: SparkSession,
    store: ObjectStore,
    environment: EnvironmentSpec,
    run: str,
    region: str,
) -> None:
    """Write `<runs>/<run>/probe/facts.json`."""
    folder = f"{environment.runs}/{run}/{PROBE}"
    s3, sts = _client("s3", region), _client("sts", region)
    questions: Mapping[str, Callable[[], Any]] = {
        "versions": lambda: _versions(spark),
        "region": lambda: s3.meta.region_name,
        "identity": lambda: sts.get_caller_identity()["Arn"],
        "classes": lambda: {name: _is_loaded(spark, name) for name in _CLASSES},
        "parallelism": lambda: _parallelism(spark),
        "conditional_write": lambda: _written_once(store, f"{folder}/once"),
        "encryption": lambda: _encryption(s3, f"{folder}/once"),
        "secret": lambda: _length_of_secret(store, environment),
    }
    facts = {name: _fact(question) for name, question in questions.items()}
    store.write(f"{folder}/facts.json", json.dumps(facts, indent=1).encode())


def _fact(question: Callable[[], Any]) -> Fact:
    try:
        return {"value": question()}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {unmarked(first_line(error))}"}


def _client(service: str, region: str) -> Any:
    import boto3

    return boto3.client(service, region_name=region)


def _versions(spark: SparkSession) -> Dict[str, str]:
    import boto3

    return {
        "python": platform.python_version(),
        "spark": spark.version,
        "hudi": _package_of(spark, _CLASSES[0]).getImplementationVersion(),
        "boto3": boto3.__version__,
    }


def _package_of(spark: SparkSession, name: str) -> Any:
    return java.packages(spark).java.lang.Class.forName(name).getPackage()


def _is_loaded(spark: SparkSession, name: str) -> bool:
    loader = (
        java.packages(spark).java.lang.Thread.currentThread().getContextClassLoader()
    )
    try:
        loader.loadClass(name)
    except Exception:  # of Java: ClassNotFoundException, NoClassDefFoundError
        return False
    return True


def _parallelism(spark: SparkSession) -> Dict[str, int]:
    """Count what is there after a job that keeps all cores at work for a while."""
    context = spark.sparkContext
    numbers = context.parallelize(range(_TASKS), _TASKS)
    numbers.foreach(lambda number: time.sleep(_TASK_SECONDS))
    infos = java.context(spark).sc().statusTracker().getExecutorInfos()
    return {
        "executors": max(1, len(list(infos)) - 1),  # one of them is the driver
        "default": context.defaultParallelism,
        "shuffle_partitions": int(setting(spark, SHUFFLE_PARTITIONS)),
    }


def _written_once(store: ObjectStore, uri: str) -> bool:
    """Create an object twice, with other content; the store has to refuse the second."""
    return store.create(uri, b"first") and not store.create(uri, b"second")


def _encryption(s3: Any, uri: str) -> Dict[str, str]:
    bucket, key = split_uri(uri)
    head = s3.head_object(Bucket=bucket, Key=key)
    return {
        "by": head.get("ServerSideEncryption", "none"),
        "key": head.get("SSEKMSKeyId", ""),
    }


def _length_of_secret(store: ObjectStore, environment: EnvironmentSpec) -> int:
    """Return the number of bytes of the erase secret; 0 where none is declared."""
    if environment.erase_secret is None:
        return 0
    return len(store.secret(environment.erase_secret))
