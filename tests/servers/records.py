"""The records of a topic, read from its beginning."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Callable, Dict, List, Optional, Set, Type

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    TopicPartition,
)


@dataclass(frozen=True)
class Record:
    """A record as the broker keeps it."""

    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    key: Optional[bytes]
    value: Optional[bytes]
    headers: Dict[str, bytes] = field(default_factory=dict)

    def key_json(self) -> Any:
        """The key as JSON; None if there is none."""
        return None if self.key is None else json.loads(self.key)

    def json(self) -> Any:
        """The value as JSON; None for a tombstone."""
        return None if self.value is None else json.loads(self.value)


class Records:
    """A reader without a group: it leaves nothing behind in Kafka."""

    def __init__(self, bootstrap_servers: str, topic: str, *, committed: bool) -> None:
        self.topic = topic
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap_servers,
                "group.id": "tests",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "fetch.wait.max.ms": 50,
                "isolation.level": (
                    "read_committed" if committed else "read_uncommitted"
                ),
            }
        )
        self._read: List[Record] = []
        self._partitions: Set[int] = set()
        self._ended: Set[int] = set()

    def __enter__(self) -> Records:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self._consumer.close()

    def to_the_end(self) -> List[Record]:
        """All records up to where each partition ends now."""
        return self._until(lambda: self._ended == self._partitions, seconds=60)

    def until(
        self, enough: Callable[[List[Record]], object], *, seconds: float
    ) -> List[Record]:
        """The records that `enough` is content with; looks at them at each end."""

        def is_enough() -> bool:
            return self._ended == self._partitions and bool(enough(self._read))

        return self._until(is_enough, seconds=seconds)

    def _until(self, is_enough: Callable[[], bool], *, seconds: float) -> List[Record]:
        deadline = time.monotonic() + seconds
        while not self._partitions or not is_enough():
            if time.monotonic() > deadline:
                raise TimeoutError(self._missed(seconds))
            if not self._partitions:
                self._find_partitions()
                continue
            for message in self._consumer.consume(1000, timeout=0.1):
                self._take(message)
        return self._read

    def _find_partitions(self) -> None:
        found = self._consumer.list_topics(self.topic, timeout=10).topics[self.topic]
        if found.error or not found.partitions:
            time.sleep(0.1)
            return
        self._partitions = set(found.partitions)
        self._consumer.assign(
            [
                TopicPartition(self.topic, each, OFFSET_BEGINNING)
                for each in found.partitions
            ]
        )

    def _take(self, message: Message) -> None:
        if message.error() is None:
            self._ended.discard(message.partition())
            self._read.append(_record(message))
        elif message.error().code() == KafkaError._PARTITION_EOF:
            self._ended.add(message.partition())
        elif not message.error().retriable():
            raise KafkaException(message.error())

    def _missed(self, seconds: float) -> str:
        last = self._read[-1] if self._read else "none"
        count = len(self._read)
        return (
            f"topic {self.topic}: {count} records within {seconds:.0f} s, "
            f"the last {last}; waited for more"
        )


def _record(message: Message) -> Record:
    return Record(
        message.topic(),
        message.partition(),
        message.offset(),
        message.timestamp()[1],
        message.key(),
        message.value(),
        dict(message.headers() or []),
    )
