"""The pulls of a table: their connections and folders."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any, Dict, List, Tuple, Type, Union

from lake_spec.model.connections import Connection, DATABASES, KafkaCluster
from lake_spec.model.pulls import JdbcChanges, JdbcTable, KafkaTopic

Pull = Union[JdbcTable, JdbcChanges, KafkaTopic]

SETTINGS = ("load_from", "changes_from", "pulled_from")
"""Settings of a source that name where its files are pulled from."""

LOAD, CHANGES, SNAPSHOTS = "load", "changes", "snapshots"
"""Folders below the table's landing folder that pulls write to."""

PULLS = ("incremental", "prepare_incremental")
"""Stages that pull changes."""
FOLDERS = (LOAD, CHANGES, SNAPSHOTS)

TIMESTAMP = "%Y-%m-%dT%H-%M-%S"
"""Format of times in the names of folders, in UTC."""

KINDS: Dict[type, Tuple[Type[Connection], ...]] = {
    JdbcTable: DATABASES,
    JdbcChanges: DATABASES,
    KafkaTopic: (KafkaCluster,),
}
"""Kinds of connections, by kind of pull."""


PULL_FROM = re.compile(
    r"start|-?\d{1,38}(\.\d{1,38})?|\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}:\d{2}(\.\d{1,6})?)?"
)
"""Values of `pull_from`: a number, a time, or all rows."""


def is_pull_from(text: str) -> bool:
    """Return whether a text is a valid start for pulls by a cursor."""
    if not PULL_FROM.fullmatch(text):
        return False
    if not re.match(r"\d{4}-\d{2}-", text):
        return True
    try:
        datetime.strptime(text[:10], "%Y-%m-%d")
        if len(text) > 10:
            datetime.strptime(text[11:19], "%H:%M:%S")
    except ValueError:
        return False
    return True


def pulled_folders(table: Any) -> Tuple[str, ...]:
    """List the folders that a table's pulls write to, below its landing folder."""
    return FOLDERS if pulls_of(table) else ()


def pulls_of(table: Any) -> List[Tuple[str, Pull]]:
    """List the pulls of a table, each with the setting of its source."""
    found = [(name, getattr(table.source, name, None)) for name in SETTINGS]
    return [(name, pull) for name, pull in found if pull is not None]
