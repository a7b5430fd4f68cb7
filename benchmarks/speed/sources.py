"""Which state of the code figures are of."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Iterable, List, Sequence

ROOT = Path(__file__).resolve().parents[2]
MEASURED = (
    *("dags", "spark_jobs", "benchmarks/speed", "benchmarks/dag_parsing.py"),
    *("data/synthea", "local/runtimes", "requirements"),
    *("tests/spark/lake.py", "tests/spark/streaming.py", "tests/spark/submitted.py"),
    "emulator/lake_emulator/runtimes.py",
)
"""Folders and files that make the figures: ours, and which packages the others are."""

TELLING = (
    *("benchmarks/speed/plots.py", "benchmarks/speed/result.py"),
    *("local/lake_desk/estimate/estimate.py", "local/lake_desk/estimate/command.py"),
    "local/lake_desk/estimate/rates.py",
)
"""Those below them that tell of figures and make none."""

KINDS = (".lock", ".py", ".sql", ".xml", ".yml")


def digest(root: Path = ROOT, places: Sequence[str] = MEASURED) -> str:
    """Twelve hex digits that change with any of the files."""
    found = hashlib.sha256()
    for file in sorted(_files(root, places)):
        content = hashlib.sha256(file.read_bytes()).hexdigest()
        found.update(f"{file.relative_to(root).as_posix()} {content}\n".encode())
    return found.hexdigest()[:12]


def _files(root: Path, places: Sequence[str]) -> List[Path]:
    return [
        file
        for place in places
        for file in _below(root / place)
        if file.suffix in KINDS and file.is_file() and not _tells(file, root)
    ]


def _below(place: Path) -> Iterable[Path]:
    return [place] if place.is_file() else place.rglob("*")


def _tells(file: Path, root: Path) -> bool:
    return file.relative_to(root).as_posix() in TELLING
