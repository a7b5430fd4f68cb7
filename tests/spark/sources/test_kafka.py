"""Topics of a real Kafka, pulled into landing and from there into the tables."""

from __future__ import annotations

import json

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from tests.servers.fixtures import ended_in_order, kafka, servers_folder  # noqa: F401
from tests.spark.lake import Accepted, table
from tests.spark.pulling import PullingLake, kafka_at

SPEC = """
source:
  kind: feed
  path: tests/orders
  format: {{type: json}}
  changes: changes/**
  operation: {{column: op}}
  changes_from: {{kind: kafka, connection: shop, topic: {topic}, messages_per_file: 3}}
columns: {{id: int, amount: "decimal(10,2)", at: timestamp}}
key: [id]
order_by: [at]
storage: {{buckets: 1}}
"""

DEBEZIUM = """
source:
  kind: feed
  path: tests/orders
  format: {{type: json}}
  changes: changes/**
  envelope: {{connector: postgresql}}
  changes_from: {{kind: kafka, connection: shop, topic: {topic}, messages_per_file: 3}}
columns: {{id: int, amount: string}}
key: [id]
storage: {{buckets: 1}}
"""


def order(id, amount, second, op="c"):
    at = f"2026-01-02T00:00:{second:02d}Z"
    return str(id), json.dumps({"id": id, "amount": amount, "at": at, "op": op})


def event(id, amount, lsn):
    row = {"id": id, "amount": amount}
    source = {"ts_ms": 1_767_312_000_000 + lsn, "sequence": f'["{lsn}","{lsn}"]'}
    return str(id), json.dumps({"op": "c", "after": row, "source": source})


@pytest.fixture
def shop(spark, tmp_path, kafka, request):  # noqa: F811
    """A lake and its topic, which is named as the test."""
    topic = request.node.name[:60]
    kafka.create_topic(topic, partitions=2)
    spec = table(SPEC.format(topic=topic))
    lake = PullingLake(spark, tmp_path, spec, kafka_at(kafka))
    lake.topic = topic
    lake.produce = lambda *rows: kafka.produce(topic, rows)
    lake.servers = {"bootstrap.servers": kafka.bootstrap_servers}
    return lake


def expire(lake):
    """Remove all messages, as the topic's retention does."""
    admin = AdminClient(lake.servers)  # without a name it would end before its answer
    places = [TopicPartition(lake.topic, partition, -1) for partition in (0, 1)]
    for future in admin.delete_records(places).values():
        future.result(30)


def give_up(lake, *rows):
    """Write messages in a transaction that is aborted."""
    settings = {"transactional.id": lake.topic, **lake.servers}
    producer = Producer(settings)
    producer.init_transactions(30)
    producer.begin_transaction()
    for key, value in rows:
        producer.produce(lake.topic, key=key, value=value)
    producer.flush(30)
    producer.abort_transaction(30)


def rows(lake):
    found = lake.current.orderBy("id").collect()
    return [(each.id, str(each.amount)) for each in found]


def files(lake):
    folder = lake.root / "landing" / "tests" / "orders"
    return sorted(each.name for each in folder.rglob("*.gz"))


def test_each_run_takes_the_messages_since_the_last(shop):
    shop.produce(*[order(i, f"{i}.50", i) for i in range(1, 9)])
    (first,) = shop.done("incremental")
    assert rows(shop) == [(i, f"{i}.50") for i in range(1, 9)]
    assert sum(each.accepted for each in first.files) == 8
    landed = files(shop)
    assert all("-" in name for name in landed) and len(landed) >= 3
    (idle,) = shop.done("incremental")
    assert (idle.state, idle.commits, files(shop)) == ("nothing_new", {}, landed)
    shop.produce(order(1, "0.10", 20), order(2, None, 21, "d"))
    (second,) = shop.done("incremental")
    assert sum(each.landed for each in second.files) == 2
    assert rows(shop)[0] == (1, "0.10") and len(rows(shop)) == 7


@pytest.mark.nightly
def test_a_broken_message_is_kept_with_its_place_and_the_others_go_on(shop):
    good = [order(i, "1.00", i) for i in range(1, 5)]
    shop.produce(*good[:2], ("x", b"{broken"), *good[2:], ("y", b"\xff\xfe"))
    (report,) = shop.done("incremental")
    assert len(rows(shop)) == 4
    assert sum(each.quarantined for each in report.files) == 2
    kept = shop.tables.quarantine.read().collect()
    assert {each.lake_reason for each in kept} == {"the record cannot be parsed"}
    told = [json.loads(each.lake_raw) for each in kept]
    assert {each["__kafka_topic"] for each in told} == {shop.topic}
    places = {(each["__kafka_partition"], each["__kafka_offset"]) for each in told}
    assert len(places) == 2 and "{broken" in {each["_lake_corrupt"] for each in told}


