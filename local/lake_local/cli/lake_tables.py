"""The tables of a lake by the names that queries have for them, with the files of each.

They are the names of the catalogue: `moma.artists`, `moma.artists_history` and
`moma.artists_changes`; `moma.artists_quarantine` is named alike.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from lake_spec.hudi.layout import METADATA_TABLE_FOLDER
from lake_spec.layout.glue_names import QUARANTINE, glue_name
from lake_spec.layout.table_folders import layer_folder
from lake_spec.model import DimensionTable, DomainSpec, ProductTable, TableSpec

from lake_emulator.s3 import stored
from lake_local.errors import BadRequest
from lake_local.show.request import Layer
from lake_local.workspace.command_line import typed
from lake_local.workspace.specs import Specs
from lake_local.workspace.state_dir import StateDirectory


@dataclass(frozen=True)
class LakeTable:
    """A layer of a table, as queries name it."""

    spec: TableSpec
    layer: Layer
    folder: str

    @property
    def no_rows(self) -> str:
        """Return in words that nothing was loaded, with what to do."""
        return no_rows(self.spec.full_name, self.layer)


def no_rows(table: str, layer: Layer) -> str:
    """Return in words that a layer was never written, with what to do."""
    if layer is Layer.QUARANTINE:
        return f"{table} has no quarantined rows"
    return (
        f"{table} has no {layer.value} yet. Land files (./run_locally.sh put) and"
        f" load them: ./run_locally.sh run {table.split('.')[0]}_full_load"
    )


def layers_of(table: TableSpec) -> tuple[Layer, ...]:
    """Return the layers that a table of its kind has."""
    if isinstance(table, DimensionTable):
        return (Layer.CURRENT, Layer.HISTORY)
    return (Layer.CURRENT,) if isinstance(table, ProductTable) else tuple(Layer)


def named(domains: Iterable[DomainSpec], warehouse: str) -> dict[str, LakeTable]:
    """Return every layer of the tables of these domains, by its name."""
    found = {}
    for table in (each for domain in domains for each in domain.tables):
        for layer in layers_of(table):
            folder = layer_folder(warehouse, table.stored_as, layer.value)
            found[name_of(table.full_name, layer)] = LakeTable(table, layer, folder)
    return found


def name_of(table: str, layer: Layer) -> str:
    """Return the name of a layer of `domain.table`, as queries and the catalogue have it."""
    if layer is Layer.QUARANTINE:
        return table + QUARANTINE
    return glue_name(table, layer.value)


def require_lake(home: StateDirectory) -> None:
    """Raise BadRequest unless tables were ever loaded into the state directory."""
    if not stored.is_there(home.root / "s3"):
        raise BadRequest(
            f"there is no lake in {home.root} yet. Make one with the example's tables:"
            f" {typed('demo', home=home)}, or load your own: ./run_locally.sh onboard --help"
        )


def files_of(home: StateDirectory, folders: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return the files of layers, all as of one moment.

    Args:
        folders: of the layers, as `s3://` addresses in one bucket.

    Returns:
        By folder, and by the path below it, where the bytes of a file lie. Hudi's own
        indexes are left out.
    """
    prefixes = {}
    bucket = ""
    for each in folders:
        bucket, _, key = each.removeprefix("s3://").partition("/")
        prefixes[f"{key}/"] = each
    found = stored.objects_under(home.root / "s3", bucket, prefixes)
    return {
        prefixes[prefix]: {
            path: place
            for path, place in files.items()
            if not path.startswith(f"{METADATA_TABLE_FOLDER}/")
        }
        for prefix, files in found.items()
    }


def mentioned(specs: Specs, sql: str) -> list[DomainSpec]:
    """Return the domains that a query may mean; all where it mentions none."""
    names = specs.domain_names()
    lower = sql.lower()
    chosen = [each for each in names if each.lower() in lower]
    return [specs.domain(each) for each in chosen or names]
