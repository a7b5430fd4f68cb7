#!/usr/bin/env python3
"""Releases of an environment: see docs/releases.md, and --help."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / name) for name in ("dags", "infra", "local")]

from lake_release.__main__ import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
