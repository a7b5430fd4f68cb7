"""What a table pulls, from which connections, and into which folders."""

from __future__ import annotations

from typing import Any, Dict, List, Tuple, Union

from lake_spec.connections import DATABASES, KafkaCluster
from lake_spec.pulls import JdbcChanges, JdbcTable, KafkaTopic

Pull = Union[JdbcTable, JdbcChanges, KafkaTopic]

SETTINGS = ("load_from", "changes_from", "pulled_from")
"""The settings of a source that say where its files are pulled from."""

LOAD, CHANGES, EXTRACTS = "load", "changes", "extracts"
"""Folders below the table's landing folder that pulls write into."""

MOMENT = "%Y-%m-%dT%H-%M-%S"
"""How pulls write a time, which is UTC, in the names of folders."""

KINDS: Dict[type, Tuple[type, ...]] = {
    JdbcTable: DATABASES,
    JdbcChanges: DATABASES,
    KafkaTopic: (KafkaCluster,),
}
"""What connections a pull can use."""


def pulls_of(table: Any) -> List[Tuple[str, Pull]]:
    """The pulls of a table, each with the setting of its source that asks for it."""
    found = [(name, getattr(table.source, name, None)) for name in SETTINGS]
    return [(name, pull) for name, pull in found if pull is not None]
