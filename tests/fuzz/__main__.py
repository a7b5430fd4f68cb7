"""Random landing files, valid ones and mutated ones, against a strict reader.

    python -m tests.fuzz --files N [--seed S] [--only NUMBER]...

Each file is made of random rows and then treated as files are in the real world: bytes,
quotes, encodings, line ends, numbers, dates, names and columns are changed, lines are
lost, doubled or joined, files cut or packed. A reader in plain Python, which knows
nothing of the product, says what the file holds: the lake must have exactly these rows,
or name the bad row or file, with nothing else lost; and after the bad files were
removed the next run must succeed. A seed makes the same files again; `--only` plays
chosen ones. The last line says `N files, W wrong, P poisoned`; the exit code is 1 unless
both are 0.
"""

from __future__ import annotations

import sys
import tempfile
from contextlib import redirect_stdout
from pathlib import Path
from typing import Callable, Dict, Iterator, List, Optional, Sequence, Tuple

from pyspark.sql import SparkSession

from tests.asked import parser
from tests.fuzz.outcome import Outcome
from tests.fuzz.playing import FilesOf
from tests.fuzz.snapshots import Snapshots
from tests.fuzz.tables import KINDS
from tests.spark.local_session import local_session

LOG_BATCHES, SNAPSHOT_BATCHES = (12, 100), (5, 20)
"""How many files land before one run, in the first round of all kinds and in later ones."""


def batches(files: int, kinds: int) -> Iterator[Tuple[int, range]]:
    """Which kind takes which files: the last kind is the one of snapshots."""
    start, number = 0, 0
    while start < files:
        later, index = number >= kinds, number % kinds
        size = (SNAPSHOT_BATCHES if index == kinds - 1 else LOG_BATCHES)[later]
        yield index, range(start, min(start + size, files))
        start, number = start + size, number + 1


def play_all(
    spark: SparkSession,
    files: int,
    seed: int,
    tell: Callable[[str], object],
    only: Sequence[int] = (),
) -> Outcome:
    """Play the files, tell a line of each batch and each find; what was found."""
    kinds = [*map(FilesOf, KINDS), Snapshots()]
    found = Outcome()
    for index, numbers in batches(files, len(kinds)):
        picked = [each for each in numbers if not only or each in only]
        if not picked:
            continue
        kind, chosen = kinds[index], range(picked[0], picked[-1] + 1)
        with tempfile.TemporaryDirectory(prefix="lake-fuzz-") as root:
            with open(Path(root) / "stages.log", "w", encoding="utf-8") as told:
                with redirect_stdout(told):
                    outcome = kind.play(spark, Path(root), seed, chosen)
        lines = _told(kind.name, seed, outcome.wrong, "WRONG")
        lines += _told(kind.name, seed, outcome.poisoned, "POISONED")
        tell(f"{kind.name}: files {chosen[0]} to {chosen[-1]}: {len(lines)} finds")
        for line in lines:
            tell(line)
        found.wrong.update(outcome.wrong)
        found.poisoned.update(outcome.poisoned)
    return found


def _told(name: str, seed: int, finds: Dict[int, str], word: str) -> List[str]:
    return [
        f"{word} seed {seed}, file {number} of {name} {words}"
        for number, words in finds.items()
    ]


def main(argv: Optional[Sequence[str]] = None) -> int:
    """Play, report, and say by the exit code whether all were right."""
    asking = parser("fuzz", "files", __doc__)
    asking.add_argument(
        "--only", type=int, action="append", default=[], metavar="NUMBER"
    )
    asked = asking.parse_args(argv)
    terminal = sys.stdout

    def tell(line: str) -> None:
        print(line, file=terminal, flush=True)

    tell(f"seed {asked.seed}")
    spark = local_session()
    try:
        found = play_all(spark, asked.files, asked.seed, tell, asked.only)
    finally:
        spark.stop()
    wrong, poisoned = len(found.wrong), len(found.poisoned)
    tell(f"{asked.files} files, {wrong} wrong, {poisoned} poisoned")
    return 1 if wrong or poisoned else 0


if __name__ == "__main__":
    sys.exit(main())
