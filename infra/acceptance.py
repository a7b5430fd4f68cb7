#!/usr/bin/env python3
"""Acceptance of a deployment: see docs/acceptance.md, and --help."""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "dags"), str(ROOT / "infra")]

# Airflow's own words about its connections are no part of the report.
os.environ.setdefault("AIRFLOW__LOGGING__LOGGING_LEVEL", "ERROR")

from lake_acceptance.__main__ import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
