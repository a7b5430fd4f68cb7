"""Landing files: which there are, what they are called, where they are."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from os.path import commonprefix
from typing import Iterable, List, Optional, Sequence, Set, Tuple

from lake_spec.facts.pull_folders import FOLDERS
from lake_spec.layout.hidden_paths import is_hidden
from lake_spec.model import Scope
from lake_spec.text.globs import glob_pattern
from lake_spark.errors import WrongPath
from lake_spark.storage.object_store import ObjectStore, StoredObject

PULLING = "_pulling"
"""What hides the folder that it lies in: its files are still being pulled."""

_DIGITS = re.compile(r"\d+")
_OTHER_FOLDERS = (".", "..")
"""Parts of keys that lead elsewhere where keys are paths; S3 takes them, disks have none."""


@dataclass(frozen=True)
class LandingFile:
    """One file below a table's landing folder; it is (path, ETag)."""

    path: str
    etag: str
    uri: str
    size: int
    landed_at: datetime
    snapshot_at: Optional[datetime] = None
    scopes: Tuple[str, ...] = ()
    """The scope values that its snapshot covers, as text, once they are known."""
    is_folder: bool = False
    """Whether there are objects below its path, which S3 allows, and disks do not."""

    @property
    def position(self) -> str:
        """Return the path with its digits comparable as text: cdc-9 before cdc-10."""
        return position_of(self.path)


def position_of(path: str) -> str:
    """Return the sort key of a path: every number led by its count of digits."""

    def comparable(digits: "re.Match[str]") -> str:
        number = digits.group().lstrip("0")
        return f"{len(number):03d}{number}"

    # The path itself at the end keeps a-1 and a-01 apart.
    return f"{_DIGITS.sub(comparable, path)} {path}"


@dataclass(frozen=True)
class Listing:
    """What lies below a table's landing folder.

    `files` match a glob, `markers` say that a snapshot is complete, `others` are the
    paths of all that is neither and not hidden.
    """

    files: List[LandingFile]
    markers: List[LandingFile]
    others: List[str]


def list_landing(
    store: ObjectStore, root: str, globs: Sequence[str]
) -> List[LandingFile]:
    """List the files of a table that pulls, as far as they match a glob, in order."""
    return look(store, root, globs, pulled=FOLDERS).files


def look(
    store: ObjectStore,
    root: str,
    globs: Sequence[str],
    *,
    marker: Optional[str] = None,
    pulled: Sequence[str] = (),
) -> Listing:
    """List everything below a landing folder, files in the order of their positions.

    Left out is what is hidden (a part of its path begins with `.` or `_`), folders'
    own empty objects, and folders directly below one of `pulled` that are being pulled.
    `marker` is the name, or glob, of markers of completion, which may be hidden.
    """
    prefix = root.rstrip("/") + "/"
    patterns = [glob_pattern(each) for each in globs]
    found = store.list(prefix)
    folders = _folders(each.uri[len(prefix) :] for each in found)
    hidden = unfinished_folders(found, prefix, pulled)
    listing = Listing([], [], [])
    for each in found:
        path = each.uri[len(prefix) :]
        folder, _, name = path.rpartition("/")
        if not path or _is_hidden(folder) or each.uri.startswith(hidden):
            continue
        if marker is not None and is_marker(path, marker):
            listing.markers.append(_landing_file(each, prefix))
        elif _is_hidden(name) or (not name and not each.size):
            continue
        elif name and any(pattern.fullmatch(path) for pattern in patterns):
            listing.files.append(_landing_file(each, prefix, path in folders))
        else:
            listing.others.append(path)
    listing.files.sort(key=lambda each: each.position)
    return listing


def _folders(paths: Iterable[str]) -> Set[str]:
    """Return every folder that has an object, or a folder that has one."""
    found: Set[str] = set()
    for path in paths:
        folder, _, name = path.rpartition("/")
        while name and folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found


