"""Messages of a topic into landing files, from where the last file ended.

Where it ended is said by the names of the files, so a run that was killed goes on
after its last whole file, and nothing has to be kept next to them. Offsets that hold no
message to land (tombstones, markers of transactions, aborted messages) have a file too,
without rows: retention removes them, and nothing was lost with them. So have those whose
loss was accepted, which is therefore asked for once.
"""

from __future__ import annotations

import gzip
from typing import Dict, Iterable, List, Tuple

from pyspark.sql import Row

from lake_spec.diagnostics.warnings import WarningId
from lake_spec.facts.pull_folders import CHANGES
from lake_spec.model import Debezium, KafkaCluster, KafkaTopic
from lake_spark.errors import SourceMoved
from lake_spark.landing.files import list_landing
from lake_spark.sources import kafka_admin
from lake_spark.sources.certificates import certificates_of
from lake_spark.sources.connections import connection_of
from lake_spark.sources.kafka_admin import Topic
from lake_spark.sources.kafka_offsets import (
    Landed,
    Partition,
    Range,
    expired,
    gone,
    landed,
    ranges,
)
from lake_spark.sources.messages import Message, line
from lake_spark.sources.secrets import credentials_of
from lake_spark.tables.table_run import FeedRun


def pull_topic(run: FeedRun, source: KafkaTopic) -> List[str]:
    """Land what the topic holds beyond the last landed offset; return the new paths."""
    settings = _settings(run, source.connection)
    topic = kafka_admin.describe(run.spark, source.topic, settings)
    done = _landed(run)
    _refuse_losses(run, topic, done)
    paths = [
        _land(run, topic, each, *_content(run, ()))
        for each in gone(done, topic.id, topic.partitions)
    ]
    for each in ranges(done, topic.id, topic.partitions, source.messages_per_file):
        rows = kafka_admin.messages(
            run.spark, topic.name, settings, each.partition, each.first, each.last
        )
        paths.append(_land(run, topic, each, *_content(run, rows)))
    return paths


def _settings(run: FeedRun, name: str) -> Dict[str, str]:
    cluster = connection_of(run.environment, name, run.spec.domain, KafkaCluster)
    login = None
    if cluster.secret is not None:
        login = credentials_of(run.store, name, cluster.secret, cluster.secret_store)
    trusted = None
    if cluster.ca is not None:
        trusted = certificates_of(run.store, name, cluster.ca)
    return kafka_admin.properties(cluster, login, trusted)


def _landed(run: FeedRun) -> Landed:
    """Return what lies in landing, and what was ingested and may have left it."""
    glob = run.spec.source.changes
    names = [each.path for each in list_landing(run.store, run.landing, [glob])]
    return landed([*names, *run.ingested_files().paths])


def _refuse_losses(run: FeedRun, topic: Topic, done: Landed) -> None:
    """Refuse or report messages that were never landed and are gone; pass over none."""
    losses = []
    if done.topic_ids and topic.id not in done.topic_ids:
        losses.append(
            f"was deleted and created again (id {topic.id}, landed were"
            f" {', '.join(done.topic_ids)})"
        )
    for partition, wanted in expired(done, topic.id, topic.partitions):
        losses.append(_expired(partition, wanted))
    if losses and not run.accepted.losses:
        raise SourceMoved(
            f"{run.spec.full_name}: topic {topic.name} {'; '.join(losses)}. Messages in"
            " between may be lost. Take a new full load (source.full_refresh), or accept"
            " the loss: start the run with accept_losses."
        )
    for words in losses:
        run.report.warn(
            WarningId.ACCEPTED_LOSSES, f"topic {topic.name} {words}: losses accepted"
        )


def _expired(partition: Partition, wanted: int) -> str:
    return (
        f"no longer has offset {wanted} of partition {partition.number}: it has"
        f" {partition.begin} to {partition.end - 1}"
    )


def _content(run: FeedRun, rows: Iterable[Row]) -> Tuple[bytes, int]:
    """Return the lines of a landing file, packed, and how many they are.

    Tombstones of Debezium follow a delete that says the same: they are counted and
    left out.
    """
    is_debezium = isinstance(run.spec.envelope, Debezium)
    lines = []
    for row in rows:
        if is_debezium and (row.value or b"").strip() in (b"", b"null"):
            run.report.tombstones += 1
        else:
            lines.append(line(Message(**row.asDict())) + "\n")
    # A file of no byte is refused as one that was cut; an empty line is no record.
    text = "".join(lines) or "\n"
    # Without a time in its head the same messages are the same bytes.
    return gzip.compress(text.encode(), mtime=0), len(lines)


def _land(run: FeedRun, topic: Topic, each: Range, content: bytes, count: int) -> str:
    path = f"{CHANGES}/{each.path(topic.id)}"
    run.store.write(f"{run.landing}/{path}", content)
    run.say(
        f"pulled {count:,} messages of {topic.name}, partition {each.partition},"
        f" offsets {each.first} to {each.last}"
    )
    return path
