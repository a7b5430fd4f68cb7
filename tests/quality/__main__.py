"""Planted faults of data of ten kinds, which rules and checks must find.

    python -m tests.quality [--faults N] [--seed S]

Two faults are planted in each run, and corrected in the next one, which must be without
alarm. Each fault that no alarm names, and each alarm without a fault, is a line. The last
line says `N faults, M missed, F false`; the exit code is 1 if M or F is not 0.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Optional, Sequence

from tests.asked import parser

FAULTS = 40


def main(argv: Optional[Sequence[str]] = None) -> int:
    """Play, print, and return 1 if a fault was missed or an alarm was false."""
    asked = parser("quality", "faults", __doc__, default=FAULTS).parse_args(argv)
    os.environ.setdefault("AWS_EC2_METADATA_DISABLED", "true")
    print(f"seed {asked.seed}", flush=True)
    from tests.quality.playing import play
    from tests.spark.local_session import local_session

    spark = local_session()
    try:
        with tempfile.TemporaryDirectory(prefix="lake-quality-") as root:
            outcome = play(spark, Path(root), asked.faults, asked.seed)
    finally:
        spark.stop()
    for words, found in (("MISSED", outcome.missed), ("FALSE", outcome.false)):
        for each in found:
            print(f"{words} seed {asked.seed}, {each}")
    print(f"{outcome.clean} clean runs")
    missed, false = len(outcome.missed), len(outcome.false)
    print(f"{outcome.faults} faults, {missed} missed, {false} false")
    return 1 if missed or false else 0


if __name__ == "__main__":
    sys.exit(main())
