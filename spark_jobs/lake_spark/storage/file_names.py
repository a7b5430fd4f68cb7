"""Names of the data files of a Hudi table: which group and instant each is of.

A base file is `<file group>_<write token>_<instant>.parquet`, a log file
`.<file group>_<instant>.log.<version>_<write token>`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Optional, Tuple

from lake_spec.hudi.options import METADATA_FOLDER

_BASE = re.compile(r"([^._][^_]*)_[^_]+_(\d+)\.parquet")
_LOG = re.compile(r"\.([^._][^_]*)_(\d+)\.log\..+")


@dataclass(frozen=True)
class DataFile:
    """What the name of a data file says."""

    group: Tuple[str, str]
    """The partition and id of its file group."""
    instant: str
    """The instant of the commit that wrote it."""
    is_log: bool
    """Whether it has changes of a base file, not whole rows of its group."""


def data_file(path: str) -> Optional[DataFile]:
    """Parse the path of a file below the folder of its table.

    Returns:
        None for a file that is of no rows: metadata of Hudi, Iceberg or Delta.
    """
    if path.startswith(f"{METADATA_FOLDER}/"):
        return None
    folder, _, name = path.rpartition("/")
    base = _BASE.fullmatch(name)
    match = base or _LOG.fullmatch(name)
    return match and DataFile((folder, match[1]), match[2], is_log=not base)
