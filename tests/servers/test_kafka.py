"""Kafka and a worker of Connect by themselves, and what is read from topics: two
records, one without a value, and three of which a transaction was given up."""

from __future__ import annotations

import pytest
from confluent_kafka import Producer

from tests.servers.connect import RefusedByConnect, StandaloneConnect
from tests.servers.kafka import Kafka
from lake_local.capture.ports import is_free
from tests.servers.processes import processes_of


def test_broker_and_worker_start_answer_and_are_gone_afterwards(server_folder):
    with Kafka(server_folder / "kafka") as broker:
        with StandaloneConnect(server_folder / "connect", broker) as worker:
            with pytest.raises(RefusedByConnect, match="404 .*connector nothing"):
                worker.status("nothing")
        assert processes_of(worker.folder) == []
        broker.create_topic("answers")
        assert "answers" in broker.topics()
    assert processes_of(server_folder) == []
    assert is_free(broker.port) and is_free(worker.port)


def test_records_are_read_as_they_were_written(kafka):
    kafka.produce("written", [("a", '{"x": 1}'), ("b", None)])
    first, second = kafka.read("written")
    assert (first.key, first.json()) == (b"a", {"x": 1})
    assert (second.offset, second.key, second.json()) == (1, b"b", None)


def test_what_was_not_committed_is_read_only_by_those_who_ask(kafka):
    settings = {"bootstrap.servers": kafka.bootstrap_servers}
    producer = Producer({**settings, "transactional.id": "tests"})
    producer.init_transactions(30)
    for value, end in (
        ("kept", producer.commit_transaction),
        ("given up", producer.abort_transaction),
        ("kept too", producer.commit_transaction),
    ):
        producer.begin_transaction()
        producer.produce("transactions", value=value)
        producer.flush(30)
        end()
    committed = [record.value for record in kafka.read("transactions")]
    assert committed == [b"kept", b"kept too"]
    assert len(kafka.read("transactions", committed=False)) == 3


def test_waiting_for_records_that_do_not_come_says_what_came(kafka):
    kafka.produce("one", [("a", "1")])
    with pytest.raises(TimeoutError, match="topic one: 1 records within 1 s"):
        kafka.read_until("one", lambda records: len(records) > 1, seconds=1)


def test_a_connector_without_its_settings_is_refused_with_their_names(connect):
    config = {"connector.class": "io.debezium.connector.mysql.MySqlConnector"}
    with pytest.raises(RefusedByConnect, match="database.hostname"):
        connect.put_connector("incomplete", config)
