"""A renamed table goes on in the folder of its first name, and the catalogue says so.

Nothing is copied: the folder, the list of erased keys and the state beside them keep the
former name (`TableSpec.stored_as`). The first run under a new name makes that name known
and leaves a pointer at the old one (docs/renaming.md).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lake_spec.layout.glue_names import glue_name, glue_names
from lake_spec.layout.table_folders import table_folder
from lake_spec.state.lease import lease_uri, read_lease
from lake_spec.state.state_format import parse_state, state_text
from lake_spark.errors import FormerDomainBusy, TwoTables
from lake_spark.publish.publication import LAYERS, publish
from lake_spark.tables import catalog
from lake_spark.tables.entry_owner import entries_of, remove_ours
from lake_spark.tables.table_run import TableRun

NOTE = "name.json"
"""Object in the table's folder: which table's it is, as far as it was renamed."""

RENAMED = "lake.renamed_to"
"""Parameter of an entry of the catalogue that is kept for those who look for it."""

_KEPT = (
    *("Name", "Owner", "Retention", "StorageDescriptor", "PartitionKeys"),
    *("ViewOriginalText", "ViewExpandedText", "TableType", "Parameters"),
)
"""What Glue takes of an entry as it gives it."""


def settle(run: TableRun) -> None:
    """Take over the folder of the table's former name, once; nothing for others.

    Raises:
        TwoTables: the new name has rows of its own.
        FormerDomainBusy: a run of the domain that it was moved from may write to it.
    """
    spec, uri = run.spec, f"{run.home}/{NOTE}"
    if spec.formerly is None or _noted(run, uri) == spec.full_name:
        return
    _refuse_two(run)
    _refuse_busy(run)
    if run.dry_run:
        return
    run.check_lease()
    run.say(f"goes on with what is stored as {spec.formerly}, its former name")
    if run.home.startswith("s3://"):
        glue = catalog.glue_client(run.environment.region)
        catalog.register(run)
        publish(run, LAYERS)
        _retire(glue, run)
    text = state_text({"name": spec.full_name}, release=run.report.release)
    run.store.write(uri, text.encode())


def _noted(run: TableRun, uri: str) -> str:
    try:
        content = run.store.read(uri)
    except KeyError:
        return run.spec.stored_as
    what = f"the name of {run.spec.full_name}"
    data = parse_state(content, what=what, where=uri, release=run.report.release)
    return str(data.get("name"))


def _refuse_two(run: TableRun) -> None:
    own = table_folder(run.environment.warehouse, run.spec.full_name)
    if run.store.list(f"{own}/"):
        raise TwoTables(
            f"{run.spec.full_name} has files of its own below {own}/, and is said to be "
            f"{run.spec.formerly}, which is stored below {run.home}/. Only one of them can "
            "go on as this table: remove `formerly` from its spec, or move that folder away "
            "if nothing in it is needed."
        )


def _refuse_busy(run: TableRun) -> None:
    """Refuse while a run of another release may write: it has the other domain's lease."""
    if run.spec.stored_domain == run.spec.domain:
        return
    uri = lease_uri(run.environment.runs, run.spec.stored_domain)
    try:
        holder = read_lease(run.store.read(uri)).holder
    except KeyError:
        return
    if holder is not None:
        raise FormerDomainBusy(
            f"{run.spec.full_name} was moved from {run.spec.stored_domain}, and the run "
            f"{holder} has the lease of that domain: it may still write to the table. Start "
            "this run again when that one has ended."
        )


def _retire(glue: Any, run: TableRun) -> None:
    """Leave a pointer at the old names, and no metadata that nobody brings up to date."""
    spec = run.spec
    database, old = spec.stored_domain, spec.stored_name
    names = [(database, name) for name in glue_names(replace(spec, name=old))]
    for (_, name), found in entries_of(glue, names, run.home):
        there = f"{spec.domain}.{spec.name}{name[len(old) :]}"
        kept = {key: found[key] for key in _KEPT if key in found}
        said = f"Renamed to {there}. {spec.description}"
        parameters = {**kept.get("Parameters", {}), RENAMED: there}
        entry = {**kept, "Description": said, "Parameters": parameters}
        glue.update_table(
            DatabaseName=database, TableInput=entry, VersionId=found["VersionId"]
        )
    published = [
        (kind.database_of(database), glue_name(old, layer))
        for kind in spec.storage.formats
        for layer in LAYERS
    ]
    remove_ours(glue, published, run.home)