def is_marker(path: str, marker: str) -> bool:
    """Return whether an object is a marker of completion: by name in any folder, or path."""
    name = path if "/" in marker else path.rpartition("/")[2]
    return glob_pattern(marker).fullmatch(name)


def unfinished_folders(
    found: Sequence[StoredObject], prefix: str, tops: Sequence[str]
) -> Tuple[str, ...]:
    """Return the URIs, each with its slash, of folders that are being pulled.

    Pulls write into folders directly below one of `tops`, below the landing folder of
    the URI `prefix`; elsewhere an object of the marker's name says nothing.
    """
    ends = tuple(e.uri for e in found if e.uri.endswith(f"/{PULLING}"))
    parts = {uri: uri[len(prefix) :].split("/") for uri in ends}
    return tuple(
        uri[: -len(PULLING)]
        for uri in ends
        if len(parts[uri]) == 3 and parts[uri][0] in tops
    )


def shown(path: str) -> str:
    """Return a path as messages show it: in one line, escaped where it does not print."""
    return path if path.isprintable() else repr(path)[1:-1]


def first_shown(paths: Sequence[str], most: int = 3) -> str:
    """Return the first paths of a list as messages show them, and how many more."""
    more = f" and {len(paths) - most:,} more" if len(paths) > most else ""
    return f"{', '.join(map(shown, paths[:most]))}{more}"


def moved_on(store: ObjectStore, files: Sequence[LandingFile]) -> List[str]:
    """Return paths of files that are not as they were when they were listed.

    Another content, the same content landed again (what lay there in between?),
    or none.
    """
    if not files:
        return []  # nothing has a prefix, and all of a store would be listed
    prefix = commonprefix([each.uri for each in files])
    now = {each.uri: (each.etag, each.modified) for each in store.list(prefix)}
    return [f.path for f in files if now.get(f.uri) != (f.etag, f.landed_at)]


def refuse_name(file: LandingFile) -> None:
    """Raise WrongPath for a path under which Spark reads another file, none, or fails."""
    parts = file.path.split("/")
    found = [each for each in ("", *_OTHER_FOLDERS) if each in parts]
    if found:
        what = f"has a part {found[0]!r}, which Hadoop removes from paths"
    elif file.path.endswith("._COPYING_"):
        what = "ends with '._COPYING_', which Spark ignores"
    elif ":" in parts[-1] and file.uri.startswith("file:"):
        what = "has a ':' in its name, which Hadoop cannot read in local folders"
    elif not _is_unicode(file.path):
        what = "is not valid UTF-8"
    elif file.is_folder:
        what = "is that of a folder too, whose files Hadoop reads in its place"
    else:
        return
    raise WrongPath(file.path, f"its path {what}. Land it under another name.")


def _is_unicode(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:  # bytes that are none, as Python keeps them
        return False
    return True


def _landing_file(
    found: StoredObject, prefix: str, is_folder: bool = False
) -> LandingFile:
    return LandingFile(
        path=found.uri[len(prefix) :],
        etag=found.etag,
        uri=found.uri,
        size=found.size,
        landed_at=found.modified,
        is_folder=is_folder,
    )


def _is_hidden(path: str) -> bool:
    return is_hidden("/".join(p for p in path.split("/") if p not in _OTHER_FOLDERS))


def value_in_path(path: str, column: str, pattern: str) -> str:
    """Return the value of a column that a file's path names.

    Raises WrongPath where it names none.
    """
    found = re.search(pattern, path)
    if not found or not found.group(1):
        raise WrongPath(
            path,
            f"its path has no value of {column}: nothing in it matches {pattern!r}. "
            "Rename the file, or correct the pattern in the spec.",
        )
    return found.group(1)


def scopes_of(path: str, scope: Optional[Scope]) -> Tuple[str, ...]:
    """Return the scope value that a file's path names; none where its rows do."""
    if scope is None or scope.pattern is None:
        return ()
    return (value_in_path(path, scope.column, scope.pattern),)
