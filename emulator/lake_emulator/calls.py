"""Which calls were made, by whom and of what: each once, in `<state directory>/calls.jsonl`.

A line is `{"caller", "service", "operation", "thing"}`; of lists of S3 also `prefix`
and `delimiter`, of copies `source`. The caller is the access key's id: `airflow`, the
id of a step, or `local` for people. So roles can be held to what is really called.
"""

from __future__ import annotations

import json
import threading
from pathlib import Path

from lake_emulator.call import Call

FILE = "calls.jsonl"
MOST = 200_000
"""The most lines that are kept, also in a state directory that is used for months."""

NOTED = ("thing", "prefix", "delimiter", "source")
"""What is kept of what a call is about."""

VERSIONS = ("version", "source_version")
"""Of which is kept that they are named."""


class Calls:
    """The file of calls, written as they come."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / FILE
        self._lock = threading.Lock()
        self._known = set(self._lines())

    def note(self, call: Call) -> None:
        """Keep the call, if there was none like it, without the request's values."""
        for each in call.things:
            noted = {"caller": call.caller, "service": call.service}
            named = {name: each[name] for name in NOTED if name in each}
            named.update({name: "*" for name in VERSIONS if name in each})
            line = json.dumps({**noted, "operation": call.operation, **named})
            self._keep(f"{line}\n")

    def _keep(self, line: str) -> None:
        with self._lock:
            if line in self._known or len(self._known) >= MOST:
                return
            self._known.add(line)
            with open(self._file, "a", encoding="utf-8") as file:
                file.write(line)

    def _lines(self) -> list[str]:
        if not self._file.exists():
            return []
        with open(self._file, encoding="utf-8") as file:
            return list(file)
