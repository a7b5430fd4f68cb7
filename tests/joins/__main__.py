"""Random pairs of histories and facts against an oracle, as many as asked for.

    python -m tests.joins --pairs N [--seed S]

Some hundred share the tables, whose rows arrive in random batches: late facts, late rows
of the dimension, deletes, returns. Products of them are built after each batch: joins as of
a fact's time, over two tables, groups, products of products. Then files are corrected
and reprocessed, the products are verified and rebuilt. A mismatch is reported with the
seed that makes it again. The last line says `N joins, M mismatches`; the exit code is 1
if M is not 0.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Optional, Sequence

from tests.asked import parser

TOGETHER = 125
"""How many pairs share the tables."""


def play_all(pairs: int, seed: int) -> int:
    """Play all pairs, a line for each group of them; return how many differed."""
    from tests.joins.playing import Play
    from tests.spark.local_session import local_session

    spark = local_session()
    wrong = 0
    try:
        for start in range(0, pairs, TOGETHER):
            numbers = range(start + 1, min(start + TOGETHER, pairs) + 1)
            with tempfile.TemporaryDirectory(prefix="lake-joins-") as root:
                play = Play(spark, Path(root), seed, numbers)
                found = play.mismatches()
            wrong += len(found)
            print(
                f"{play.kind}: pairs {numbers[0]} to {numbers[-1]}, built in part "
                f"{play.partly} times: {len(found)} mismatches",
                flush=True,
            )
            for number, words in found.items():
                print(f"MISMATCH seed {seed}, pair {number}: {words}", flush=True)
    finally:
        spark.stop()
    return wrong


def main(argv: Optional[Sequence[str]] = None) -> int:
    """Play, print, and return 1 if anything differs."""
    asked = parser("joins", "pairs", __doc__).parse_args(argv)
    os.environ.setdefault("AWS_EC2_METADATA_DISABLED", "true")
    print(f"seed {asked.seed}", flush=True)
    wrong = play_all(asked.pairs, asked.seed)
    print(f"{asked.pairs} joins, {wrong} mismatches")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
