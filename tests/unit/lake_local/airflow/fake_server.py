"""A tiny HTTP server that answers as Airflow's REST interface does."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class FakeAirflow:
    """Answers from `answers`, keyed by (method, path); remembers what was asked."""

    def __init__(self) -> None:
        self.answers: dict[tuple[str, str], list[tuple[int, object]]] = {}
        self.asked: list[tuple[str, str, object, str | None]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        # Asking more often than each 0.5 s whether it shall end makes its end quick.
        serve = threading.Thread(
            target=self._server.serve_forever, args=(0.01,), daemon=True
        )
        serve.start()
        self.answer("POST", "/auth/token", {"access_token": "t1"})

    def answer(self, method: str, path: str, body: object, status: int = 200) -> None:
        """Give this answer from now on, or after those that were put before."""
        self.answers.setdefault((method, path), []).append((status, body))

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _next(self, method: str, path: str) -> tuple[int, object]:
        waiting = self.answers.get((method, path)) or [(404, {"detail": "not found"})]
        return waiting.pop(0) if len(waiting) > 1 else waiting[0]

    def _handler(fake) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            def _serve(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                body = json.loads(self.rfile.read(length)) if length else None
                token = self.headers.get("Authorization")
                fake.asked.append((self.command, self.path, body, token))
                status, answer = fake._next(self.command, self.path)
                self.send_response(status)
                self.end_headers()
                self.wfile.write(json.dumps(answer).encode())

            do_GET = do_POST = do_PATCH = _serve

            def log_message(self, *args: object) -> None:
                """Tests are quiet."""

        return Handler
