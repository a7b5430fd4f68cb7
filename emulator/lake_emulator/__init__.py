"""The local AWS emulator: one process on 127.0.0.1, whose EMR steps really run.

Imports boto3, botocore, moto and werkzeug, and no other package.
"""

from __future__ import annotations

from lake_emulator.clients import DEFAULT_REGION, client

__all__ = ["DEFAULT_REGION", "client"]
