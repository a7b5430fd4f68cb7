"""The emulator's own pages below /_lake, asked for by signed requests."""

from __future__ import annotations

import urllib.error
import urllib.request
from typing import Any

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from lake_emulator.clients import DEFAULT_REGION
from lake_emulator.keys import KEY_ID

_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def ask(
    url: str,
    page: str,
    *,
    secret: str,
    method: str = "GET",
    body: bytes = b"",
    seconds: float = 30,
) -> Any:
    """Return the reply of a page; HTTPError for one that is refused."""
    asked = AWSRequest(method, f"{url}/_lake/{page}", data=body or None)
    signer = SigV4Auth(Credentials(KEY_ID, secret), "lake", DEFAULT_REGION)
    signer.add_auth(asked)
    request = urllib.request.Request(
        asked.url, data=body or None, headers=dict(asked.headers), method=method
    )
    return _OPENER.open(request, timeout=seconds)


def is_healthy(url: str, secret: str) -> bool:
    """Return whether the emulator at `url` answers its health check."""
    try:
        with ask(url, "health", secret=secret, seconds=5) as response:
            return bool(response.status == 200)
    except (urllib.error.URLError, OSError):
        return False
