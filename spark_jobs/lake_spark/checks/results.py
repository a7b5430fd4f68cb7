"""Results of checks as rows: `<runs>/checks/<domain>/<table>.json`, one JSON a line.

A commit carries its own results, so that a run that was killed right after it loses none:
the next one adds them. The rows of a run are there once, however often it was tried.
"""

from __future__ import annotations

import json
from itertools import islice
from typing import Any, Dict, List, Optional, Sequence

from lake_spec.model import Check
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

    def newest(self, layer: str, check: Check) -> Optional[Row]:
        """Return the newest result of a check; None if it never had one."""
        return next(reversed(self._of(layer, check)), None)

    def earlier(self, layer: str, check: Check, run: str) -> List[float]:
        """Return the numbers of a check in the commits of other runs, oldest first."""
        return [
            row["value"]
            for row in self._of(layer, check)
            if row["run"] != run
            and row["commit"] is not None
            and row["value"] is not None
        ]

    def _of(self, layer: str, check: Check) -> List[Row]:
        """Return the results of a check, but those of another one that had its name."""
        name, measured = check.title, check.subject
        return [
            row
            for row in self._rows
            if (row["layer"], row["check"]) == (layer, name)
            and row.get("subject", measured) == measured
        ]

    def has(self, layer: str, commit: str) -> bool:
        """Return whether the results of a commit are there."""
        return any(
            row["layer"] == layer and row["commit"] == commit for row in self._rows
        )

    def add_of_commit(self, rows: Sequence[Row], commit: str) -> None:
        """Add the results that a commit carries, but those that its run replaced since."""
        since = {_id(row): row["at"] for row in self._rows}
        own = [row for row in rows if since.get(_id(row), "") <= row["at"]]
        if own and not self.has(rows[0]["layer"], commit):
            self.put([{**row, "commit": commit} for row in own])

    def put(self, rows: Sequence[Row]) -> None:
        """Add rows, in the place of those that their runs had of the same checks."""
        ids = {_id(row) for row in rows}
        kept = [row for row in self._rows if _id(row) not in ids] + list(rows)
        runs = dict.fromkeys(row["run"] for row in reversed(kept))
        newest = set(islice(runs, MOST_RUNS))
        self._rows = [row for row in kept if row["run"] in newest]
        text = "".join(f"{json.dumps(row)}\n" for row in self._rows)
        self._store.write(self._uri, text.encode())


def _id(row: Row) -> tuple:
    return row["run"], row["layer"], row["check"]
