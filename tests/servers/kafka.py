"""Kafka for tests: the broker, and what tests write and read there."""

from __future__ import annotations

from typing import Callable, Iterable, List, Optional, Tuple, Union

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from lake_local.capture import kafka
from tests.servers.records import Record, Records

Bytes = Optional[Union[str, bytes]]


class Kafka(kafka.Kafka):
    """A broker with clients of it."""

    def create_topic(self, topic: str, *, partitions: int = 1, **settings: str) -> None:
        """Make a topic; settings with underscores, say `cleanup_policy="compact"`."""
        config = {key.replace("_", "."): value for key, value in settings.items()}
        new = NewTopic(topic, num_partitions=partitions, config=config)
        admin = self._admin()  # without a name it would end before its answer
        for future in admin.create_topics([new]).values():
            future.result(30)

    def delete_topic(self, topic: str) -> None:
        """Remove a topic with its records."""
        admin = self._admin()
        for future in admin.delete_topics([topic]).values():
            future.result(30)

    def topics(self) -> List[str]:
        """The names of all topics, Kafka's own among them."""
        admin = self._admin()
        return sorted(admin.list_topics(timeout=30).topics)

    def produce(self, topic: str, rows: Iterable[Tuple[Bytes, Bytes]]) -> None:
        """Write pairs of key and value, and wait until the broker has them."""
        producer = Producer({"bootstrap.servers": self.bootstrap_servers})
        for key, value in rows:
            producer.produce(topic, key=key, value=value)
            producer.poll(0)
        left = producer.flush(30)
        if left:
            raise TimeoutError(f"{topic}: {left} records not written within 30 s")

    def read(self, topic: str, *, committed: bool = True) -> List[Record]:
        """All records of a topic; `committed` leaves out those of open or ended
        transactions that were never committed."""
        with Records(self.bootstrap_servers, topic, committed=committed) as records:
            return records.to_the_end()

    def read_until(
        self,
        topic: str,
        enough: Callable[[List[Record]], object],
        *,
        seconds: float = 30,
        committed: bool = True,
    ) -> List[Record]:
        """Its records as soon as `enough` says so of them; the topic may come later."""
        with Records(self.bootstrap_servers, topic, committed=committed) as records:
            return records.until(enough, seconds=seconds)

    def _admin(self) -> AdminClient:
        return AdminClient({"bootstrap.servers": self.bootstrap_servers})
