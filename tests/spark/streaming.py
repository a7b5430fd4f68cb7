"""The HoodieStreamer step of a lake, in a process of its own."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from lake_local.aws import runtimes
from tests.spark.lake import Lake


def stream(lake: Lake, stage: str, scratch: Path) -> int:
    """Prepare, then run the HoodieStreamer step if there is one; its exit code."""
    run = lake.prepare(stage)
    if not run.streamer_argv:
        return 0
    made = runtimes.command(
        "emr-7.13.0",
        ["spark-submit", *run.streamer_argv],
        endpoint="http://127.0.0.1:9",
        region="none",
        scratch=scratch,
        properties={},
    )
    with open(scratch / "streamer.log", "w", encoding="utf-8") as log:
        return subprocess.call(
            made.argv, env={**os.environ, **made.env}, stderr=log, stdout=log
        )
