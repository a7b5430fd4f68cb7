"""Kafka Connect: a worker that runs connectors, asked over HTTP."""

from __future__ import annotations

import json
import re
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional

from lake_local.capture.installed import installed
from lake_local.capture.java_server import JavaServer
from lake_local.capture.kafka import Kafka
from lake_local.capture.server import ServerError
from lake_local.errors import StartFailed

JSON = "org.apache.kafka.connect.json.JsonConverter"
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
BUSY = 409  # HTTP status: the worker is being assigned its tasks


class RefusedByConnect(StartFailed):
    """Kafka Connect refused a request, and says why.

    Fix: Correct the connector's settings or the database as the message says, then start
    `connect` again.
    """

    def __init__(self, request: str, code: int, message: str) -> None:
        super().__init__(f"{request}: {code} {message}")
        self.code = code


class Connect(JavaServer):
    """The base of every kind of worker."""

    name = "connect"
    heap = "384m"

    def __init__(self, folder: Path, kafka: Kafka) -> None:
        super().__init__(folder)
        self.kafka = kafka

    @property
    def url(self) -> str:
        """Return the address of the worker's REST API."""
        return f"http://{self.host}:{self.port}"

    def settings(self) -> Dict[str, str]:
        return {
            "bootstrap.servers": self.kafka.bootstrap_servers,
            "listeners": self.url,
            "key.converter": JSON,
            "value.converter": JSON,
            "offset.flush.interval.ms": "1000",
            "plugin.path": str(installed("plugins/debezium-postgresql").parent),
            "plugin.discovery": "service_load",
        }

    def is_ready(self) -> bool:
        try:
            self._ask("GET", "/health")
        except (OSError, RefusedByConnect):
            return False
        return True

    def put_connector(
        self, name: str, config: Mapping[str, str], *, seconds: float = 60
    ) -> None:
        """Create a connector, or change its configuration. Raises RefusedByConnect."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                self._ask("PUT", f"/connectors/{name}/config", dict(config))
                return
            except RefusedByConnect as refused:
                if refused.code != BUSY or time.monotonic() > deadline:
                    raise
            time.sleep(0.2)

    def status(self, name: str) -> Dict[str, Any]:
        """Return the states of a connector and its tasks."""
        found: Dict[str, Any] = self._ask("GET", f"/connectors/{name}/status")
        return found

    def wait_until_running(self, name: str, *, seconds: float = 60) -> None:
        """Wait until the connector and its tasks run. Raises ServerError.

        A worker that was killed and started again first repeats the states from before.
        """
        deadline = time.monotonic() + seconds
        while True:
            parts = self._parts(name)
            states = [part["state"] for part in parts]
            self._require_health(name, parts)
            if len(states) > 1 and set(states) == {"RUNNING"}:
                return
            if time.monotonic() > deadline:
                raise ServerError(
                    f"connector {name}: {states} after {seconds:.0f} s, see {self.log}"
                )
            time.sleep(0.1)

    def require_health(self, name: str) -> None:
        """Raise ServerError with the cause where the connector or a task has failed."""
        self._require_health(name, self._parts(name))

    def _require_health(self, name: str, parts: List[Dict[str, Any]]) -> None:
        traces = [part["trace"] for part in parts if part["state"] == "FAILED"]
        if traces:
            causes = re.findall(r"^Caused by: (.*)$", traces[0], re.MULTILINE)
            cause = causes[-1] if causes else traces[0].splitlines()[0]
            raise ServerError(f"connector {name} failed: {cause}; see {self.log}")

    def _parts(self, name: str) -> List[Dict[str, Any]]:
        try:
            status = self.status(name)
        except RefusedByConnect as refused:
            if refused.code not in (404, BUSY):  # 404: not known to all of it yet
                raise
            return []
        return [status["connector"], *status["tasks"]]

    def _ask(self, method: str, path: str, body: Optional[Any] = None) -> Any:
        request = urllib.request.Request(
            f"{self.url}{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        try:
            with _OPENER.open(request, timeout=60) as answer:
                text = answer.read()
        except urllib.error.HTTPError as error:
            message = error.read().decode(errors="replace")
            raise RefusedByConnect(f"{method} {path}", error.code, message) from None
        return json.loads(text) if text else None


class DistributedConnect(Connect):
    """A worker that keeps its connectors in Kafka.

    It writes each record once, for consumers that read committed records only.
    """

    main_class = "org.apache.kafka.connect.cli.ConnectDistributed"

    def __init__(self, folder: Path, kafka: Kafka, *, group: str = "connect") -> None:
        super().__init__(folder, kafka)
        self.group = group

    def settings(self) -> Dict[str, str]:
        kept = {
            f"{what}.storage.{key}": value
            for what in ("config", "offset", "status")
            for key, value in {
                "topic": f"{self.group}-{what}",
                "replication.factor": "1",
                "partitions": "1",
            }.items()
        }
        del kept["config.storage.partitions"]  # always one
        return {
            **super().settings(),
            **kept,
            "group.id": self.group,
            "exactly.once.source.support": "enabled",
            # How long tasks of a killed worker wait for it to return.
            "scheduled.rebalance.max.delay.ms": "0",
            "session.timeout.ms": "4000",
            "heartbeat.interval.ms": "1000",
            # A worker reads its offsets only after the broker has aborted the open
            # transaction of a killed one.
            "producer.transaction.timeout.ms": "5000",
        }
