"""Decides which words of runs may be shown: never values of personal columns.

A step leaves values out of the report of a guarded table, and the report says so: its
words are shown as they are. Those of a report that says nothing may quote a value: an
older release wrote it, or the table was not marked then. They are cut to what names table,
stage and id; so are causes that name no table, which are words of EMR.
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

Reports = Mapping[str, Mapping[str, Mapping[str, Any]]]


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

    def may_quote(self, table: str, report: Mapping[str, Any]) -> bool:
        """Return whether a report may have values that pages do not show."""
        return self.is_guarded(table) and not report.get("guarded")

    def words(self, table: str, text: str, report: Mapping[str, Any]) -> str:
        """Return a message of a table's report, or what of it may be shown."""
        return _cut(text, 1) if self.may_quote(table, report) else text

    def cause(self, text: str, tables: Reports) -> str:
        """Return a cause or warning of a summary: `<domain>.<table> <stage>: <words>`.

        `tables` are the reports of its run, by table and stage.
        """
        name = text.partition(":")[0].split(" ")[0].rstrip(",")
        if name in self._tables:
            of_table = tables.get(name.partition(".")[2], {}).values()
            is_cut = any(self.may_quote(name, each) for each in of_table or [{}])
        else:
            is_cut = any(map(self.is_guarded, self._tables))
        return _cut(text, 2) if is_cut else text

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
                "reason": self._reason(table, str(sample.get("reason", "")), report),
                "values": [
                    (str(name), str(value))
                    for name, value in _row(sample.get("row")).items()
                    if self.may_show(table, str(name))
                ],
            }
            for sample in report.get("samples") or ()
        ]

    def _reason(self, table: TableSpec, text: str, report: Mapping[str, Any]) -> str:
        """Return why a row is bad: words of the spec, which have no value of the row."""
        known = {f"quality: {rule.broken}" for rule in table.quality}
        if text in known or _NO_VALUE.fullmatch(text):
            return text
        return REASON_CUT if self.may_quote(table.full_name, report) else text


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
