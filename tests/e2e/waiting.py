"""Waiting for a condition, never for a time."""

from __future__ import annotations

import time
from typing import Callable, Optional, TypeVar

Found = TypeVar("Found")


def until(look: Callable[[], Optional[Found]], what: str, *, seconds: float) -> Found:
    """What `look` finds as soon as it finds something; TimeoutError names `what`."""
    deadline = time.monotonic() + seconds
    while True:
        found = look()
        if found:
            return found
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: not within {seconds:.0f} s")
        time.sleep(0.05)
