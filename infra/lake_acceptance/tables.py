"""Checks of what the steps left: rows and catalogue."""

from __future__ import annotations

from typing import Any, Dict, List, Set, Tuple

from lake_acceptance import storage
from lake_acceptance.check import Check, CheckFailed
from lake_acceptance.subject import DOMAIN, INCREMENTAL, Subject
from lake_spec.model import ReadableAs

EXPECTED: Dict[str, Tuple[int, int, int]] = {
    "members": (3, 5, 3),
    "readings": (3, 4, 3),
    "visits": (4, 8, 4),
}
"""Rows of current, versions and open versions that the landing files make."""

LAYERS = ("changes", "current", "history")


def rows(subject: Subject) -> str:
    """Compare the figures of the last reports with what the landing files make."""
    found: dict[str, dict[str, int]] = {}
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
    wanted = {name_of(table, layer) for table in EXPECTED for layer in LAYERS}
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


def published(subject: Subject) -> str:
    """Look for the entries of each format, and for the metadata that they lead to."""
    checked = 0
    for kind in ReadableAs:
        database = kind.database_of(DOMAIN)
        there = {each["Name"]: each for each in glue_tables(subject, database)}
        for name in published_names(subject, kind):
            _check_entry(subject, kind, f"{database}.{name}", there.get(name))
            checked += 1
    return f"{checked} entries lead to metadata"


def published_names(subject: Subject, kind: ReadableAs) -> List[str]:
    """Return the names in the catalogue of the tables that a format has."""
    return [
        name_of(table.name, layer)
        for table in subject.domain.tables
        if kind in table.storage.formats
        for layer in LAYERS
    ]


def _check_entry(subject: Subject, kind: ReadableAs, name: str, found: Any) -> None:
    if found is None:
        raise CheckFailed(
            f"Glue lacks {name}.",
            "The role of the step needs glue:CreateTable in that database.",
        )
    if kind is ReadableAs.ICEBERG:
        place = found["Parameters"].get("metadata_location", "")
    else:
        place = f"{found['StorageDescriptor']['Location']}/_delta_log/"
    wrong = []
    if found["Parameters"].get("table_type") != kind.value.upper():
        wrong.append(f"table_type is not {kind.value.upper()}")
    if not _is_there(subject, place):
        wrong.append(f"there is no metadata at {place or 'metadata_location'}")
    if wrong:
        raise CheckFailed(
            f"{name} in Glue: {'; '.join(wrong)}.",
            "Read the log of the step incremental; report it with the run's folder.",
        )


def _is_there(subject: Subject, uri: str) -> bool:
    """Return whether there is an object whose address begins so."""
    folder, _, name = uri.rpartition("/")
    if not folder.startswith("s3://"):
        return False
    keys = storage.keys(subject.client("s3"), folder)
    return any(each.startswith(name) for each in keys)


def name_of(table: str, layer: str) -> str:
    """Return the name of a table's layer in the catalogue."""
    return table if layer == "current" else f"{table}_{layer}"


def _folders(subject: Subject, location: str) -> Set[str]:
    """Return the folders of a table's partitions: Hudi marks each with a file."""
    marker = "/.hoodie_partition_metadata"
    names = storage.keys(subject.client("s3"), location)
    return {
        f"{location}/{name[: -len(marker)]}" for name in names if name.endswith(marker)
    }


def glue_tables(subject: Subject, database: str = DOMAIN) -> List[Dict[str, Any]]:
    """List the tables of a database in Glue; none where there is no database."""
    glue = subject.client("glue")
    pages = glue.get_paginator("get_tables").paginate(DatabaseName=database)
    try:
        return [each for page in pages for each in page["TableList"]]
    except glue.exceptions.EntityNotFoundException:
        return []


CHECKS = (
    Check("rows", "Are the rows right?", rows, ("incremental",)),
    Check("streamer", "Does HoodieStreamer commit rows?", streamer, ("incremental",)),
    Check("catalogue", "Are the tables in Glue?", catalogue, ("incremental",)),
    Check("partitions", "Are their partitions in Glue?", partitions, ("catalogue",)),
    Check(
        "published",
        "Are the tables in Glue as Iceberg and as Delta?",
        published,
        ("catalogue",),
    ),
)
