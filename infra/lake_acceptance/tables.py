"""Checks of what the steps left: rows, catalogue and queries."""

from __future__ import annotations

import time
from typing import Any, Dict, List, Set, Tuple

from lake_acceptance import storage
from lake_acceptance.check import Check, CheckFailed
from lake_acceptance.subject import DOMAIN, INCREMENTAL, Subject

EXPECTED: Dict[str, Tuple[int, int, int]] = {
    "members": (3, 5, 3),
    "readings": (3, 4, 3),
    "visits": (4, 8, 4),
}
"""Rows of current, versions and open versions that the landing files make."""

LAYERS = ("changes", "current", "history")
_PARTITIONED = "visits"
_QUERY_SECONDS = 120


def rows(subject: Subject) -> str:
    """Compare the figures of the last reports with what the landing files make."""
    found = {}
    for report in subject.reports:
        if report["run"].startswith(f"{INCREMENTAL}/"):
            table = found.setdefault(report["table"], {})
            names = ("current_rows", "versions", "versions_open")
            table.update({n: report[n] for n in names if report[n] is not None})
    figures = {table: tuple(each.values()) for table, each in sorted(found.items())}
    if figures != EXPECTED:
        raise CheckFailed(
            f"current rows, versions, open versions are {figures}, not {EXPECTED}.",
            "Report this with the run's folder: the contract of the data is broken.",
        )
    return f"{len(figures)} tables have the rows that their files make"


def streamer(subject: Subject) -> str:
    """Look for rows that HoodieStreamer committed."""
    found = [
        each["accepted"]
        for each in subject.reports
        if each["engine"] == "streamer" and each["accepted"]
    ]
    if len(found) < 2:
        raise CheckFailed(
            f"HoodieStreamer committed rows in {len(found)} of 2 runs.",
            "Use engine: pyspark until its step log is understood.",
        )
    return f"{sum(found)} rows in {len(found)} commits"


def catalogue(subject: Subject) -> str:
    """Look for each layer of each table in Glue, at its place."""
    there = {each["Name"]: each for each in glue_tables(subject)}
    root = f"{subject.environment.warehouse}/{DOMAIN}"
    wanted = {
        f"{table}_{layer}" if layer != "current" else table
        for table in EXPECTED
        for layer in LAYERS
    }
    lacking = sorted(wanted - set(there))
    if lacking:
        raise CheckFailed(
            f"the database {DOMAIN} lacks {', '.join(lacking)}; it has "
            f"{', '.join(sorted(there)) or 'nothing'}.",
            "The role of the step needs glue:CreateTable and glue:UpdateTable.",
        )
    astray = [
        name
        for name, each in there.items()
        if not each["StorageDescriptor"]["Location"].startswith(root)
    ]
    if astray:
        raise CheckFailed(f"not below {root}: {', '.join(astray)}.", "Drop them.")
    return f"{len(there)} tables below {root}"


def partitions(subject: Subject) -> str:
    """Compare the partitions that Glue has with the folders that hold rows."""
    glue, checked = subject.client("glue"), 0
    for table in glue_tables(subject):
        if not table.get("PartitionKeys"):
            continue
        location = table["StorageDescriptor"]["Location"].rstrip("/")
        pages = glue.get_paginator("get_partitions").paginate(
            DatabaseName=DOMAIN, TableName=table["Name"]
        )
        known = {
            each["StorageDescriptor"]["Location"].rstrip("/")
            for page in pages
            for each in page["Partitions"]
        }
        folders = _folders(subject, location)
        if known != folders:
            raise CheckFailed(
                f"{table['Name']}: Glue has {len(known)} partitions, S3 has "
                f"{len(folders)} folders: "
                f"{', '.join(sorted(known ^ folders)[:5])} differ.",
                "The role of the step needs glue:BatchCreatePartition, "
                "glue:BatchDeletePartition and glue:GetPartitions.",
            )
        checked += len(known)
    if not checked:
        raise CheckFailed(
            f"no table of {DOMAIN} has partition keys in Glue.",
            "Deploy a release that registers partitions.",
        )
    return f"{checked} partitions are the folders that hold rows"


def _folders(subject: Subject, location: str) -> Set[str]:
    """Return the folders of a table's partitions: Hudi marks each with a file."""
    marker = "/.hoodie_partition_metadata"
    names = storage.keys(subject.client("s3"), location)
    return {
        f"{location}/{name[: -len(marker)]}" for name in names if name.endswith(marker)
    }


def glue_tables(subject: Subject) -> List[Dict[str, Any]]:
    """List the tables of the domain in Glue."""
    pages = (
        subject.client("glue").get_paginator("get_tables").paginate(DatabaseName=DOMAIN)
    )
    return [each for page in pages for each in page["TableList"]]


def athena(subject: Subject) -> str:
    """Count the rows of each table of Glue by a query of Athena."""
    counts = {
        table["Name"]: _count(subject, table["Name"]) for table in glue_tables(subject)
    }
    return ", ".join(f"{name} {count}" for name, count in counts.items())


def _count(subject: Subject, table: str) -> int:
    client = subject.client("athena")
    started = client.start_query_execution(
        QueryString=f'SELECT count(*) FROM "{DOMAIN}"."{table}"',
        ResultConfiguration={"OutputLocation": f"{subject.environment.runs}/athena/"},
    )
    query, limit = started["QueryExecutionId"], time.monotonic() + _QUERY_SECONDS
    while True:
        found = client.get_query_execution(QueryExecutionId=query)["QueryExecution"]
        state = found["Status"]["State"]
        if state == "SUCCEEDED":
            rows = client.get_query_results(QueryExecutionId=query)["ResultSet"]["Rows"]
            return int(rows[1]["Data"][0]["VarCharValue"])
        if state in ("FAILED", "CANCELLED") or time.monotonic() > limit:
            reason = found["Status"].get("StateChangeReason", "no reason was given")
            raise CheckFailed(
                f"{table}: {state}: {reason}.",
                "Athena reads tables of Hudi 0.14 at most: see what reads our tables in "
                "docs/acceptance.md.",
            )
        time.sleep(1)


CHECKS = (
    Check("rows", "Are the rows right?", rows, ("incremental",)),
    Check("streamer", "Does HoodieStreamer commit rows?", streamer, ("incremental",)),
    Check("catalogue", "Are the tables in Glue?", catalogue, ("incremental",)),
    Check("partitions", "Are their partitions in Glue?", partitions, ("catalogue",)),
    Check(
        "athena",
        "Can Athena query each layer?",
        athena,
        ("partitions",),
        only_in_account="the emulator has no Athena",
    ),
)
