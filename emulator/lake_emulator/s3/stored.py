"""The objects of a state directory for reading, whether or not the emulator runs."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Iterable

from lake_emulator.s3.blobs import path_of
from lake_emulator.s3.index import end_of


def is_there(folder: Path) -> bool:
    """Return whether a store was ever made in the folder."""
    return (folder / "index.sqlite").is_file()


def objects_under(
    folder: Path, bucket: str, prefixes: Iterable[str]
) -> dict[str, dict[str, str]]:
    """Return the objects below each prefix, all as of one moment.

    Bytes of an object that is deleted or replaced afterwards are removed.

    Args:
        folder: of the store.
        prefixes: of keys; they end with a slash.

    Returns:
        By prefix, and by the rest of the key, the file that has the bytes.
    """
    uri = f"{(folder / 'index.sqlite').resolve().as_uri()}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as index:
        index.execute("begin")
        return {
            prefix: {
                key[len(prefix) :]: str(path_of(folder / "objects", blob))
                for key, blob in index.execute(
                    "select key, blob from objects where bucket=? and key>=? and key<?",
                    (bucket, prefix, end_of(prefix)),
                )
            }
            for prefix in prefixes
        }
