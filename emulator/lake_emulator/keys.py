"""The key of a state directory: created at the first use, in a file for its owner only.

Whoever can read the file may call the emulator, nobody else: no page in a browser, no
other user of this machine. It is a credentials file as AWS's own tools read one.
"""

from __future__ import annotations

import configparser
import os
import secrets
from pathlib import Path

from lake_emulator.state_mark import claim

KEY_ID = "local"
"""Of people and of the command line; Airflow and each step sign by an id of their own."""

FILE = "credentials"
_SECRET = "aws_secret_access_key"


def credentials_file(state_dir: Path) -> Path:
    """Return the file with the key of a state directory."""
    return state_dir / FILE


def secret_of(state_dir: Path) -> str:
    """Return the secret key of a state directory; create it at the first use."""
    file = credentials_file(state_dir)
    if not file.exists():
        _make(file)
    found = configparser.ConfigParser()
    found.read(file, encoding="utf-8")
    return found["default"][_SECRET]


def _make(file: Path) -> None:
    """Create the file atomically; of two processes the first wins."""
    claim(file.parent)
    draft = file.with_name(f".{file.name}.{os.getpid()}.{secrets.token_hex(4)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as output:
        output.write(f"[default]\naws_access_key_id = {KEY_ID}\n")
        output.write(f"{_SECRET} = {secrets.token_hex(32)}\n")
    try:
        os.link(draft, file)
    except FileExistsError:
        pass
    finally:
        draft.unlink()
