"""One request on its way through the handlers, with what they found out of it."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from typing import Any, Optional

from lake_emulator.s3.request import Request


@dataclass
class Call:
    """A request as it came, and from `identify` on who makes it, what it is, and of what.

    `s3` is there only for calls of objects, whose body may be read once; `body` for the
    services that speak JSON or forms.
    """

    environ: dict[str, Any]
    caller: str = ""
    region: str = ""
    service: str = ""
    operation: str = ""
    s3: Optional[Request] = None
    things: list[dict[str, Any]] = field(default_factory=list)
    method: str = field(init=False)
    path: str = field(init=False)
    target: str = field(init=False)
    """The operation as services with JSON are told it; "" for other protocols."""
    body: bytes = field(init=False, default=b"")

    def __post_init__(self) -> None:
        self.method = self.environ.get("REQUEST_METHOD", "")
        self.path = self.environ.get("PATH_INFO", "")
        self.target = self.environ.get("HTTP_X_AMZ_TARGET", "")
        if self.target:
            self.read()

    def read(self) -> bytes:
        """Return the whole body, and keep it for who reads it again."""
        stream = self.environ["wsgi.input"]
        is_ended = self.environ.get("wsgi.input_terminated")
        size = -1 if is_ended else int(self.environ.get("CONTENT_LENGTH") or 0)
        self.body = stream.read(size)
        self.environ["wsgi.input"] = io.BytesIO(self.body)
        return self.body
