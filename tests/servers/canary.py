"""Where a secret got to: every file below some folders, and every process meanwhile."""

from __future__ import annotations

import base64
import gzip
import threading
import zlib
from pathlib import Path
from typing import Dict, Iterable, Iterator, List, Optional, Set

WHOLE = 64 * 1024 * 1024
"""Files are read at once; none of ours is larger."""


def disguises(secret: str) -> Set[bytes]:
    """The secret as it could stand in a file: plain or in base64.

    One of letters, digits and dashes looks the same in a URL and in JSON.
    """
    plain = secret.encode()
    encoded = {
        base64.b64encode(bytes(n) + plain)[k:-4] for n, k in ((0, 0), (1, 4), (2, 4))
    }
    return {plain, *encoded}


def found_in(folders: Iterable[Path], secrets: Dict[str, str]) -> List[str]:
    """Each file that holds a secret, with the secret's name."""
    sought = {name: disguises(secret) for name, secret in secrets.items()}
    return [
        f"{file}: {name}"
        for folder in folders
        for file in sorted(folder.rglob("*"))
        if file.is_file()
        for content in [_unpacked(file)]
        for name, forms in sought.items()
        if any(form in content for form in forms)
    ]


def _unpacked(file: Path) -> bytes:
    raw = file.read_bytes()
    assert len(raw) < WHOLE, f"{file} is too large to be looked through at once"
    if raw[:2] != b"\x1f\x8b":
        return raw
    try:
        return raw + gzip.decompress(raw)
    except (OSError, EOFError, zlib.error):
        return raw


class CommandLines:
    """Looks for secrets in the arguments of all processes, while its block lasts."""

    def __init__(self, secrets: Dict[str, str]) -> None:
        self.found: Set[str] = set()
        self.seen: Set[bytes] = set()
        self._sought: Dict[str, Set[bytes]] = {}
        self._error: Optional[Exception] = None
        self.add(secrets)
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def add(self, secrets: Dict[str, str]) -> None:
        """Look for these too, from now on."""
        more = {name: disguises(each) for name, each in secrets.items()}
        self._sought = {**self._sought, **more}

    def __enter__(self) -> CommandLines:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._is_over.set()
        self._thread.join()
        if self._error is not None:
            raise self._error

    def _watch(self) -> None:
        try:
            while not self._is_over.wait(0.2):
                self._look()
        except Exception as error:
            self._error = error

    def _look(self) -> None:
        for line in _command_lines():
            self.seen.add(line)
            for name, forms in self._sought.items():
                if any(form in line for form in forms):
                    self.found.add(f"{name} in {line[:200]!r}")


def _command_lines() -> Iterator[bytes]:
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            yield file.read_bytes()
        except OSError:  # it ended
            continue
