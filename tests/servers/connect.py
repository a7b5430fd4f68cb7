"""Kafka Connect for tests: workers whose connectors run within a block."""

from __future__ import annotations

import contextlib
from typing import Dict, Iterator, Mapping

from lake_local.capture import connect
from lake_local.capture.connect import JSON, RefusedByConnect

__all__ = ["DistributedConnect", "JSON", "RefusedByConnect", "StandaloneConnect"]


class _Blocks(connect.Connect):
    """A worker that is asked to run a connector for a while."""

    @contextlib.contextmanager
    def running(self, name: str, config: Mapping[str, str]) -> Iterator[None]:
        """Run a connector within a block."""
        self.put_connector(name, config)
        try:
            self.wait_until_running(name)
            yield
        finally:
            self.delete_connector(name)

    def delete_connector(self, name: str) -> None:
        """End a connector; a replication slot or topics that it made stay."""
        self._ask("DELETE", f"/connectors/{name}")


class StandaloneConnect(_Blocks):
    """A worker by itself: it forgets its connectors when it ends, and what they
    read since the last second comes again after a kill."""

    main_class = "org.apache.kafka.connect.cli.ConnectStandalone"

    def settings(self) -> Dict[str, str]:
        offsets = str(self.folder / "offsets")
        return {**super().settings(), "offset.storage.file.filename": offsets}


class DistributedConnect(_Blocks, connect.DistributedConnect):
    """The worker that keeps its connectors in Kafka."""
