"""Serves the catalogue's pages on loopback, as runs left them on the emulator's S3.

Their address has a path that nobody but the owner of the state directory knows: other
users of this machine can reach the port.
"""

from __future__ import annotations

import argparse
import hashlib
import hmac
import logging
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

from lake_site.store import S3Store, Store, type_of
from lake_spec.layout.site_pages import START

NAME = "pages"
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self';"
    " form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}
_ABSENT = b"There is no such page. To build all pages: ./run_locally.sh site\n"


def path_of(secret: str) -> str:
    """Return the path that pages lie below; `secret` is that of the state directory."""
    return hmac.new(secret.encode(), b"pages", hashlib.sha256).hexdigest()[:32]


def page_of(target: str, below: str) -> str | None:
    """Return the path of the page that a request asks for; None for none of ours."""
    path = unquote(urlsplit(target).path).lstrip("/")
    first, slash, rest = path.partition("/")
    if not slash or not hmac.compare_digest(first.encode(), below.encode()):
        return None
    if rest.startswith("/") or ".." in rest.split("/"):
        return None
    return f"{rest}{START}" if not rest or rest.endswith("/") else rest


class Server(ThreadingHTTPServer):
    """Serves the files of a store below a path, on 127.0.0.1."""

    daemon_threads = True

    def __init__(self, port: int, store: Store, below: str) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.store = store
        self.below = below
        port = self.server_address[1]
        self.hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        """Answer with a page, or 404; other hosts' names are refused."""
        if self.headers.get("Host", "").lower() not in self.server.hosts:
            self._answer(403, "text/plain", b"Open the address that `up` prints.\n")
            return
        page = page_of(self.path, self.server.below)
        body = self.server.store.read(page) if page else None
        if page is None or body is None:
            self._answer(404, "text/plain", _ABSENT)
        else:
            self._answer(200, type_of(page), body)

    def _answer(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        headers = {**_HEADERS, "Content-Type": kind, "Content-Length": str(len(body))}
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Log the status only: the path is known to the owner alone."""
        logging.info("answered %s", args[1] if len(args) > 1 else "")


def main(argv: list[str] | None = None) -> int:
    """Serve until the process is ended; keys and endpoint are in its environment."""
    parser = argparse.ArgumentParser(prog="python -m lake_local.page_server")
    parser.add_argument("--root", required=True, help="address of the site on S3")
    parser.add_argument("--port", type=int, required=True, help="port on 127.0.0.1")
    args = parser.parse_args(argv)
    import boto3  # slow to start; most importers want the path of the pages alone

    below = path_of(os.environ["AWS_SECRET_ACCESS_KEY"])
    store = S3Store(boto3.client("s3"), args.root)
    Server(args.port, store, below).serve_forever()
    return 0


if __name__ == "__main__":
    sys.exit(main())
