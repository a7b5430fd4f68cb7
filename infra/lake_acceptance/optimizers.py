"""Checks that none of Glue's table optimizers works on a published table.

They compact tables, expire snapshots and delete what they take for orphans: of each table
whose own setting says so, and of every new or updated Iceberg table without one once the
catalogue's says so. https://docs.aws.amazon.com/glue/latest/dg/catalog-level-optimizers.html
"""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, NamedTuple, Set

from lake_acceptance.check import Check, CheckFailed
from lake_acceptance.subject import DOMAIN, Subject
from lake_acceptance.tables import published_names
from lake_spec.model import ReadableAs

OF_CATALOGUE = {
    "compaction": "Compaction",
    "retention": "Retention",
    "orphan_file_deletion": "OrphanFileDeletion",
}
"""Every optimizer, with its name among the settings of a catalogue."""

_DATABASE = ReadableAs.ICEBERG.database_of(DOMAIN)


class Setting(NamedTuple):
    """An optimizer as Glue shows it for a table: by its own setting or the catalogue's."""

    table: str
    kind: str
    is_on: bool
    is_own: bool


def of_tables(subject: Subject) -> str:
    """Look for an optimizer that is on, whoever said so."""
    settings = list(_settings(subject))
    if on := [f"{each.kind} of {each.table}" for each in settings if each.is_on]:
        raise CheckFailed(
            f"Glue's table optimizers are on in {_DATABASE}: {', '.join(on)}.",
            "Disable them: they delete files that Hudi, Delta and the next run need.",
        )
    count = sum(each.is_own for each in settings)
    return f"none is on; {count} are off by settings of tables"


def of_catalogue(subject: Subject) -> str:
    """Look for an optimizer that is on for all tables that do not say otherwise."""
    account, on = _account(subject), on_for_catalogue(subject)
    own = {(each.table, each.kind) for each in _settings(subject) if each.is_own}
    reached = [
        f"{kind} of {table}"
        for table in published_names(subject, ReadableAs.ICEBERG)
        for kind in OF_CATALOGUE
        if kind in on and (table, kind) not in own
    ]
    if reached:
        raise CheckFailed(
            f"the catalogue of {account} has table optimizers on, and these tables of "
            f"{_DATABASE} have no setting of their own: {', '.join(reached)}.",
            "The role of the step needs glue:CreateTableOptimizer in that database; until "
            "then disable them for the catalogue: they delete files of Hudi's.",
        )
    return f"on for the catalogue: {', '.join(sorted(on)) or 'none'}"


def on_for_catalogue(subject: Subject) -> Set[str]:
    """Return the optimizers that the account's catalogue has on for all tables."""
    catalogue = subject.client("glue").get_catalog(CatalogId=_account(subject))
    properties = catalogue["Catalog"].get("CatalogProperties", {})
    said = properties.get("IcebergOptimizationProperties", {})
    return {kind for kind, name in OF_CATALOGUE.items() if _is_on(said.get(name, {}))}


def _settings(subject: Subject) -> Iterator[Setting]:
    """Yield what Glue shows of the optimizers of all published tables."""
    entries = [
        {
            "catalogId": _account(subject),
            "databaseName": _DATABASE,
            "tableName": table,
            "type": kind,
        }
        for table in published_names(subject, ReadableAs.ICEBERG)
        for kind in OF_CATALOGUE
    ]
    answer = subject.client("glue").batch_get_table_optimizer(Entries=entries)
    found: List[Dict[str, Any]] = answer.get("TableOptimizers", [])
    for each in found:
        shown = each["tableOptimizer"]
        is_on = bool(shown.get("configuration", {}).get("enabled"))
        is_own = shown.get("configurationSource") != "catalog"
        yield Setting(each["tableName"], shown["type"], is_on, is_own)


def _is_on(settings: Dict[str, str]) -> bool:
    """Return whether a catalogue's optimizer is on; without a word of it, it is not."""
    return bool(settings) and settings.get("enabled", "true").lower() != "false"


def _account(subject: Subject) -> str:
    return str(subject.client("sts").get_caller_identity()["Account"])


CHECKS = (
    Check(
        "optimizers",
        "Is no optimizer of Glue on for a published table?",
        of_tables,
        ("published",),
    ),
    Check(
        "optimizers-of-catalogue",
        "Do those that are on for the catalogue leave them alone?",
        of_catalogue,
        ("published",),
        only_in_account="the emulator's catalogue has no settings of its own",
    ),
)
