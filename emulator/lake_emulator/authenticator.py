"""Who may call the emulator: this machine's own clients, by requests that they signed.

It runs commands and holds data, so that nothing but the owner's own processes may reach
it: not a page in a browser, which can send requests to any port of this machine, nor a
name that was made to lead here. Signatures are those of AWS, version 4.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import re
from datetime import datetime, timedelta, timezone
from functools import lru_cache
from typing import Any, Iterator, Mapping, Optional
from urllib.parse import quote, unquote, unquote_plus

from lake_emulator.call import Call
from lake_emulator.protocols import json_error, s3_error
from lake_emulator.s3.request import Reply

ALGORITHM = "AWS4-HMAC-SHA256"
CLOCKS_DIFFER = timedelta(minutes=15)
LONGEST_LINK = 604_800  # seconds that a presigned link may live, as on AWS
_HEADER = re.compile(
    rf"{ALGORITHM} +Credential=(\S+?), *SignedHeaders=(\S+?), *Signature=([0-9a-f]{{64}})"
)
_SCOPE = re.compile(r"([^/]+)/(\d{8})/([a-z0-9-]+)/([a-z0-9-]+)/aws4_request")


log = logging.getLogger(__name__)


class Authenticator:
    """Refuses requests that are not of one of our own clients."""

    def __init__(self, secret: str, port: int) -> None:
        self._secret = secret
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}

    def refuse(self, call: Call) -> Optional[Reply]:
        """Answer in the protocol of the caller, so that its user sees the message."""
        why = self._why(call)
        if why is None:
            return None
        log.warning("%s refused: %s", call.method, why)
        message = f"The AWS emulator refused the request: {why}"
        if call.target:
            return json_error(403, "AccessDeniedException", message)
        return s3_error(403, "AccessDenied", message)

    def _why(self, call: Call) -> Optional[str]:
        headers = call.environ["lake.headers"]
        if "origin" in headers:
            return (
                "it has a header Origin: pages of browsers may not call the emulator."
            )
        if headers.get("host", "").lower() not in self._hosts:
            hosts = " or ".join(sorted(self._hosts))
            return f"its header Host is {headers.get('host', '')!r}, not {hosts}."
        if call.method == "OPTIONS":
            return "OPTIONS is a request of browsers, whose pages may not call it."
        if not self._is_signed(call, headers):
            return (
                "it is not signed with the key of this state directory. Use the keys in its"
                " file `credentials`."
            )
        return None

    def _is_signed(self, call: Call, headers: Mapping[str, str]) -> bool:
        environ = call.environ
        query = list(_pairs(environ.get("QUERY_STRING", "")))
        asked = dict(query)
        is_link = "X-Amz-Signature" in asked
        if is_link:
            found = [asked.get(f"X-Amz-{n}", "") for n in _OF_A_LINK]
            credential, signed, signature, timestamp = map(unquote, found)
            query = [each for each in query if each[0] != "X-Amz-Signature"]
            lives = _seconds(asked.get("X-Amz-Expires", ""))
        else:
            match = _HEADER.fullmatch(headers.get("authorization", ""))
            if not match:
                return False
            credential, signed, signature = match.groups()
            timestamp, lives = headers.get("x-amz-date", ""), 0
        scope = _SCOPE.fullmatch(credential)
        if (
            not scope
            or not _is_of_now(timestamp, lives)
            or "host" not in signed.split(";")
        ):
            return False
        _, day, region, service = scope.groups()
        if not timestamp.startswith(day):
            return False
        payload = "UNSIGNED-PAYLOAD" if is_link else _payload(call, headers)
        key = _key(self._secret, day, region, service)
        place = f"{day}/{region}/{service}/aws4_request"
        for path in _paths(environ):
            canonical = "\n".join(
                [
                    environ["REQUEST_METHOD"],
                    path,
                    "&".join("=".join(each) for each in sorted(query)),
                    *(
                        f"{n}:{' '.join(headers.get(n, '').split())}"
                        for n in signed.split(";")
                    ),
                    "",
                    signed,
                    payload,
                ]
            )
            text = "\n".join([ALGORITHM, timestamp, place, _sha256(canonical.encode())])
            expected = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
            if hmac.compare_digest(expected, signature):
                return True
        return False


_OF_A_LINK = ("Credential", "SignedHeaders", "Signature", "Date")


def _pairs(query: str) -> Iterator[tuple[str, str]]:
    """Return names and values of a query, encoded as signatures have them.

    A plus sign is a blank, which some clients send so and sign as `%20`.
    """
    for part in filter(None, query.split("&")):
        name, _, value = map(unquote_plus, part.partition("="))
        yield quote(name, safe="-_.~"), quote(value, safe="-_.~")


def _paths(environ: Mapping[str, Any]) -> Iterator[str]:
    """Return the path as it came, and as it is encoded again: clients differ."""
    raw = str(environ.get("RAW_URI") or quote(environ["PATH_INFO"])).partition("?")[0]
    again = quote(unquote(raw), safe="/-_.~")
    yield raw
    if again != raw:
        yield again


def _payload(call: Call, headers: Mapping[str, str]) -> str:
    """Return the hash of the body, as the client says; it is made where the client does not."""
    return headers.get("x-amz-content-sha256") or _sha256(call.body or call.read())


def _is_of_now(timestamp: str, lives: int) -> bool:
    try:
        at = datetime.strptime(timestamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=timezone.utc)
    except ValueError:
        return False
    age = datetime.now(timezone.utc) - at
    return -CLOCKS_DIFFER <= age <= CLOCKS_DIFFER + timedelta(seconds=lives)


def _seconds(text: str) -> int:
    return min(int(text), LONGEST_LINK) if text.isdigit() else 0


@lru_cache(maxsize=64)
def _key(secret: str, day: str, region: str, service: str) -> bytes:
    made = f"AWS4{secret}".encode()
    for part in (day, region, service, "aws4_request"):
        made = hmac.new(made, part.encode(), hashlib.sha256).digest()
    return made


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
