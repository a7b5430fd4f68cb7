"""A table that pulls from a connection of other domains, past every rule of specs.

Its secret does not exist, and no server answers: whoever asked would say so.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from lake_spark.errors import ForeignConnection
from lake_spec.model import KafkaCluster, PostgreSql
from tests.spark.pulling import BY_CURSOR, FEED, SNAPSHOTS, ConnectedLake, things
from lake_spark.sources.pull import land_pulled

TOPIC = """
source:
  kind: feed
  path: tests/things
  format: {type: json}
  changes: changes/**
  changes_from: {kind: kafka, connection: shop, topic: things}
columns: {id: int, at: timestamp}
key: [id]
order_by: [at]
"""
DATABASE = PostgreSql("127.0.0.1", "hr", "none", ("hr", "legal"), port=1)
BROKERS = KafkaCluster(("127.0.0.1:1",), ("hr", "legal"), secret="none")


@pytest.mark.parametrize(
    "text, stage, connection",
    [
        (FEED, "full_load", DATABASE),
        (BY_CURSOR, "incremental", DATABASE),
        (SNAPSHOTS, "full_load", DATABASE),
        (SNAPSHOTS, "incremental", DATABASE),
        (TOPIC, "incremental", BROKERS),
    ],
    ids=["load", "cursor", "first-snapshot", "snapshot", "topic"],
)
def test_it_is_refused_before_its_secret_is_read(
    spark, tmp_path, text, stage, connection
):
    lake = ConnectedLake(spark, tmp_path, things(text, "t"), {"shop": connection})
    with pytest.raises(ForeignConnection) as told:
        land_pulled(lake._table_run(lake._report(stage)), stage)
    assert "lets hr, legal use it, not tests. Nothing was read." in str(told.value)
    with pytest.raises(Exception, match="secret 'none' .* does not exist"):
        own = {"shop": replace(connection, domains=("tests",))}
        lake = ConnectedLake(spark, tmp_path, things(text, "t"), own)
        land_pulled(lake._table_run(lake._report(stage)), stage)
