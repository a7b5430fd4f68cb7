"""Which state of the code figures are of."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import List, Sequence

ROOT = Path(__file__).resolve().parents[2]
MEASURED = ("dags", "spark_jobs", "benchmarks/speed", "local/runtimes", "requirements")
"""Folders whose files make the figures: ours, and which packages the others are."""

KINDS = (".lock", ".py", ".sql", ".xml", ".yml")


def digest(root: Path = ROOT, folders: Sequence[str] = MEASURED) -> str:
    """Twelve hex digits that change with any of the files."""
    found = hashlib.sha256()
    for file in sorted(_files(root, folders)):
        content = hashlib.sha256(file.read_bytes()).hexdigest()
        found.update(f"{file.relative_to(root).as_posix()} {content}\n".encode())
    return found.hexdigest()[:12]


def _files(root: Path, folders: Sequence[str]) -> List[Path]:
    return [
        file
        for folder in folders
        for file in (root / folder).rglob("*")
        if file.suffix in KINDS and file.is_file()
    ]
