"""The way of changes from a source to its topics, which is killed on the way."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import Any, Iterator

from tests.loop.servers import Servers
from tests.loop.source import Source
from tests.loop.tables import PULSE, TABLES

PATIENCE = 90
"""Seconds that a capture may take to come to where it is waited for."""


class Capture:
    """A connector of Debezium, on a worker that keeps each record once."""

    def __init__(self, servers: Servers, source: Source) -> None:
        self.servers = servers
        self.source = source
        self._pulses = 0
        self._again = 0

    @contextmanager
    def running(self) -> Iterator[None]:
        """From the snapshot of what is there until the block ends."""
        kafka, connect, name = self.servers.kafka, self.servers.connect, self.name
        for table in (PULSE, *(each.name for each in TABLES)):
            kafka.create_topic(self.source.topic(table))
        connect.put_connector(name, self.source.connector())
        try:
            connect.wait_until_running(name)
            self._wait_for_changes()
            yield
        finally:
            connect.delete_connector(self.name)
            self.source.forget()

    def end(self) -> None:
        """Take the connector away; what it leaves in the database stays."""
        self.servers.connect.delete_connector(self.name)
        self.source.release()

    def begin_again(self) -> None:
        """Make another connector for the same topics: it begins with a snapshot."""
        self._again += 1
        connect = self.servers.connect
        connect.put_connector(self.name, self.source.connector(self._again))
        connect.wait_until_running(self.name)
        self._wait_for_changes()

    @property
    def name(self) -> str:
        """The connector's name."""
        again = f"_{self._again}" if self._again else ""
        return f"{self.source.schema}{again}"

    def _wait_for_changes(self) -> None:
        """The snapshot is taken when a change comes that is none of it."""
        deadline, before = time.monotonic() + PATIENCE, self._pulses
        while True:
            self._pulse()
            time.sleep(0.5)
            found = self.servers.kafka.read(self.source.topic(PULSE))
            if any(_is_change(each.json(), before) for each in found):
                return
            if time.monotonic() > deadline:
                self.servers.connect.wait_until_running(self.name, seconds=1)
                raise TimeoutError(f"{self.name}: no change came, {PATIENCE} s")

    def wait_until_here(self) -> None:
        """Return when all that was committed before can be read.

        A record is seen before those of other topics in its transaction may be, but
        not before those of the transaction before.
        """
        for _ in range(2):
            number = self._pulse()
            self.servers.kafka.read_until(
                self.source.topic(PULSE),
                lambda found: any(
                    each.json()["after"]["id"] == number for each in found
                ),
                seconds=PATIENCE,
            )

    def _pulse(self) -> int:
        self._pulses += 1
        self.source.pulse(self._pulses)
        return self._pulses

    def kill(self) -> None:
        """kill -9 the worker."""
        self.servers.connect.kill()

    def restart(self) -> None:
        """Start it again."""
        self.servers.connect.start()
        self.servers.connect.wait_until_running(self.name)


def _is_change(event: Any, before: int) -> bool:
    return event["op"] == "c" and event["after"]["id"] > before
