"""Results of checks as rows: `<runs>/checks/<domain>/<table>.json`, one JSON a line.

A commit carries its own results, so that a run that was killed right after it loses none:
the next one adds them. The rows of a run are there once, however often it was tried.
Each row is an object of state with a format of its own.
"""

from __future__ import annotations

import json
from itertools import islice
from typing import Any, Dict, List, Optional, Sequence, Tuple

from lake_spec.layout.run_files import checks_file
from lake_spec.model import Check
from lake_spec.state.state_format import (
    FORMAT,
    UnreadableState,
    WRITTEN_BY,
    parse_state,
)
from lake_spark.storage.object_store import ObjectStore

MOST_RUNS = 400
"""Number of runs whose results are kept: of daily ones more than a year."""

Row = Dict[str, Any]

_NEEDED = ("at", "run", "layer", "check", "result", "value", "commit")
"""Fields of a row without which it cannot be compared."""


def uri_of(runs: str, table: str) -> str:
    """Return the address of the results of a table, `domain.table`."""
    return f"{runs}/{checks_file(table)}"


class Results:
    """The results of the checks of one table, oldest first.

    Rows that cannot be read are left out: no load depends on them, and `set_aside` keeps
    them.
    """

    def __init__(self, store: ObjectStore, uri: str, release: str = "") -> None:
        self._store, self._uri, self._release = store, uri, release
        self._rows: List[Row] = []
        self._unreadable: List[str] = []
        try:
            self._content = store.read(uri)
        except KeyError:
            self._content = b""
        for number, line in enumerate(self._content.splitlines(), 1):
            try:
                self._rows.append(_parsed(line, f"{uri}, line {number}", release))
            except UnreadableState as error:
                self._unreadable.append(str(error))

    def set_aside(self) -> Optional[str]:
        """Copy a file with unreadable rows, and keep the other rows in its place.

        Returns:
            What is wrong with the first of them and where the copy is; None if all rows
            were read.
        """
        if not self._unreadable:
            return None
        folder, _, name = self._uri.rpartition("/")
        copy = f"{folder}/_{name}.unreadable"
        self._store.write(copy, self._content)
        words = (
            f"{len(self._unreadable)} row(s) of results were set aside. {copy} has the "
            f"whole file. The first one: {self._unreadable[0]}"
        )
        self._unreadable = []
        self._write()
        return words

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
        head = {FORMAT: 1, WRITTEN_BY: self._release}
        kept = [row for row in self._rows if _id(row) not in ids]
        kept += [{**head, **row} for row in rows]
        runs = dict.fromkeys(row["run"] for row in reversed(kept))
        newest = set(islice(runs, MOST_RUNS))
        self._rows = [row for row in kept if row["run"] in newest]
        self._write()

    def _write(self) -> None:
        text = "".join(f"{json.dumps(row)}\n" for row in self._rows)
        self._store.write(self._uri, text.encode())


def _parsed(line: bytes, where: str, release: str) -> Row:
    """Parse a row. Raises UnreadableState for what is none, or of a newer format."""
    what = "a result of a check"
    row = parse_state(line, what=what, where=where, release=release)
    lacking = [name for name in _NEEDED if name not in row]
    if lacking:
        raise UnreadableState(
            f"{what} cannot be read: it has no {', '.join(lacking)}. Location: {where}. "
            "Restore an older version of the object."
        )
    return row


def _id(row: Row) -> Tuple[str, str, str]:
    return row["run"], row["layer"], row["check"]
