"""Reads tables of plain Parquet, whose commits are folders that small objects name.

<table>/_commits/<instant>.json      makes the rows below <table>/<instant>/ a commit
"""

from __future__ import annotations

import json
from typing import Dict

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from lake_spec.layout.table_folders import COMMITS
from lake_spec.text.schema_json import plain_schema

from lake_local.show.instants import readable
from lake_local.show.request import QueryRefused, Request


def rows(spark: SparkSession, request: Request) -> DataFrame:
    """Return the rows of the newest commit, or of the newest at `as_of`.

    Raises QueryRefused where there was none, or it was removed.
    """
    commits = _commits(spark, request.path)
    kept = [each for each in commits if each <= (request.as_of or each)]
    if not kept:
        words = f"no commit of {request.table}"
        if commits and request.as_of:
            at, first = readable(request.as_of), readable(min(commits))
            words += f" of {at} UTC or before is kept: it is readable since {first} UTC"
        raise QueryRefused(f"{words}.")
    at = max(kept)
    said = json.loads(commits[at])
    stored = plain_schema(json.loads(said["schema"]), request.path)
    schema = StructType.fromJson(stored)
    if not said["files"]:
        return spark.createDataFrame([], schema)
    found = spark.read.schema(schema).parquet(f"{request.path}/{at}")
    return found.select(*[F.col(f"`{name}`") for name in schema.names])


def _commits(spark: SparkSession, path: str) -> Dict[str, str]:
    """Return what each commit's object says, by instant."""
    try:
        found = spark.read.text(f"{path}/{COMMITS}/*.json", wholetext=True)
    except AnalysisException:  # there is none
        return {}
    named = found.select("value", F.input_file_name().alias("uri")).collect()
    return {each.uri.rpartition("/")[2][:17]: each.value for each in named}
