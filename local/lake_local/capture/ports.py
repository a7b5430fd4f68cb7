"""Finds free ports of 127.0.0.1."""

from __future__ import annotations

import random
import socket
from typing import List

from lake_local.errors import StartFailed

HOST = "127.0.0.1"
# Below those that Linux gives to outgoing connections: a server that was killed
# still finds its port free when it is started again.
CHOICE = range(20000, 32000)


def free_ports(count: int) -> List[int]:
    """Return `count` different ports that are free now. Raises StartFailed."""
    tried = random.sample(CHOICE, len(CHOICE))
    free = [port for port in tried[:100] if is_free(port)][:count]
    if len(free) < count:
        raise StartFailed(f"no {count} free ports on {HOST} among 100 that were tried.")
    return free


def is_free(port: int) -> bool:
    """Return whether a server could listen on the port."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as attempt:
        attempt.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            attempt.bind((HOST, port))
        except OSError:
            return False
    return True