@pytest.mark.nightly
def test_what_was_landed_by_a_run_that_was_killed_is_not_pulled_again(shop):
    shop.produce(*[order(i, "1.00", i) for i in range(1, 9)])
    shop.done("incremental")
    landed = files(shop)
    # As if the run had been killed before its commit: files are there, tables not.
    other = PullingLake(shop.spark, shop.root, shop.spec, shop.shop)
    folder = shop.root / "warehouse"
    folder.rename(shop.root / "gone")
    (report,) = other.done("incremental")
    assert (files(other), len(rows(other))) == (landed, 8)
    assert sum(each.landed for each in report.files) == 8


@pytest.mark.nightly
def test_offsets_that_have_expired_fail_the_run_by_name(shop):
    shop.produce(*[order(i, "1.00", i) for i in range(1, 5)])
    shop.done("incremental")
    shop.produce(*[order(i, "2.00", 10 + i) for i in range(1, 9)])
    expire(shop)
    report = shop.run("incremental")
    assert f"topic {shop.topic} no longer has offset" in report.error["message"]
    assert "accept_losses" in report.error["message"]
    assert {amount for _, amount in rows(shop)} == {"1.00"}
    accepted = shop.run("incremental", accepted=Accepted(losses=True))
    assert accepted.error is None
    assert any("losses accepted" in each for each in accepted.warnings)
    assert shop.done("incremental")[0].state == "nothing_new"
    shop.produce(*[order(i, "3.00", 30 + i) for i in range(1, 5)])
    shop.done("incremental")
    assert {amount for _, amount in rows(shop)} == {"3.00"}


@pytest.mark.nightly
def test_messages_of_an_aborted_transaction_are_no_loss_when_they_expire(shop):
    shop.produce(order(1, "1.00", 1))
    shop.done("incremental")
    give_up(shop, order(1, "2.00", 2))
    report = shop.run("incremental")
    expire(shop)
    idle = shop.run("incremental")
    assert (idle.error, idle.state) == (None, "nothing_new")
    # Those of the message and of the marker that gives it up have a file without rows.
    assert files(shop) == ["0-0.json.gz", "1-2.json.gz"]
    assert [(each.landed, each.accepted) for each in report.files] == [(0, 0)]
    assert rows(shop) == [(1, "1.00")]


def test_tombstones_are_counted_once_and_no_loss_when_they_expire(shop):
    spec = table(DEBEZIUM.format(topic=shop.topic))
    lake = PullingLake(shop.spark, shop.root, spec, shop.shop)
    shop.produce(event(1, "1.00", 1))
    lake.done("incremental")
    shop.produce(("1", None), ("1", "null"))
    (report,) = lake.done("incremental")
    assert (report.tombstones, rows(lake)) == (2, [(1, "1.00")])
    expire(shop)
    idle = lake.run("incremental")
    assert (idle.error, idle.state, idle.tombstones) == (None, "nothing_new", 0)
    shop.produce(event(2, "2.00", 2))
    lake.done("incremental")
    assert rows(lake) == [(1, "1.00"), (2, "2.00")]


@pytest.mark.nightly
def test_a_topic_may_begin_with_messages_of_an_aborted_transaction(shop):
    give_up(shop, order(1, "1.00", 1))
    shop.done("incremental")
    assert (files(shop), rows(shop)) == (["0-1.json.gz"], [])
    shop.produce(order(1, "1.50", 2))
    shop.done("incremental")
    assert rows(shop) == [(1, "1.50")]


@pytest.mark.nightly
def test_a_topic_made_anew_is_told(shop, kafka):  # noqa: F811
    shop.produce(order(1, "1.00", 1))
    shop.done("incremental")
    kafka.delete_topic(shop.topic)
    kafka.create_topic(shop.topic, partitions=2)
    shop.produce(order(2, "2.00", 2))
    report = shop.run("incremental")
    assert "was deleted and created again" in report.error["message"]
    assert len(rows(shop)) == 1
    assert shop.run("incremental", accepted=Accepted(losses=True)).error is None
    assert len(rows(shop)) == 2


def test_a_topic_that_does_not_exist_is_told(shop):
    spec = table(SPEC.format(topic=shop.topic[:-1]))
    lake = PullingLake(shop.spark, shop.root, spec, shop.shop)
    report = lake.run("incremental")
    assert f"Kafka has no topic {shop.topic[:-1]!r}" in report.error["message"]
    assert f"Did you mean {shop.topic!r}" in report.error["message"]
