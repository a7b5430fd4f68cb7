"""README's queries by DuckDB and pyiceberg: `show` lines, played in `.venv-readers`."""

from __future__ import annotations

import argparse
import csv
import io
import json
import re
import shlex
import subprocess
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Dict, Iterator, List, Tuple

from lake_local.show.request import Request
from lake_local.workspace import project

PROJECT = Path(__file__).resolve().parents[3]
LINE = re.compile(r"^\./run_locally\.sh show (\S+ --through .*)$", re.MULTILINE)


def queries() -> Iterator[argparse.Namespace]:
    """Yield the arguments of each line that reads without Hudi.

    That the command takes the line is for `tests/policy/test_readme.py`.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("table")
    for name, default in (("through", ""), ("layer", "current"), ("where", "true")):
        parser.add_argument(f"--{name}", default=default)
    parser.add_argument("--limit", type=int, default=20)
    for line in LINE.findall((PROJECT / "README.md").read_text(encoding="utf-8")):
        yield parser.parse_args(shlex.split(line))


def answer(asked: argparse.Namespace, path: str, order: Tuple[str, ...]) -> List[Dict]:
    """Return the rows that the program behind `show --through` writes."""
    python = project.find().readers_python
    assert python.exists(), f"no {python}: run ./setup.sh --only readers"
    request = Request(
        *(asked.table, asked.layer, path),
        order=order,
        where=asked.where,
        hidden=("lake_",),
        limit=asked.limit,
        format="csv",
        through=asked.through,
        published="iceberg",
    )
    with tempfile.TemporaryDirectory(prefix="lake-readme-") as folder:
        file = Path(folder) / "requests.json"
        file.write_text(json.dumps({"endpoint": None, "requests": [asdict(request)]}))
        done = subprocess.run(
            [
                *(str(python), "-m", "lake_local.show.readers"),
                *(str(file), str(Path(folder) / "log")),
            ],
            env={"PYTHONPATH": f"{PROJECT}/local:{PROJECT}/dags", "TZ": "UTC"},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout)))
