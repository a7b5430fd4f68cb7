"""Kafka: one node that is broker and controller."""

from __future__ import annotations

import base64
import uuid
from pathlib import Path
from typing import Dict

from lake_local.capture.java_server import JavaServer
from lake_local.capture.ports import free_ports

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
    """A broker that creates topics, of one partition, when they are first written."""

    name = "kafka"
    main_class = "kafka.Kafka"
    heap = "192m"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.port, self._controller_port = free_ports(2)

    @property
    def bootstrap_servers(self) -> str:
        """Return the address of the broker."""
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
        if (self.folder / "data" / "meta.properties").exists():
            return
        cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        settings = str(self.settings_file)
        # As one argument: an id may begin with a dash.
        format_ = ["format", f"--cluster-id={cluster}", "--config", settings]
        self.run(self.java("kafka.tools.StorageTool", *format_))

    def is_ready(self) -> bool:
        return self.has_said("Kafka Server started")
