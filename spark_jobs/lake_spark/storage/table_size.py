"""The size of a Hudi table from the names of its files: its newest state, and all stored.

A log file belongs to the base file of its group whose instant is not after its own. What
took the place of a file group (a clustering, a rebuild) is in the timeline alone; its files
stay until they are cleaned.
"""

from __future__ import annotations

from typing import Collection, Dict, Iterable, Tuple

from lake_spec.hudi.file_names import data_file
from lake_spec.state.report import LayerSize
from lake_spark.storage.object_store import StoredObject


def layer_size(
    files: Iterable[StoredObject],
    path: str,
    replaced: Collection[Tuple[str, str]] = (),
) -> LayerSize:
    """Count data files below a table's path; metadata of Hudi and others is left out.

    `replaced` are partition and id of the file groups that are stored and no longer read.
    """
    base: Dict[Tuple[str, str], Tuple[str, int]] = {}
    logs = []
    found = LayerSize()
    for file in files:
        named = data_file(file.uri[len(path) :].lstrip("/"))
        if named is None:
            continue
        found.stored_files += 1
        found.stored_bytes += file.size
        if named.group in replaced:
            continue
        if named.is_log:
            logs.append((named.group, named.instant, file.size))
        elif named.instant > base.get(named.group, ("", 0))[0]:
            base[named.group] = (named.instant, file.size)
    newest = [size for group, at, size in logs if at >= base.get(group, ("", 0))[0]]
    found.log_files = len(newest)
    found.files = len(base) + len(newest)
    found.bytes = sum(size for _, size in base.values()) + sum(newest)
    return found
