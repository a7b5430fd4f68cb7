"""Results of checks as rows: `<runs>/checks/<domain>/<table>.json`, one JSON a line.

A commit carries its own results, so that a run that was killed right after it loses none:
the next one adds them. The rows of a run are there once, however often it was tried.
"""

from __future__ import annotations

import json
from typing import Any, Dict, List, Optional, Sequence

from lake_spark.storage.object_store import ObjectStore

MOST_RUNS = 400
"""Number of runs whose results are kept: of daily ones more than a year."""

Row = Dict[str, Any]


def uri_of(runs: str, domain: str, table: str) -> str:
    """Return the address of the results of a table."""
    return f"{runs}/checks/{domain}/{table}.json"


class Results:
    """The results of the checks of one table, oldest first."""

    def __init__(self, store: ObjectStore, uri: str) -> None:
        self._store, self._uri = store, uri
        try:
            lines = store.read(uri).decode().splitlines()
        except KeyError:
            lines = []
        self._rows: List[Row] = [json.loads(line) for line in lines]

    def newest(self, layer: str, check: str) -> Optional[Row]:
        """Return the newest result of a check; None if it never had one."""
        found = (
            row
            for row in reversed(self._rows)
            if row["layer"] == layer and row["check"] == check
        )
        return next(found, None)

    def earlier(self, layer: str, check: str, run: str) -> List[float]:
        """Return the numbers of a check in the commits of other runs, oldest first."""
        return [
            row["value"]
            for row in self._rows
            if (row["layer"], row["check"]) == (layer, check)
            and row["run"] != run
            and row["commit"] is not None
            and row["value"] is not None
        ]

    def has(self, layer: str, commit: str) -> bool:
        """Return whether the results of a commit are there."""
        return any(
            row["layer"] == layer and row["commit"] == commit for row in self._rows
        )

    def put(self, rows: Sequence[Row]) -> None:
        """Add rows, in the place of those that their runs had of the same checks."""
        ids = {_id(row) for row in rows}
        kept = [row for row in self._rows if _id(row) not in ids] + list(rows)
        newest = list(dict.fromkeys(row["run"] for row in reversed(kept)))[:MOST_RUNS]
        self._rows = [row for row in kept if row["run"] in set(newest)]
        text = "".join(f"{json.dumps(row)}\n" for row in self._rows)
        self._store.write(self._uri, text.encode())


def _id(row: Row) -> tuple:
    return row["run"], row["layer"], row["check"]
