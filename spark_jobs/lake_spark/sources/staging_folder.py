"""The folders of pulled files: taken whole or not at all.

A folder is begun by a marker and finished by the marker's removal; as long as the
marker is there, no stage sees the folder's files. So the removal of one object is
what lands a pull, and the next pull removes what a killed one left.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Dict, List, Optional

from lake_spec.facts.pull_folders import pulled_folders
from lake_spec.layout.hidden_paths import is_hidden
from lake_spark.landing.files import PULLING, unfinished_folders
from lake_spark.storage.object_store import ObjectStore
from lake_spark.tables.table_run import FileRun

PULLED = "_pulled.json"
"""What a finished folder says of itself; all that is left of a pull without rows."""


@dataclass(frozen=True)
class PullFolder:
    """One pull's folder below the landing folder of its table."""

    store: ObjectStore
    uri: str

    def begin(self) -> None:
        """Hide what will be written here."""
        self.store.write(f"{self.uri}/{PULLING}", b"")

    def sweep(self, *, keep_empty: bool) -> None:
        """Leave data alone: no notes of the writer, and no empty files unless asked."""
        for each in self.store.list(f"{self.uri}/"):
            name = each.uri[len(self.uri) + 1 :]
            is_note = name != PULLING and is_hidden(name)
            if is_note or (each.size == 0 and name != PULLING and not keep_empty):
                self.store.delete(each.uri)

    def finish(self, facts: Dict[str, Any]) -> None:
        """Land it."""
        content = json.dumps(facts, indent=1).encode()
        self.store.write(f"{self.uri}/{PULLED}", content)
        self.store.delete(f"{self.uri}/{PULLING}")

    def discard(self) -> None:
        """Remove it, what hides it last."""
        marker = f"{self.uri}/{PULLING}"
        for each in self.store.list(f"{self.uri}/"):
            if each.uri != marker:
                self.store.delete(each.uri)
        self.store.delete(marker)

    def facts(self) -> Optional[Dict[str, Any]]:
        """Return what a finished pull says of itself; None if it is not there."""
        try:
            content = self.store.read(f"{self.uri}/{PULLED}")
        except KeyError:
            return None
        facts: Dict[str, Any] = json.loads(content)
        return facts


def folder_at(run: FileRun, path: str) -> PullFolder:
    """Return the folder at a path below the table's landing folder."""
    return PullFolder(run.store, f"{run.landing}/{path}")


def discard_unfinished(run: FileRun) -> None:
    """Remove what killed pulls of the table left."""
    prefix = f"{run.landing}/"
    found = run.store.list(prefix)
    for uri in unfinished_folders(found, prefix, pulled_folders(run.spec)):
        run.say(f"removed the unfinished pull {uri[len(run.landing) + 1:]}")
        PullFolder(run.store, uri.rstrip("/")).discard()


def pulled_before(run: FileRun, top: str) -> List[str]:
    """Return names of the folders of finished pulls below `top`, in landing or ingested."""
    start = f"{run.landing}/{top}/"
    paths = [each.uri[len(start) :] for each in run.store.list(start)]
    names = {path.split("/")[0] for path in paths if path.endswith(f"/{PULLED}")}
    for path in run.ingested_files().paths:
        first, _, rest = path.partition("/")
        if first == top and "/" in rest:
            names.add(rest.split("/")[0])
    return sorted(names)
