"""Names of a release's files that steps are made of, and what they must be.

docs/architecture.md, and docs/releases.md for who vouches for which file.
"""

from __future__ import annotations

import json
from typing import Mapping, Optional

CODE = "lake.zip"
"""The packages lake_spark and lake_spec."""

PACKAGES = "boto3.zip"
"""boto3 and what it needs: no document of AWS says that a node has them."""

MAIN = "main.py"
"""The program of every step."""

RELEASE = "release.json"
"""What the DAGs know of their release: its id, the SHA-256 of what steps read, and the
environment that it was built for."""


def spec_file(domain: str) -> str:
    """Return the name of the spec that steps of a domain read."""
    return f"specs/{domain}.json"


def release_text(
    release: str, artifacts: Mapping[str, str], environment: Optional[str] = None
) -> str:
    """Return the content of RELEASE; `artifacts` are SHA-256 in hex, by file."""
    content = {"release": release, "artifacts": dict(artifacts)}
    named = {"environment": environment} if environment else {}
    return json.dumps({**content, **named})


def sha256_argument(artifacts: Mapping[str, str], domain: str) -> str:
    """Return what a step of a domain is told of its files: `lake.zip=<hex>,...`; empty
    where it is not known."""
    names = (CODE, PACKAGES, spec_file(domain))
    return ",".join(f"{name}={artifacts[name]}" for name in names if name in artifacts)
