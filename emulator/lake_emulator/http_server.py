"""The HTTP server: a thread per connection, and connections that stay open.

Werkzeug's own server closes the connection after every reply. A Spark job
makes thousands of small S3 calls, so this one keeps it open, as S3 does.
"""

from __future__ import annotations

import io
import logging
import socket
from typing import Any, Callable, Iterable

from moto.moto_server import werkzeug_app
from werkzeug.serving import ThreadedWSGIServer, WSGIRequestHandler

WsgiApp = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
Base = getattr(werkzeug_app, "MotoRequestHandler", WSGIRequestHandler)
UNREAD_LIMIT = 1024 * 1024
log = logging.getLogger(__name__)


class DropConnection(Exception):
    """Close the connection without a reply: the client never learns."""


class BoundedInput(io.RawIOBase):
    """The request's body and not a byte more, so that the next request is found."""

    def __init__(self, stream: Any, length: int) -> None:
        self._stream = stream
        self.left = length

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1) -> bytes:
        wanted = self.left if size is None or size < 0 else min(size, self.left)
        return self._taken(self._stream.read(wanted)) if wanted else b""

    def readline(self, size: int | None = -1) -> bytes:
        wanted = self.left if size is None or size < 0 else min(size, self.left)
        return self._taken(self._stream.readline(wanted)) if wanted else b""

    def readinto(self, buffer: Any) -> int:
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def _taken(self, data: bytes) -> bytes:
        self.left = self.left - len(data) if data else 0
        return data


class KeepAliveHandler(Base):  # type: ignore[misc, valid-type]
    """One connection; its requests one after the other."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    timeout = 600

    def run_wsgi(self) -> None:
        try:
            self._serve_one()
        except DropConnection:
            self._hang_up()
        except (ConnectionError, socket.timeout):
            self.close_connection = True

    def _serve_one(self) -> None:
        environ = self.make_environ()
        environ["lake.headers"] = {
            name.lower(): value for name, value in self.headers.items()
        }
        if not environ.get("wsgi.input_terminated"):
            length = int(environ.get("CONTENT_LENGTH") or 0)
            environ["wsgi.input"] = BoundedInput(self.rfile, length)
        if self.headers.get("Expect", "").lower().strip() == "100-continue":
            self.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            self.wfile.flush()
        self._reply(environ)
        self._leave_nothing_unread(environ["wsgi.input"])

    def _reply(self, environ: dict[str, Any]) -> None:
        started: list[Any] = []

        def start_response(status: str, headers: Any, exc_info: Any = None) -> None:
            started[:] = [status, list(headers)]

        try:
            body = self.server.app(environ, start_response)
        except (DropConnection, ConnectionError):
            raise
        except Exception:
            log.exception("%s %s", self.command, self.path)
            started[:], body = ["500 Internal Server Error", []], [b"see aws.log"]
        try:
            self._write(started[0], started[1], body)
        finally:
            if hasattr(body, "close"):
                body.close()

    def _write(
        self, status: str, headers: list[tuple[str, str]], body: Iterable[bytes]
    ) -> None:
        code, _, reason = status.partition(" ")
        empty = self.command == "HEAD" or code in ("204", "304")
        names = {name.lower() for name, _ in headers}
        if "content-length" not in names and not empty:
            body = [b"".join(body)]
            headers.append(("Content-Length", str(len(body[0]))))
        if code == "304":
            headers = [pair for pair in headers if pair[0].lower() != "content-length"]
        self.send_response(int(code), reason)
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        for chunk in () if empty else body:
            self.wfile.write(chunk)
        self.wfile.flush()

    def _leave_nothing_unread(self, stream: Any) -> None:
        """Read what the application left, or give the connection up."""
        if isinstance(stream, BoundedInput) and stream.left > UNREAD_LIMIT:
            self.close_connection = True
        else:
            while stream.read(64 * 1024):
                pass

    def _hang_up(self) -> None:
        self.close_connection = True
        try:
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def log_request(self, code: Any = "-", size: Any = "-") -> None:
        log.debug("%s %s %s", self.command, self.path.partition("?")[0], code)

    def log(self, type: str, message: str, *args: Any) -> None:
        log.debug(message, *args)


class Server(ThreadedWSGIServer):
    """Bound to the loopback address only."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 256

    def __init__(self, port: int, app: WsgiApp) -> None:
        super().__init__("127.0.0.1", port, app, KeepAliveHandler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        log.exception("connection from %s", client_address)
