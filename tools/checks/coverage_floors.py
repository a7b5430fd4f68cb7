"""The share of each package that tests play, compared with the floor that it must keep.

    python -m tools.checks.coverage_floors RUN REPORT

prints a line for each package that this run of tests has a floor for. The report is the
JSON of coverage.py; the floors stand in tests/coverage.json, in percent of lines and
branches together. A floor is raised by hand, to what a run says.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Iterator, Mapping, Optional

ROOT = Path(__file__).resolve().parents[2]
FLOORS = "tests/coverage.json"
PARTS = {
    "num_statements": "covered_lines",
    "num_branches": "covered_branches",
}
"""Of what there is in a file, how much was played: names of coverage.py's report."""


def floors(root: Path, run: str) -> dict[str, Optional[float]]:
    """Return the floor of each package, in percent; None where nobody has measured it."""
    found: dict[str, Optional[float]] = json.loads(
        (root / FLOORS).read_text(encoding="utf-8")
    )[run]
    return found


def packages(root: Path, run: str) -> list[str]:
    """Return the folders that a run measures."""
    return list(floors(root, run))


def shares(report: Mapping[str, Any], folders: list[str]) -> dict[str, float]:
    """Return the percent of lines and branches that were played in each folder.

    Raises:
        ValueError: the report has no file of a folder.
    """
    found = {}
    for folder in folders:
        of_files = [
            file["summary"]
            for path, file in report["files"].items()
            if path.startswith(f"{folder}/")
        ]
        all_there = sum(each[name] for each in of_files for name in PARTS)
        if not all_there:
            raise ValueError(f"the report has no line of {folder}/; was it renamed?")
        played = sum(each[name] for each in of_files for name in PARTS.values())
        found[folder] = 100 * played / all_there
    return found


def compared(
    found: Mapping[str, float], asked: Mapping[str, Optional[float]]
) -> Iterator[tuple[bool, str]]:
    """Yield of each package whether it keeps its floor, and a line that says so."""
    for name, percent in found.items():
        floor = asked[name]
        # Cut, not rounded: what is shown as the floor is not below it.
        line = f"{name}: {int(percent * 10) / 10} %"
        if floor is None:
            yield True, f"{line}, no floor yet: note it in {FLOORS}"
        elif percent < floor:
            yield False, f"{line}, below its floor of {floor} %: test what is new"
        else:
            yield True, f"{line}, floor {floor} %"


def main(run: str, report: str) -> int:
    """Print the share of each package; return 1 if one is below its floor."""
    asked = floors(ROOT, run)
    found = shares(json.loads(Path(report).read_text(encoding="utf-8")), list(asked))
    lines = list(compared(found, asked))
    print("\n".join(line for _, line in lines))
    return int(not all(keeps for keeps, _ in lines))


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
