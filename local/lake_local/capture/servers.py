"""Kafka and Kafka Connect with a connector, for as long as a block lasts."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Callable, Dict, Iterator

from lake_local.airflow.settings import inherited
from lake_local.capture import debezium, slots
from lake_local.capture.connect import DistributedConnect
from lake_local.capture.installed import installed
from lake_local.capture.kafka import Kafka
from lake_local.capture.ports import HOST, is_free
from lake_local.capture.request import Capture
from lake_local.capture.server import ServerError
from lake_local.errors import BadRequest
from lake_local.onboard.server import Server as Database
from lake_local.stack import lock
from lake_local.workspace import background
from lake_local.workspace.project import java
from lake_local.workspace.state_dir import StateDirectory

LEFTOVER_SECONDS = 10
LOOK_SECONDS = 60
WATCH_SECONDS = 2


class Broker(Kafka):
    """A broker on a given port, which keeps its messages; a Ctrl-C does not reach it."""

    heap = "512m"

    def __init__(self, folder: Path, port: int, env: Dict[str, str]) -> None:
        super().__init__(folder)
        self.port, self._env = port, env

    def settings(self) -> Dict[str, str]:
        # A run may come after any pause, and reads from the first message on.
        return {**super().settings(), "log.retention.ms": "-1"}

    def popen_options(self) -> Dict[str, Any]:
        return {"env": self._env, "start_new_session": True}


class Worker(DistributedConnect):
    """A worker that knows the login of the database from its environment alone."""

    heap = "1g"

    def __init__(self, folder: Path, kafka: Broker, env: Dict[str, str]) -> None:
        super().__init__(folder, kafka)
        self._env = env

    def settings(self) -> Dict[str, str]:
        env = "config.providers.env"
        return {
            **super().settings(),
            "config.providers": "env",
            f"{env}.class": "org.apache.kafka.common.config.provider.EnvVarConfigProvider",
            f"{env}.param.allowlist.pattern": f"{debezium.USER}|{debezium.PASSWORD}",
        }

    def popen_options(self) -> Dict[str, Any]:
        return {"env": self._env, "start_new_session": True}


class Running:
    """Both servers with their connector."""

    def __init__(self, capture: Capture, broker: Broker, worker: Worker) -> None:
        self.capture, self.broker, self.worker = capture, broker, worker

    def watch(self, look: Callable[[], None]) -> None:
        """Wait for the first failure, and raise it; `look` at the slot now and then."""
        looked = float(-LOOK_SECONDS)
        while True:
            if time.monotonic() - looked >= LOOK_SECONDS:
                looked = time.monotonic()
                look()
            for server in (self.broker, self.worker):
                if server.pid is None:
                    raise ServerError(f"{server.name} ended; see {server.log}")
            with suppress(OSError):  # It is busy; if it ended, the next look says so.
                self.worker.require_health(self.capture.domain)
            time.sleep(WATCH_SECONDS)


def require_installed() -> None:
    """Raise Missing unless all programs are there."""
    for piece in ("kafka", "plugins/debezium-postgresql"):
        installed(piece)
    java()


@contextmanager
def running(
    home: StateDirectory, capture: Capture, database: Database
) -> Iterator[Running]:
    """Start the servers and the connector; stop them at the end of the block."""
    home.create()
    own = StateDirectory.at(home.root / slots.FOLDER / capture.domain)
    who = f"connect {capture.domain}"
    with lock.hold(own, who, shared=False, patience=0):
        # Processes of a command that was killed: they have the port and the slot.
        background.end_marked(own.root, grace=LEFTOVER_SECONDS)
        _require_free(capture)
        slots.begin(home, slots.slot_of(capture))
        env = {**inherited(os.environ), background.MARK: str(own.root)}
        login = {
            debezium.USER: database.username,
            debezium.PASSWORD: database.password,
        }
        try:
            with Broker(own.root / "kafka", capture.broker_port, env) as broker:
                folder = own.root / "worker"
                with Worker(folder, broker, {**env, **login}) as worker:
                    slots.note(home, slots.slot_of(capture))
                    config = debezium.postgresql(capture, _ca(own, database))
                    worker.put_connector(capture.domain, config)
                    worker.wait_until_running(capture.domain)
                    yield Running(capture, broker, worker)
        finally:
            background.end_marked(own.root, grace=0)


def _ca(own: StateDirectory, database: Database) -> Path | None:
    """Write the certificates that the database is checked by, for the worker."""
    if not database.ca:
        return None
    file = own.root / "ca.pem"
    file.write_text(database.ca, encoding="ascii")
    return file.resolve()


def _require_free(capture: Capture) -> None:
    if not is_free(capture.broker_port):
        raise BadRequest(
            f"{HOST}:{capture.broker_port} is in use by another process. End it, or choose"
            " another port in `bootstrap_servers` of the environment's file."
        )
