"""Random work on real databases, captured by Debezium, as many seeds as asked for.

    python -m tests.loop --seeds N [--seed S] [--database NAME]... [--seam]

Each seed works on ten tables of PostgreSQL and of MariaDB, before and while their
changes are captured; Kafka Connect is killed twice, and once the connector is made
again, with its slot or amid work, or the binary log gets another name. Then each
table's current is what the source says, and its history what triggers in the source
wrote down.
With --seam the capture begins amid the work and reads no row itself: a full load by
JDBC does, of each table at a moment in the middle, while transactions are open and
work goes on. Current is compared as without it, history from the load on.
A seed does the same work again; how far it came at each kill may differ.
The last line says `N seeds, M differences`; the exit code is 1 if M is not 0.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from contextlib import ExitStack, redirect_stdout
from pathlib import Path
from typing import List, Optional, Sequence, TextIO

from tests.asked import parser

DATABASES = ("postgresql", "mariadb")
SHOWN = 20
"""So many differences of a play are told in words."""


def play_all(
    seeds: Sequence[int], databases: Sequence[str], home: Path, *, seam: bool = False
) -> int:
    """Play them, a line for each; how many differences there were."""
    from tests.loop.play import Loop, Size
    from tests.loop.seam import SeamLoop
    from tests.loop.servers import Servers
    from tests.spark.local_session import local_session

    wrong, terminal = 0, sys.stdout
    with ExitStack() as stack:
        spark = local_session()
        stack.callback(spark.stop)
        servers = stack.enter_context(Servers())
        told = stack.enter_context(open(home / "stages.log", "w", encoding="utf-8"))
        stack.enter_context(redirect_stdout(told))
        for seed in seeds:
            for database in databases:
                started = time.monotonic()
                root = home / f"{seed}-{database}"
                kind = SeamLoop if seam else Loop
                found = kind(spark, servers, root, database, seed).play(Size())
                wrong += len(found)
                where = f"seed {seed}, {database}, {time.monotonic() - started:.0f} s"
                _tell(where, found, terminal)
    return wrong


def _tell(where: str, found: List[str], file: TextIO) -> None:
    print(f"{where}: {len(found)} differences", file=file)
    for words in found[:SHOWN]:
        print(f"    {words}", file=file)
    file.flush()


def main(argv: Optional[Sequence[str]] = None) -> int:
    """Play, tell, and say by the exit code whether nothing differed."""
    asking = parser("loop", "seeds", __doc__)
    asking.add_argument(
        "--database", action="append", choices=DATABASES, help="of these alone"
    )
    asking.add_argument(
        "--seam", action="store_true", help="join a full load to the changes"
    )
    asked = asking.parse_args(argv)
    os.environ.setdefault("AWS_EC2_METADATA_DISABLED", "true")
    seeds = range(asked.seed, asked.seed + asked.seeds)
    print(f"seed {asked.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="lake-loop-") as home:
        databases = asked.database or DATABASES
        wrong = play_all(seeds, databases, Path(home), seam=asked.seam)
    print(f"{asked.seeds} seeds, {wrong} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
