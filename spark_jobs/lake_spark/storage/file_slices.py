"""The size of a Hudi table from the names of its files: its newest state, and all stored.

A base file is `<file group>_<write token>_<instant>.parquet`, a log file
`.<file group>_<instant>.log.<version>_<write token>`. A log file belongs to the base file
of its group whose instant is not after its own. What took the place of a file group (a
clustering, a rebuild) is in the timeline alone; its files stay until they are cleaned.
"""

from __future__ import annotations

import re
from typing import Collection, Dict, Iterable, Tuple

from lake_spec.contract.report import LayerSize
from lake_spark.storage.object_store import StoredObject

_BASE = re.compile(r"([^._][^_]*)_[^_]+_(\d{17})\.parquet")
_LOG = re.compile(r"\.([^._][^_]*)_(\d{17})\.log\.\d+_[^._]+")


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
        folder, _, name = file.uri[len(path) :].lstrip("/").rpartition("/")
        is_base = _BASE.fullmatch(name)
        match = is_base or _LOG.fullmatch(name)
        if match is None or folder.startswith("."):
            continue
        found.stored_files += 1
        found.stored_bytes += file.size
        group, instant = (folder, match[1]), match[2]
        if group in replaced:
            continue
        if not is_base:
            logs.append((group, instant, file.size))
        elif instant > base.get(group, ("", 0))[0]:
            base[group] = (instant, file.size)
    newest = [size for group, at, size in logs if at >= base.get(group, ("", 0))[0]]
    found.log_files = len(newest)
    found.files = len(base) + len(newest)
    found.bytes = sum(size for _, size in base.values()) + sum(newest)
    return found
