"""Free ports on this machine's own address."""

from __future__ import annotations

import socket
from contextlib import ExitStack

ADDRESS = "127.0.0.1"


def free(count: int) -> list[int]:
    """`count` different ports that nobody listens on at this moment."""
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind((ADDRESS, 0))
        return [each.getsockname()[1] for each in sockets]
