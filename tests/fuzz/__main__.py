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
from typing import Dict, Iterator, List, Optional, Sequence, Tuple

from tests.asked import parser

BATCH = 40
"""How many files land before one run."""


def batches(files: int, kinds: int) -> Iterator[Tuple[int, range]]:
    """Which kind of table takes which files."""
    for number, start in enumerate(range(0, files, BATCH)):
        yield number % kinds, range(start, min(start + BATCH, files))


def play_all(files: int, seed: int, only: Sequence[int] = ()) -> Tuple[int, int]:
    """Play the files, a line for each batch and each find; (wrong, poisoned)."""
    from tests.fuzz.playing import Outcome, play
    from tests.fuzz.tables import KINDS
    from tests.spark.local_session import local_session

    spark = local_session()
    found = Outcome()
    terminal = sys.stdout
    try:
        for index, numbers in batches(files, len(KINDS)):
            chosen = range(0)
            if only:
                picked = [each for each in numbers if each in only]
                if not picked:
                    continue
                chosen = range(picked[0], picked[-1] + 1)
            kind = KINDS[index]
            with tempfile.TemporaryDirectory(prefix="lake-fuzz-") as root:
                with open(Path(root) / "stages.log", "w", encoding="utf-8") as told:
                    with redirect_stdout(told):
                        outcome = play(spark, Path(root), kind, seed, chosen or numbers)
            lines = _told(kind, seed, outcome.wrong, "WRONG")
            lines += _told(kind, seed, outcome.poisoned, "POISONED")
            where = f"{kind.name}: files {numbers[0]} to {numbers[-1]}"
            print(
                f"{where}: {len(lines)} finds",
                *lines,
                sep="\n",
                file=terminal,
                flush=True,
            )
            found.wrong.update(outcome.wrong)
            found.poisoned.update(outcome.poisoned)
    finally:
        spark.stop()
    return len(found.wrong), len(found.poisoned)


def _told(kind, seed: int, finds: Dict[int, str], word: str) -> List[str]:
    return [
        f"{word} seed {seed}, file {number} of {kind.name} {words}"
        for number, words in finds.items()
    ]


def main(argv: Optional[Sequence[str]] = None) -> int:
    """Play, report, and say by the exit code whether all were right."""
    asking = parser("fuzz", "files", __doc__)
    asking.add_argument(
        "--only", type=int, action="append", default=[], metavar="NUMBER"
    )
    asked = asking.parse_args(argv)
    print(f"seed {asked.seed}", flush=True)
    wrong, poisoned = play_all(asked.files, asked.seed, asked.only)
    print(f"{asked.files} files, {wrong} wrong, {poisoned} poisoned")
    return 1 if wrong or poisoned else 0


if __name__ == "__main__":
    sys.exit(main())
