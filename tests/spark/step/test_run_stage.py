"""What a stage leaves behind in the process."""

from __future__ import annotations

import gc

from py4j.java_gateway import JavaObject, is_instance_of

from tests.spark.lake import NAMED, Lake, table

SPEC = table(NAMED)


def test_no_query_of_a_stage_is_kept_in_java(spark, tmp_path):
    lake = Lake(spark, tmp_path, SPEC)
    lake.land("load/1.csv", "id,name,at\n1,a,2026-01-01\n")
    gc.collect()
    gc.disable()  # else Python collects garbage by itself, at some time
    try:
        before = queries(spark)
        lake.done("full_load", "scd2")
        assert queries(spark) == before
    finally:
        gc.enable()


def queries(spark) -> int:
    """How many queries Java keeps for Python."""
    gateway = spark.sparkContext._gateway
    kept = [each for each in gc.get_objects() if isinstance(each, JavaObject)]
    return sum(is_instance_of(gateway, e, "org.apache.spark.sql.Dataset") for e in kept)
