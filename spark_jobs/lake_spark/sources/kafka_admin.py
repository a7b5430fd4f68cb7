"""What Kafka's brokers say of a topic, asked by Kafka's own client."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Optional, Tuple

from pyspark.sql import SparkSession

from lake_spec.diagnostics.suggestions import did_you_mean
from lake_spec.model import KafkaCluster
from lake_spec.model.choices import KafkaSecurity
from lake_spec.text.marked_values import unmarked
from lake_spark import java
from lake_spark.errors import PullFailed, first_line
from lake_spark.sources.kafka_offsets import Partition
from lake_spark.sources.secrets import Credentials

OLD_KEY = "__debezium.oldkey"
"""The header of a create with the key that its row had before."""

_PATIENCE_MS = "30000"
_PROTOCOLS = {
    KafkaSecurity.PLAINTEXT: "PLAINTEXT",
    KafkaSecurity.TLS: "SSL",
    KafkaSecurity.SCRAM: "SASL_SSL",
}


@dataclass(frozen=True)
class Topic:
    """A topic as it is now: its id, which a topic made again does not share."""

    name: str
    id: str
    partitions: Tuple[Partition, ...]


def properties(
    cluster: KafkaCluster,
    login: Optional[Credentials],
    certificates: Optional[str] = None,
) -> Dict[str, str]:
    """Return the settings of a client; only scram needs a `login`.

    Kafka's client checks the brokers' certificates and host names, by the authorities
    that Java trusts unless it gets `certificates`.
    """
    made = {
        "bootstrap.servers": ",".join(cluster.bootstrap_servers),
        "security.protocol": _PROTOCOLS[cluster.security],
        "request.timeout.ms": _PATIENCE_MS,
        "default.api.timeout.ms": _PATIENCE_MS,
    }
    if certificates is not None:
        made["ssl.truststore.type"] = "PEM"
        made["ssl.truststore.certificates"] = certificates
    if cluster.security is KafkaSecurity.SCRAM:
        assert login is not None  # the rules ask for the secret
        user, password = _quoted(login.username), _quoted(login.password)
        made["sasl.mechanism"] = "SCRAM-SHA-512"
        made["sasl.jaas.config"] = (
            "org.apache.kafka.common.security.scram.ScramLoginModule required "
            f"username={user} password={password};"
        )
    return made


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def describe(spark: SparkSession, name: str, settings: Dict[str, str]) -> Topic:
    """Describe the topic with what its partitions hold, up to the last committed message.

    PullFailed where there is no such topic, or nobody answers.
    """
    jvm = java.packages(spark)
    given = jvm.java.util.Properties()
    for key, value in settings.items():
        given.setProperty(key, value)
    admin = _or_failed(
        lambda: jvm.org.apache.kafka.clients.admin.AdminClient.create(given), settings
    )
    try:
        topic: Topic = _or_failed(lambda: _described(jvm, admin, name), settings)
        return topic
    finally:
        admin.close(jvm.java.time.Duration.ofSeconds(5))


def _or_failed(ask: Any, settings: Dict[str, str]) -> Any:
    try:
        return ask()
    except PullFailed:
        raise
    except Exception as error:  # py4j wraps every kind of the client's errors
        servers = settings["bootstrap.servers"]
        raise PullFailed(
            f"Kafka at {servers}: {unmarked(first_line(error))}. Check bootstrap_servers, security"
            " and secret of the connection, and whether the cluster's network reaches it."
        ) from None


def _described(jvm: Any, admin: Any, name: str) -> Topic:
    known = list(admin.listTopics().names().get())
    if name not in known:
        hint = did_you_mean(name, known)
        raise PullFailed(
            f"Kafka has no topic {name!r}, or this user may not see it. {hint}"
            "Correct `topic`, or create it (a connector does at its first event)."
        )
    wanted = jvm.java.util.ArrayList()
    wanted.add(name)
    found = admin.describeTopics(wanted).allTopicNames().get().get(name)
    numbers = [each.partition() for each in found.partitions()]
    begins = _offsets(jvm, admin, name, numbers, is_end=False)
    ends = _offsets(jvm, admin, name, numbers, is_end=True)
    partitions = (Partition(each, begins[each], ends[each]) for each in sorted(numbers))
    return Topic(name, found.topicId().toString(), tuple(partitions))


def _offsets(
    jvm: Any, admin: Any, name: str, numbers: List[int], *, is_end: bool
) -> Dict[int, int]:
    clients = jvm.org.apache.kafka.clients.admin
    spec = clients.OffsetSpec.latest() if is_end else clients.OffsetSpec.earliest()
    level = jvm.org.apache.kafka.common.IsolationLevel.READ_COMMITTED
    asked = jvm.java.util.HashMap()
    places = {
        each: jvm.org.apache.kafka.common.TopicPartition(name, each) for each in numbers
    }
    for place in places.values():
        asked.put(place, spec)
    answer = admin.listOffsets(asked, clients.ListOffsetsOptions(level)).all().get()
    return {each: answer.get(place).offset() for each, place in places.items()}


def messages(
    spark: SparkSession,
    name: str,
    settings: Dict[str, str],
    partition: int,
    first: int,
    last: int,
) -> Iterator[Any]:
    """Return rows of committed messages in order of their offsets, both ends included."""
    options = {f"kafka.{key}": value for key, value in settings.items()}
    rows = (
        spark.read.format("kafka")
        .options(**options)
        .option("kafka.isolation.level", "read_committed")
        .option("assign", json.dumps({name: [partition]}))
        .option("startingOffsets", json.dumps({name: {str(partition): first}}))
        .option("endingOffsets", json.dumps({name: {str(partition): last + 1}}))
        .option("failOnDataLoss", "true")
        .option("includeHeaders", "true")
        .load()
    )
    columns = ("topic", "partition", "offset", "timestamp", "key", "value")
    old_key = f"filter(headers, each -> each.key = '{OLD_KEY}')[0].value AS old_key"
    return rows.selectExpr(
        *columns[:3], "unix_millis(timestamp) AS timestamp", *columns[4:], old_key
    ).toLocalIterator()
