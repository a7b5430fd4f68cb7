"""Landing files: which there are, what they are called, where they stand."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from os.path import commonprefix
from typing import List, Optional, Sequence, Tuple

from lake_spec.globs import glob_pattern
from lake_spec.model import Scope
from lake_spark.errors import BadFile
from lake_spark.object_store import ObjectStore, StoredObject

PULLING = "_pulling"
"""What hides the folder that it lies in: its files are still being pulled."""

_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True)
class LandingFile:
    """One file below a table's landing folder; it is (path, ETag)."""

    path: str
    etag: str
    uri: str
    size: int
    landed_at: datetime
    extract_at: Optional[datetime] = None
    scopes: Tuple[str, ...] = ()
    """The scope values that its extract covers, as text, once they are known."""

    @property
    def position(self) -> str:
        """The path with its digits comparable as text: cdc-9 before cdc-10."""
        return position_of(self.path)


def position_of(path: str) -> str:
    """The sort key of a path: every number led by its count of digits."""

    def comparable(digits: "re.Match[str]") -> str:
        number = digits.group().lstrip("0")
        return f"{len(number):03d}{number}"

    # The path itself at the end keeps a-1 and a-01 apart.
    return f"{_DIGITS.sub(comparable, path)} {path}"


def list_landing(
    store: ObjectStore, root: str, globs: Sequence[str]
) -> List[LandingFile]:
    """The files of a table that match a glob, in the order of their positions.

    Hidden and marker files (a part that starts with `.` or `_`) are none of
    them, nor are folders' own empty objects and folders that are being pulled.
    """
    prefix = root.rstrip("/") + "/"
    patterns = [glob_pattern(each) for each in globs]
    found = store.list(prefix)
    hidden = unfinished_folders(found)
    files = [
        _landing_file(each, prefix)
        for each in found
        if _is_data(each.uri[len(prefix) :], patterns)
        and not each.uri.startswith(hidden)
    ]
    return sorted(files, key=lambda each: each.position)


def unfinished_folders(found: Sequence[StoredObject]) -> Tuple[str, ...]:
    """The URIs, each with its slash, of folders that are being pulled."""
    end = f"/{PULLING}"
    return tuple(e.uri[: -len(PULLING)] for e in found if e.uri.endswith(end))


def moved_on(store: ObjectStore, files: Sequence[LandingFile]) -> List[str]:
    """Paths of files that are not as they were when they were listed.

    Another content, the same content landed again (what lay there in between?),
    or none.
    """
    prefix = commonprefix([each.uri for each in files])
    now = {each.uri: (each.etag, each.modified) for each in store.list(prefix)}
    return [f.path for f in files if now.get(f.uri) != (f.etag, f.landed_at)]


def _landing_file(found: StoredObject, prefix: str) -> LandingFile:
    return LandingFile(
        path=found.uri[len(prefix) :],
        etag=found.etag,
        uri=found.uri,
        size=found.size,
        landed_at=found.modified,
    )


def _is_data(path: str, patterns: Sequence["re.Pattern[str]"]) -> bool:
    hidden = any(part.startswith((".", "_")) for part in path.split("/"))
    if hidden or not path or path.endswith("/"):
        return False
    return any(each.fullmatch(path) for each in patterns)


def scopes_of(path: str, scope: Optional[Scope]) -> Tuple[str, ...]:
    """The scope value that a file's path names; none where its rows do."""
    if scope is None or scope.pattern is None:
        return ()
    found = re.search(scope.pattern, path)
    if not found or not found.group(1):
        raise BadFile(
            path,
            f"its path names no {scope.column}: nothing in it matches {scope.pattern!r}. "
            "Move the file or correct source.scope.pattern.",
        )
    return (found.group(1),)
