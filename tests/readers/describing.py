"""Descriptions of published tables as readers show them: a program of `.venv-readers`.

    python -m tests.readers.describing PATHS.json ANSWER.json

For each path the answer has, for each reader, the description of the table and those of
its columns; a column without one is left out.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Dict, Sequence

from lake_local.show import published


def main(argv: Sequence[str]) -> None:
    paths = json.loads(Path(argv[0]).read_text(encoding="utf-8"))
    found = {path: of_table(path) for path in paths}
    Path(argv[1]).write_text(json.dumps(found), encoding="utf-8")


def of_table(path: str) -> Dict[str, Any]:
    """Return what pyiceberg and delta-rs show of a table."""
    iceberg, delta = published.iceberg_table(path, None), published.delta_table(
        path, None
    )
    docs = {each.name: each.doc for each in iceberg.schema().fields if each.doc}
    comments = {
        each.name: each.metadata["comment"]
        for each in delta.schema().fields
        if each.metadata
    }
    return {
        "pyiceberg": [iceberg.properties.get("comment"), docs],
        "delta-rs": [delta.metadata().description, comments],
    }


if __name__ == "__main__":
    main(sys.argv[1:])
