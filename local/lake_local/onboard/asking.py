"""A database's catalogue, asked by the Python that has the databases' drivers."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import asdict
from pathlib import Path

from lake_local.onboard.ask import REFUSED
from lake_local.onboard.catalog import Catalog, from_data
from lake_local.onboard.server import Server

_SECONDS = 300
_KEPT = ("PATH", "LANG", "LC_ALL", "TMPDIR", "HOME", "SSL_CERT_FILE", "SSL_CERT_DIR")


class NoAnswer(Exception):
    """The catalogue cannot be had; says of which server, and why."""


def catalog_of(python: Path, code: Path, server: Server, schema: str) -> Catalog:
    """The tables of a schema, read by `python` with the packages in `code`."""
    done = subprocess.run(
        [str(python), "-m", "lake_local.onboard.ask"],
        # The password is in no argument, no file and no environment.
        input=json.dumps({"server": asdict(server), "schema": schema}),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=_SECONDS,
        env={**_environment(), "PYTHONPATH": str(code), "PYTHONIOENCODING": "utf-8"},
    )
    if done.returncode == REFUSED:
        raise NoAnswer(done.stderr.strip())
    if done.returncode:
        words = done.stderr.strip().splitlines()[-1:] or [f"exit {done.returncode}"]
        told = server.without_password(words[0])
        raise NoAnswer(f"the catalogue of {server.host} cannot be read: {told}")
    return from_data(json.loads(done.stdout))


def _environment() -> dict:
    """What drivers of databases may heed: not PGPASSWORD, PGHOST and their like."""
    return {name: os.environ[name] for name in _KEPT if name in os.environ}
