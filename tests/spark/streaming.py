"""The HoodieStreamer step of a lake, in a process of its own."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Sequence

from lake_local.aws import runtimes
from tests.spark.lake import Lake


def stream(lake: Lake, stage: str, scratch: Path) -> int:
    """Prepare, then run the HoodieStreamer step if there is one; its exit code."""
    run = lake.prepare(stage)
    return submit(run.streamer_argv, scratch) if run.streamer_argv else 0


def submit(argv: Sequence[str], scratch: Path) -> int:
    """Run a HoodieStreamer step; its exit code."""
    made = runtimes.command(
        "emr-7.13.0",
        ["spark-submit", *argv],
        endpoint="http://127.0.0.1:9",
        secret="none",
        scratch=scratch,
        properties={},
    )
    with open(scratch / "streamer.log", "w", encoding="utf-8") as log:
        return subprocess.call(
            made.argv, env={**os.environ, **made.env}, stderr=log, stdout=log
        )
