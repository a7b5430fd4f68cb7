"""Checks that Athena reads the rows of each table: their values, not how many there are.

A reader that takes columns for others, or none at all, counts as many rows.
"""

from __future__ import annotations

import time
from typing import Any, Dict, Iterator, List, NamedTuple, Sequence, Tuple

from lake_acceptance.check import Check, CheckFailed
from lake_acceptance.subject import DOMAIN, Subject
from lake_acceptance.tables import name_of
from lake_spec.hudi.options import OLDER_TABLE_VERSION
from lake_spec.model import ReadableAs

Row = Tuple[str, ...]


class Rows(NamedTuple):
    """What the landing files make of a table: its columns as texts, and the rows."""

    columns: Tuple[str, ...]
    current: Tuple[Row, ...]
    history: Tuple[Row, ...]


ROWS: Dict[str, Rows] = {
    "members": Rows(
        ("member_id", "name"),
        (("1", "Ada"), ("2", "Grace Hopper"), ("4", "Barbara")),
        (
            ("1", "Ada"),
            ("2", "Grace"),
            ("2", "Grace Hopper"),
            ("3", "Edsger"),
            ("4", "Barbara"),
        ),
    ),
    "visits": Rows(
        ("visit_id", "site", "fee", "date_format(updated_at, '%Y-%m-%d')"),
        (
            ("1", "harbour", "11.00", "2026-01-03"),
            ("2", "museum", "12.50", "2026-01-02"),
            ("3", "museum", "7.25", "2026-01-01"),
            ("5", "museum", "3.00", "2026-01-02"),
        ),
        (
            ("1", "harbour", "10.00", "2026-01-01"),
            ("1", "harbour", "10.50", "2026-01-02"),
            ("1", "harbour", "11.00", "2026-01-03"),
            ("2", "harbour", "12.50", "2026-01-01"),
            ("2", "museum", "12.50", "2026-01-02"),
            ("3", "museum", "7.25", "2026-01-01"),
            ("4", "tower", "9.99", "2026-01-01"),
            ("5", "museum", "3.00", "2026-01-02"),
        ),
    ),
}

PARTITION = "museum"
"""The site that a query asks for by its partition."""

_QUERY_SECONDS = 120
_NO_ATHENA = "the emulator has no Athena"


def of_hudi(subject: Subject) -> str:
    """Read tables of Hudi's older version by queries of Athena."""
    version = OLDER_TABLE_VERSION
    tables = [
        t.name for t in subject.domain.tables if t.storage.table_version == version
    ]
    return _compared(subject, DOMAIN, tables)


def of_iceberg(subject: Subject) -> str:
    """Read tables that are published as Iceberg by queries of Athena."""
    return _compared_as(subject, ReadableAs.ICEBERG)


def of_delta(subject: Subject) -> str:
    """Read tables that are published as Delta by queries of Athena."""
    return _compared_as(subject, ReadableAs.DELTA)


def _compared_as(subject: Subject, kind: ReadableAs) -> str:
    tables = [t.name for t in subject.domain.tables if kind in t.storage.formats]
    return _compared(subject, kind.database_of(DOMAIN), tables)


def _compared(subject: Subject, database: str, tables: Sequence[str]) -> str:
    """Compare all rows of current and history with what the landing files make."""
    checked = []
    for name, query, wanted in _queries(database, tables):
        found = sorted(_rows(subject, name, query))
        if found != sorted(wanted):
            lacking = sorted({*wanted} - {*found})
            strange = sorted({*found} - {*wanted})
            raise CheckFailed(
                f"Athena reads {len(found)} rows of {name}, not the {len(wanted)} of its "
                f"files; it lacks {lacking[:3]} and has {strange[:3]}.",
                "Compare with the report of the last run; do not use this reader until "
                "then.",
            )
        checked.append(f"{name} {len(found)}")
    return ", ".join(checked)


def _queries(
    database: str, tables: Sequence[str]
) -> Iterator[Tuple[str, str, Sequence[Row]]]:
    """Yield a name, a query and the rows that it must give."""
    for table in tables:
        rows = ROWS[table]
        chosen = ", ".join(f"CAST({column} AS varchar)" for column in rows.columns)
        for layer, wanted in (("current", rows.current), ("history", rows.history)):
            name = f"{database}.{name_of(table, layer)}"
            query = f'SELECT {chosen} FROM "{database}"."{name_of(table, layer)}"'
            yield name, query, wanted
            if "site" in rows.columns:
                site = rows.columns.index("site")
                of_one = [row for row in wanted if row[site] == PARTITION]
                where = f"site = '{PARTITION}'"
                yield f"{name} where {where}", f"{query} WHERE {where}", of_one


def _rows(subject: Subject, name: str, query: str) -> List[Row]:
    client = subject.client("athena")
    started = client.start_query_execution(
        QueryString=query,
        ResultConfiguration={"OutputLocation": f"{subject.environment.runs}/athena/"},
    )
    id, limit = started["QueryExecutionId"], time.monotonic() + _QUERY_SECONDS
    while True:
        found = client.get_query_execution(QueryExecutionId=id)["QueryExecution"]
        state = found["Status"]["State"]
        if state == "SUCCEEDED":
            result = client.get_query_results(QueryExecutionId=id)["ResultSet"]
            return [_texts(row) for row in result["Rows"][1:]]  # behind the names
        if state in ("FAILED", "CANCELLED") or time.monotonic() > limit:
            reason = found["Status"].get("StateChangeReason", "no reason was given")
            raise CheckFailed(
                f"{name}: {state}: {reason}.",
                "See what Athena reads in docs/readers.md; its workgroup must have "
                "engine version 3.",
            )
        time.sleep(1)


def _texts(row: Dict[str, List[Dict[str, Any]]]) -> Row:
    """Return the values of a row; one that is null has no text."""
    return tuple(each.get("VarCharValue", "null") for each in row["Data"])


CHECKS = tuple(
    Check(name, question, answer, needs, only_in_account=_NO_ATHENA)
    for name, question, answer, needs in (
        ("athena", "Does Athena read Hudi's rows?", of_hudi, ("partitions",)),
        ("athena-iceberg", "Does Athena read Iceberg's?", of_iceberg, ("published",)),
        ("athena-delta", "Does Athena read Delta's?", of_delta, ("published",)),
    )
)
