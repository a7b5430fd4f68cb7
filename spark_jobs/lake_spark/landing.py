"""Landing files: which there are, what they are called, where they stand."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import List, Optional, Sequence

from lake_spec.model import ExtractTime
from lake_spark.errors import BadFile
from lake_spark.object_store import ObjectStore, StoredObject

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
    them, nor are folders' own empty objects.
    """
    prefix = root.rstrip("/") + "/"
    patterns = [glob_pattern(each) for each in globs]
    files = [
        _landing_file(each, prefix)
        for each in store.list(prefix)
        if _is_data(each.uri[len(prefix) :], patterns)
    ]
    return sorted(files, key=lambda each: each.position)


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


def glob_pattern(glob: str) -> "re.Pattern[str]":
    """A glob as a pattern: `*` within a folder, `**` over folders, `?` one."""
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", glob)
    meaning = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(meaning.get(part, re.escape(part)) for part in parts))


def extract_time(path: str, where: ExtractTime) -> datetime:
    """The time of the extract that a file belongs to, as its name says it."""
    found = re.search(where.pattern, path)
    if not found:
        raise BadFile(
            path,
            f"its name holds no extract time: nothing in it matches {where.pattern!r}. "
            "Rename the file or correct source.extract_time.pattern.",
        )
    try:
        moment = datetime.strptime(found.group(1), where.format)
    except ValueError as error:
        raise BadFile(path, f"its extract time cannot be read: {error}") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)
