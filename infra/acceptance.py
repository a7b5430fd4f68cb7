#!/usr/bin/env python3
"""Acceptance of a deployment: see docs/acceptance.md, and --help."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / name) for name in ("dags", "infra", "local")]

from lake_acceptance.__main__ import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
