"""What earlier runs left to read: every text in it that names a subject is taken out.

Reports, summaries that repeat them, notifications: whatever JSON lies in the folders of the
domain's runs. Counts stay. What a killed run left of a checkpoint of Delta is removed.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Iterator

from lake_spec.layout.dag_kinds import run_folders
from lake_spark.erasure.subjects import Subjects
from lake_spark.erasure.text_match import replaced
from lake_spark.publish.format import SCRATCH
from lake_spark.storage.object_store import ObjectStore
from lake_spark.tables.table_run import FileRun

INSTEAD = "(erased)"
AT_ONCE = 16
"""There are many, and all of them are small."""


def redact(run: FileRun, subjects: Subjects) -> int:
    """Rewrite what names a key, and remove its old versions.

    Return how many were rewritten.

    A killed run may have left old versions of what it rewrote, so all of them go.
    """
    is_named = subjects.in_message()

    def redacted(uri: str) -> bool:
        return _redacted(run.store, uri, is_named)

    found = list(_of_other_runs(run))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        done = sum(pool.map(redacted, (u for u in found if u.endswith(".json"))))
    for uri in found:
        if _is_scratch(run, uri):
            run.store.delete(uri)
    for folder in run_folders(run.environment.runs, run.spec.domain):
        run.store.delete_old_versions(folder)
    return done


def _is_scratch(run: FileRun, uri: str) -> bool:
    """Return whether a file lies in `<dag>/<run>/<stage>/<SCRATCH>/` below the runs."""
    below = uri[len(run.environment.runs) + 1 :].split("/")
    return below[3:4] == [SCRATCH] and len(below) > 4


def _of_other_runs(run: FileRun) -> Iterator[str]:
    """Yield the objects of the domain's runs but for this one, which still writes."""
    own = f"{run.environment.runs}/{run.report.run}/"
    for folder in run_folders(run.environment.runs, run.spec.domain):
        for each in run.store.list(folder):
            if not each.uri.startswith(own):
                yield each.uri


def _redacted(store: ObjectStore, uri: str, is_named: Callable[[str], bool]) -> bool:
    """Return whether an object had to be rewritten; what is not JSON is not ours."""
    try:
        before: Any = json.loads(store.read(uri))
    except (KeyError, ValueError):  # gone since it was listed, or no JSON
        return False
    after = replaced(before, lambda text: INSTEAD if is_named(text) else text)
    if after == before:
        return False
    store.write(uri, json.dumps(after, indent=1).encode())
    return True
