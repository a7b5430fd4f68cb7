"""Unit tests reach no other machine: what would wait for one fails at once."""

from __future__ import annotations

import socket
from typing import Any

import pytest

LOCAL = {None, "", "localhost", "127.0.0.1", "::1", "0.0.0.0", socket.gethostname()}


@pytest.fixture(autouse=True, scope="session")
def only_this_machine():
    """Fail a test that resolves another host: its AWS is not in memory."""
    resolve = socket.getaddrinfo

    def getaddrinfo(host: Any, *args: Any, **kwargs: Any) -> Any:
        if host not in LOCAL:
            pytest.fail(f"A unit test resolves {host!r}. Put it in memory or local.")
        return resolve(host, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(socket, "getaddrinfo", getaddrinfo)
        yield
