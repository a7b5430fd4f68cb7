"""Names of the files of a Hudi table: which group and instant each is of, and which is none.

A base file is `<file group>_<write token>_<instant>.parquet`, a log file
`.<file group>_<instant>.log.<version>_<write token>`. A write token is three numbers, an
instant a time of 14 digits or more. Hudi itself takes whatever stands between underscores
for them: it shows the rows of DuckDB's `duckdb_<uuid>_0.parquet` as older than all commits.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Optional, Tuple

from lake_spec.hudi.layout import METADATA_FOLDER
from lake_spec.layout.published_tables import DELTA_FOLDER, ICEBERG_FOLDER

_BASE = re.compile(r"([^._][^_]*)_\d+-\d+-\d+_(\d{14,})\.parquet")
_LOG = re.compile(r"\.([^._][^_]*)_(\d{14,})\.log\..+")
_OF_FORMATS = (METADATA_FOLDER, DELTA_FOLDER, ICEBERG_FOLDER)
"""Folders of a table that have what readers of it find rows by."""
_PARTITION = ".hoodie_partition_metadata"


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


def is_folder(path: str) -> bool:
    """Return whether an object stands for a folder and has no content.

    S3's console and Hadoop make them, also where the last file of a folder was moved.
    """
    return path.endswith(("/", "_$folder$"))


def is_foreign(path: str) -> bool:
    """Return whether a path below a table's folder is of nothing that is written here."""
    _, _, name = path.rpartition("/")
    return not (
        data_file(path)
        or path.split("/", 1)[0] in _OF_FORMATS
        or name.startswith((_PARTITION, f".{_PARTITION}"))
        or is_folder(path)
        or (name.startswith(".") and name.endswith(".crc"))
    )


def is_taken_for_rows(path: str) -> bool:
    """Return whether Hudi takes a foreign file of that path for one with rows of the table.

    It then shows its rows, or fails by its name.
    """
    return path.endswith(".parquet") and is_foreign(path)
