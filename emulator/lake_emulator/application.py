"""The WSGI application: each request goes through one row of handlers.

A handler takes the call, and may answer it: the first reply ends the row. What it found
out it leaves on the call for those after it. The last handlers see each reply of a service.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, Callable, Iterable, Optional, Sequence

from lake_emulator.call import Call
from lake_emulator.s3.request import Reply

Handler = Callable[[Call], Optional[Reply]]
"""Return the reply that ends the row; None to go on."""
ReplyHandler = Callable[[Call, Reply], Reply]
"""Return the reply that a client gets instead."""


class Application:
    """Answers by the first handler that does, else by the services."""

    def __init__(
        self,
        handlers: Sequence[Handler],
        services: Callable[[Call], Reply],
        reply_handlers: Sequence[ReplyHandler],
    ) -> None:
        self._handlers = handlers
        self._services = services
        self._reply_handlers = reply_handlers

    def __call__(
        self, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        call = Call(environ)
        for handler in self._handlers:
            if found := handler(call):
                return _send(found, start_response)
        reply = self._services(call)
        for finish in self._reply_handlers:
            reply = finish(call, reply)
        return _send(reply, start_response)


def _send(reply: Reply, start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Send a reply without headers by which pages of browsers may read it."""
    headers = {
        name: value
        for name, value in reply.headers.items()
        if not name.lower().startswith("access-control-")
    }
    body = reply.body
    if isinstance(body, bytes):
        if "content-length" not in {name.lower() for name in headers}:
            headers["content-length"] = str(len(body))
        body = [body]
    status = f"{reply.status} {HTTPStatus(reply.status).phrase}"
    start_response(status, list(headers.items()))
    return body
