"""How a test run ends that is asked to: with nothing left of what it started."""

from __future__ import annotations

import signal
from typing import Any, Iterator

import pytest


@pytest.fixture(scope="session")
def ended_in_order() -> Iterator[None]:
    """A test run that is asked to end stops what it started, as with Ctrl-C."""

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    yield
    signal.signal(signal.SIGTERM, before)
