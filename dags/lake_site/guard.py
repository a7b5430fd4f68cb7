"""Decides which words of runs may be shown: never values of personal columns.

Messages of errors and warnings may quote a value. Those of a table with a personal column
are cut to what names table, stage and id; so are those of the steps of its domain, and
those of products that read such a table or one that is not known: what SQL makes of a
value on the way is not known.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Optional

from lake_spec.lineage.sensitivity import ColumnSensitivity, Mark
from lake_spec.model import DomainSpec, TableSpec

CUT = "(the message is in the run's log)"
REASON_CUT = "(the reason is in the column lake_reason of the quarantine)"
_NO_VALUE = re.compile(r"(key|order|scope) column \w+ has no value|no effective time")


class Guard:
    """Knows the personal columns of a domain, also those whose values come from others."""

    def __init__(
        self, domain: DomainSpec, known: Optional[ColumnSensitivity] = None
    ) -> None:
        self._columns = known or ColumnSensitivity(domain.tables)
        self._tables = {table.full_name for table in domain.tables}

    def mark(self, table: str, column: str) -> Mark:
        """Return the sensitivity of a column, and where it comes from."""
        return self._columns.mark(table, column)

    def personal(self, table: str) -> list[str]:
        """List the personal columns of a table, also those whose values come from one."""
        return list(self._columns.personal(table))

    def is_guarded(self, table: str) -> bool:
        """Return whether the table of this full name may show a personal value."""
        return self._columns.is_guarded(table)

    def may_show(self, table: TableSpec, column: str) -> bool:
        """Return whether values of a column may be shown."""
        return self._columns.may_show(table, column)

    def words(self, table: str, text: str) -> str:
        """Return a message of a table's report, or what of it may be shown."""
        return _cut(text, 1) if self.is_guarded(table) else text

    def cause(self, text: str) -> str:
        """Return a cause or warning of a summary: `<domain>.<table> <stage>: <words>`."""
        name = text.partition(":")[0].split(" ")[0].rstrip(",")
        if name in self._tables:
            guarded = self.is_guarded(name)
        else:
            guarded = any(map(self.is_guarded, self._tables))
        return _cut(text, 2) if guarded else text

    def samples(
        self, table: TableSpec, report: Mapping[str, Any]
    ) -> list[dict[str, Any]]:
        """Return the bad rows that a report shows: path, record, reason, values.

        In a table with personal columns values are those of declared columns that are
        neither personal nor part of the key.
        """
        return [
            {
                "path": str(sample.get("path", "")),
                "record": sample.get("record"),
                "reason": self._reason(table, str(sample.get("reason", ""))),
                "values": [
                    (str(name), str(value))
                    for name, value in _row(sample.get("row")).items()
                    if self.may_show(table, str(name))
                ],
            }
            for sample in report.get("samples") or ()
        ]

    def _reason(self, table: TableSpec, text: str) -> str:
        """Return why a row is bad: words of the spec, which have no value of the row."""
        known = {f"quality: {rule.broken}" for rule in table.quality}
        if text in known or _NO_VALUE.fullmatch(text):
            return text
        return REASON_CUT if self.is_guarded(table.full_name) else text


def _cut(text: str, parts: int) -> str:
    """Keep the first parts of `a: b: c`."""
    kept = text.split(": ")[:parts]
    return f"{': '.join(kept)} {CUT}" if len(kept) < len(text.split(": ")) else text


def _row(text: Any) -> Mapping[str, Any]:
    """Parse the values of a bad row; none if an erase took them."""
    try:
        found = json.loads(text or "{}")
    except (TypeError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
