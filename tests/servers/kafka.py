"""Kafka: one node that is broker and controller."""

from __future__ import annotations

import base64
import uuid
from pathlib import Path
from typing import Callable, Dict, Iterable, List, Optional, Tuple, Union

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from tests.servers.java_server import JavaServer
from tests.servers.ports import free_ports
from tests.servers.records import Record, Records

Bytes = Optional[Union[str, bytes]]
ONE_NODE = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "inter.broker.listener.name": "PLAINTEXT",
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
}
SMALL_AND_FAST = {
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "1000",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "500",
    "controlled.shutdown.enable": "false",
    # The default, 128 MB, does not fit the heap.
    "log.cleaner.dedupe.buffer.size": "4194304",
}


class Kafka(JavaServer):
    """A broker that makes topics, of one partition, when they are first written."""

    name = "kafka"
    main_class = "kafka.Kafka"
    heap = "192m"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.port, self._controller_port = free_ports(2)

    @property
    def bootstrap_servers(self) -> str:
        """The address of the broker."""
        return f"{self.host}:{self.port}"

    def settings(self) -> Dict[str, str]:
        address, controller = self.bootstrap_servers, self._controller_port
        return {
            **ONE_NODE,
            **SMALL_AND_FAST,
            "listeners": f"PLAINTEXT://{address},CONTROLLER://{self.host}:{controller}",
            "advertised.listeners": f"PLAINTEXT://{address}",
            "controller.quorum.voters": f"1@{self.host}:{controller}",
            "log.dirs": str(self.folder / "data"),
        }

    def prepare(self) -> None:
        super().prepare()
        cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        settings = str(self.settings_file)
        # As one argument: an id may begin with a dash.
        format_ = ["format", f"--cluster-id={cluster}", "--config", settings]
        self.run(self.java("kafka.tools.StorageTool", *format_))

    def is_ready(self) -> bool:
        return self.has_said("Kafka Server started")

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
