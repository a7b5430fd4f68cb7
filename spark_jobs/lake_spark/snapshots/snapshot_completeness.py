"""Which snapshots are complete: by a marker, by numbered parts, or by a manifest.

Contract section 4: where nothing is declared a snapshot is one file. Until a snapshot
is complete it waits by name, and nothing is deleted. Which of its files are missing is
known from their names alone; only a manifest is read.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Dict, List, Optional, Sequence, Set, Tuple

from lake_spec.diagnostics.warnings import WarningId
from lake_spec.layout.hidden_paths import is_hidden
from lake_spec.model import SnapshotTable
from lake_spec.text.globs import glob_pattern
from lake_spec.text.marked_values import row_value
from lake_spark.errors import BadFile, LateSnapshot, WrongManifest, WrongSnapshotFiles
from lake_spark.landing.files import (
    LandingFile,
    first_shown,
    is_marker,
    scopes_of,
    shown,
)
from lake_spark.landing.ingested_files import IngestedFiles
from lake_spark.snapshots.snapshot_times import time_of_path
from lake_spark.snapshots.source_snapshot import SourceSnapshot, times_taken
from lake_spark.storage.object_store import split_uri
from lake_spark.tables.table_run import SnapshotRun

LARGEST_MANIFEST = 64 * 1024 * 1024
"""Bytes of a manifest: a million names of 60 characters."""

_LISTS = ("entries", "files", "manifest", "parts")
_NAMES = (
    *("url", "uri", "key", "path", "file", "name", "file_name", "filename"),
    "dataFileS3Key",  # of DynamoDB
)
_SIZES = ("size", "content_length", "contentLength", "bytes")


def is_one_file(spec: SnapshotTable) -> bool:
    """Return whether a snapshot is one file: none declared, and nothing pulls several."""
    return spec.source.complete is None and spec.source.pulled_from is None


def marker_of(spec: SnapshotTable) -> Optional[str]:
    """Return the name or glob of objects that say that a snapshot is complete."""
    complete = spec.source.complete
    return (complete.marker or complete.manifest) if complete else None


def with_markers(
    run: SnapshotRun,
    snapshots: Sequence[SourceSnapshot],
    markers: Sequence[LandingFile],
    ingested: IngestedFiles,
) -> List[SourceSnapshot]:
    """Return the snapshots with their markers, oldest first.

    One with markers alone has no files.

    A marker without a time in its path belongs to the snapshot whose files lie in its folder.
    """
    found = list(snapshots)
    newest = times_taken(ingested)
    for marker in markers:
        at, scopes = _of_path(marker, run.spec)
        if at is None:
            at = _of_folder(run, marker, found, ingested)
            if at is None:
                continue
        if not run.window.holds(at):
            continue
        mine = [
            i
            for i, each in enumerate(found)
            if each.at == at and scopes in ((), each.scopes)
        ]
        for i in mine:
            found[i] = replace(found[i], markers=(*found[i].markers, marker))
        unknown = () if run.spec.scope else (None,)
        last = max(
            (newest[each] for each in scopes or newest if each in newest), default=None
        )
        if not mine and (last is None or at > last):
            found.append(SourceSnapshot(at, (), scopes or unknown, (marker,)))
    return sorted(found, key=lambda each: (each.at, str(each.scopes)))


def _of_path(
    marker: LandingFile, spec: SnapshotTable
) -> Tuple[Optional[datetime], Tuple[str, ...]]:
    """Return time and scope that a marker's path names; none of what it does not name."""
    where, zone = spec.source.snapshot_time, spec.source.timezone
    try:
        at = time_of_path(marker.path, where, zone) if where.pattern else None
    except BadFile:
        at = None
    try:
        return at, scopes_of(marker.path, spec.scope)
    except BadFile:
        return at, ()


def _of_folder(
    run: SnapshotRun,
    marker: LandingFile,
    snapshots: Sequence[SourceSnapshot],
    ingested: IngestedFiles,
) -> Optional[datetime]:
    """Return the time of the only snapshot with files below a marker's folder."""
    folder = marker.path.rpartition("/")[0]
    below = f"{folder}/" if folder else ""
    waiting = {
        each.at
        for each in snapshots
        if any(file.path.startswith(below) for file in each.files)
    }
    if not waiting:
        return None
    known = [each for each in ingested.all if each.path.startswith(below)]
    times = {
        datetime.fromisoformat(each.snapshot_at) for each in known if each.snapshot_at
    }
    if not waiting - times:
        return None
    if len(times | waiting) > 1:
        run.report.warn(
            WarningId.AMBIGUOUS_MARKER,
            f"{shown(marker.path)}: its path has no snapshot time, and its folder has files "
            "of several snapshots, so it completes none of them. Give each snapshot a "
            "folder, or name the marker so that source.snapshot_time.pattern finds the "
            "time.",
        )
        return None
    return waiting.pop()


def what_is_missing(
    run: SnapshotRun,
    snapshot: SourceSnapshot,
    landing: Sequence[str],
    ingested: IngestedFiles,
) -> Optional[str]:
    """Return what a snapshot waits for; None if it is complete.

    Raises WrongManifest for its manifest, WrongSnapshotFiles for files that contradict each other.

    `landing` are the paths of all files that the table's glob matches.
    """
    spec, complete = run.spec, run.spec.source.complete
    if complete is None:
        _refuse_several(snapshot, spec)
        return None
    _refuse_second(snapshot, spec, ingested)
    if complete.manifest is not None:
        return _by_manifest(run, snapshot, landing)
    if not snapshot.files:
        raise WrongSnapshotFiles(
            [each.path for each in snapshot.markers],
            f"snapshot {snapshot.name} has its marker and no file. Land its files (without "
            "rows: a file with only a header), or remove the marker.",
        )
    if complete.marker is not None:
        bad = _bad_in_folder(run, snapshot)
        if snapshot.markers:
            return (
                f"{_count(snapshot)}, but {shown(bad[0])} cannot be read"
                if bad
                else None
            )
        return f"{_count(snapshot)}, but its marker {complete.marker} is missing"
    if isinstance(complete.parts, int):
        return _by_count(snapshot, complete.parts)
    return _by_parts(snapshot, complete.parts or "")


def _bad_in_folder(run: SnapshotRun, snapshot: SourceSnapshot) -> List[str]:
    """List bad files in its folders whose time is unknown: they may be of the snapshot."""
    if run.spec.source.snapshot_time.column is None:
        return []
    folders = {each.path.rpartition("/")[0] for each in snapshot.files}
    bad = [each["path"] for each in run.report.set_aside]
    return [path for path in bad if path.rpartition("/")[0] in folders]


def waits(
    snapshot: SourceSnapshot, missing: str, behind: Sequence[SourceSnapshot]
) -> str:
    """Return the warning of a snapshot that is not complete."""
    places = [each.path for each in (*snapshot.files, *snapshot.markers)]
    folders = sorted({path.rpartition("/")[0] or "." for path in places})
    named = ", ".join(f"{shown(each)}/" for each in folders[:3])
    words = (
        f"snapshot {snapshot.name} is not complete and waits: {missing} ({named}). Nothing of "
        "it was ingested or deleted. Land the rest, or move its files out of landing"
    )
    later = ", ".join(each.name for each in behind[:3])
    more = f" and {len(behind) - 3} more" if len(behind) > 3 else ""
    return words + (
        f"; later snapshots wait behind it: {later}{more}." if later else "."
    )


def _refuse_several(snapshot: SourceSnapshot, spec: SnapshotTable) -> None:
    """Refuse several files where nothing is declared: a snapshot is then one file."""
    if len(snapshot.files) > 1 and snapshot.scopes and is_one_file(spec):
        paths = [each.path for each in snapshot.files]
        raise WrongSnapshotFiles(paths, several(snapshot.name, snapshot.files))


def several(name: str, files: Sequence[LandingFile]) -> str:
    """Return the words for several files of a snapshot whose table declares nothing."""
    named = first_shown([each.path for each in files])
    return (
        f"snapshot {name} has {len(files)} files ({named}), and the table does not "
        "declare when a snapshot of several files is complete. Leave one file there, or "
        "declare source.complete (marker, parts or manifest)."
    )


def _refuse_second(
    snapshot: SourceSnapshot, spec: SnapshotTable, ingested: IngestedFiles
) -> None:
    """Refuse another file of a complete snapshot; where rows name scopes, also a scope."""
    if snapshot.scopes:
        return
    if snapshot.at.isoformat() in ingested.snapshot_times:
        raise LateSnapshot(
            f"snapshot {snapshot.name} was complete and is ingested: a further file of its "
            "time is refused. Move it out of landing, or reprocess the whole snapshot by the DAG "
            f"{spec.domain}_reprocess."
        )


def _count(snapshot: SourceSnapshot) -> str:
    files = len(snapshot.files)
    return "1 file is there" if files == 1 else f"{files} files are there"


def _by_count(snapshot: SourceSnapshot, count: int) -> Optional[str]:
    found = len(snapshot.files)
    if found > count:
        named = ", ".join(shown(each.path) for each in snapshot.files[:3])
        raise WrongSnapshotFiles(
            [each.path for each in snapshot.files],
            f"snapshot {snapshot.name} has {found} files ({named}, ...), and source.complete."
            f"parts is {count}. Move files of other snapshots away, or correct the number.",
        )
    return None if found == count else f"{found} of {count} files are there"


def _by_parts(snapshot: SourceSnapshot, pattern: str) -> Optional[str]:
    """Judge by parts, numbered from 0 or from 1; each name says how many there are."""
    parts: Dict[int, str] = {}
    counts: Dict[int, str] = {}
    for file in snapshot.files:
        number, count = _part_of(file.path, pattern)
        other = parts.setdefault(number, file.path)
        if other != file.path:
            words = f"{shown(other)}, {shown(file.path)}"
            raise _bad_parts(
                snapshot, [other, file.path], f"part {number} is there twice: {words}"
            )
        counts.setdefault(count, file.path)
    if len(counts) > 1:
        examples = ", ".join(f"{n} by {shown(counts[n])}" for n in sorted(counts)[:3])
        raise _bad_parts(
            snapshot,
            [each.path for each in snapshot.files],
            f"its files name different numbers of parts: {examples}",
        )
    (count,) = counts
    if count < 1 or max(parts) > count or (0 in parts and count in parts):
        last = max(parts)
        both = " next to a part 0" if 0 in parts and 0 < last == count else ""
        raise _bad_parts(
            snapshot,
            [parts[last], *([parts[0]] if both else [])],
            f"{shown(parts[last])} is part {last} of {count}{both}: no such part",
        )
    if len(parts) == count:
        return None
    first = 0 if 0 in parts else 1
    missing = [n for n in range(first, first + count) if n not in parts]
    named = ", ".join(map(str, missing[:5])) + (", ..." if len(missing) > 5 else "")
    return f"{len(parts)} of {count} parts are there, missing: {named}"


def _part_of(path: str, pattern: str) -> Tuple[int, int]:
    found = re.search(pattern, path)
    said: Tuple[Any, ...] = found.groups()[:2] if found else ()
    if found and found.groupdict():
        said = (found.groupdict().get("part"), found.groupdict().get("count"))
    try:
        part, count = map(int, said)
        return part, count
    except (TypeError, ValueError):
        raise WrongSnapshotFiles(
            [path],
            f"{shown(path)}: its path has no part and number of parts (source.complete.parts is "
            f"{pattern!r}). Rename the file, move it away, or correct the pattern.",
        ) from None


def _bad_parts(
    snapshot: SourceSnapshot, paths: Sequence[str], what: str
) -> WrongSnapshotFiles:
    words = "Move files of other snapshots away, and land the rest."
    return WrongSnapshotFiles(paths, f"snapshot {snapshot.name}: {what}. {words}")


@dataclass(frozen=True)
class _Listed:
    """One file that a manifest lists: its path below the landing folder."""

    path: str
    size: Optional[int]


def _by_manifest(
    run: SnapshotRun, snapshot: SourceSnapshot, landing: Sequence[str]
) -> Optional[str]:
    if not snapshot.markers:
        glob = marker_of(run.spec)
        return f"{_count(snapshot)}, but its manifest {glob} is missing"
    if len(snapshot.markers) > 1:
        named = ", ".join(shown(each.path) for each in snapshot.markers[:3])
        raise WrongSnapshotFiles(
            [each.path for each in snapshot.markers],
            f"snapshot {snapshot.name} has {len(snapshot.markers)} manifests "
            f"({named}). Remove all but one.",
        )
    (manifest,) = snapshot.markers
    listed = _of_snapshot(run, snapshot, manifest, _read(run, manifest))
    there = {each.path: each for each in snapshot.files}
    _refuse_unlisted(snapshot, manifest, set(there) - set(listed))
    missing = [path for path in listed if path not in there]
    elsewhere = set(missing) & set(landing)
    if elsewhere:
        raise _bad_manifest(
            manifest, f"lists {shown(min(elsewhere))}, which is of another snapshot"
        )
    _refuse_other_sizes(run, manifest, listed, there)
    if missing:
        named = ", ".join(map(shown, missing[:3])) + (", ..." if missing[3:] else "")
        found = len(listed) - len(missing)
        return f"{found} of {len(listed)} files of its manifest are there, missing: {named}"
    return None


def _of_snapshot(
    run: SnapshotRun,
    snapshot: SourceSnapshot,
    manifest: LandingFile,
    found: Sequence[_Listed],
) -> Dict[str, _Listed]:
    """Return the listed files of this snapshot, by path.

    Leave out those of its other scopes.
    """
    listed: Dict[str, _Listed] = {}
    files, marker = glob_pattern(run.spec.source.files), marker_of(run.spec)
    for each in found:
        if (
            is_hidden(each.path)
            or marker
            and is_marker(each.path, marker)
            or not files.fullmatch(each.path)
        ):
            raise _bad_manifest(
                manifest,
                f"lists {shown(each.path)}, which source.files does not match",
            )
        if each.path in listed:
            raise _bad_manifest(manifest, f"lists {shown(each.path)} twice")
        try:
            scopes = scopes_of(each.path, run.spec.scope)
        except BadFile as bad:
            raise _bad_manifest(
                manifest, f"lists {shown(bad.path)}: {bad.reason}"
            ) from None
        if not scopes or scopes == snapshot.scopes:
            listed[each.path] = each
    if not listed:
        raise _bad_manifest(
            manifest,
            "lists no file. A snapshot without rows is a file with only a header",
        )
    return listed


def _refuse_unlisted(
    snapshot: SourceSnapshot, manifest: LandingFile, paths: Set[str]
) -> None:
    if paths:
        more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
        raise WrongSnapshotFiles(
            sorted(paths),
            f"snapshot {snapshot.name}: {shown(min(paths))}{more} is not in its manifest "
            f"{shown(manifest.path)}. Move it out of landing, or list it.",
        )


def _refuse_other_sizes(
    run: SnapshotRun,
    manifest: LandingFile,
    listed: Dict[str, _Listed],
    there: Dict[str, LandingFile],
) -> None:
    """Refuse a size that differs, another content, but for what an erase put there."""
    other = [
        path
        for path, file in there.items()
        if listed[path].size not in (None, file.size)
    ]
    if not other:
        return
    erased = run.erased_keys.load().files
    for path in other:
        if path not in erased:
            raise _bad_manifest(
                manifest,
                f"says that {shown(path)} has {listed[path].size} bytes, but it has "
                f"{there[path].size}",
            )


def _bad_manifest(manifest: LandingFile, what: str) -> WrongManifest:
    return WrongManifest(
        manifest.path, f"{what}. Correct the manifest, or land what it lists."
    )


def _read(run: SnapshotRun, manifest: LandingFile) -> List[_Listed]:
    """Read the entries of a manifest, their names made paths below the landing folder."""
    if manifest.size > LARGEST_MANIFEST:
        raise _bad_manifest(
            manifest, f"has {manifest.size:,} bytes, over {LARGEST_MANIFEST:,}"
        )
    try:
        entries = _entries(run.store.read(manifest.uri).decode("utf-8-sig"))
    except KeyError:
        raise _bad_manifest(manifest, "was removed while the run read it") from None
    except (ValueError, RecursionError) as error:
        raise _bad_manifest(manifest, f"cannot be read: {str(error)[:200]}") from None
    return [_listed(run, manifest, n, each) for n, each in enumerate(entries, 1)]


def _entries(text: str) -> Sequence[Any]:
    """Return the entries of a manifest: one JSON value, or a name or object a line."""
    lines = [line.rstrip("\r") for line in text.split("\n") if line.strip()]
    if text.lstrip()[:1] not in ("[", "{"):
        return lines
    try:
        data = json.loads(text)
    except ValueError:
        if lines[0][:1] != "{" or lines[0].rstrip()[-1:] != "}":
            raise
        return [json.loads(line) for line in lines]
    lists = [data] if isinstance(data, list) else [data.get(name) for name in _LISTS]
    found = [each for each in lists if isinstance(each, list)]
    if len(found) != 1:
        raise ValueError(
            f"it is neither a list nor an object with one list of: {', '.join(_LISTS)}"
        )
    return found[0]


def _listed(
    run: SnapshotRun, manifest: LandingFile, number: int, entry: Any
) -> _Listed:
    name, size = entry, None
    if isinstance(entry, dict):
        meta = entry.get("meta")
        entry = {**(meta if isinstance(meta, dict) else {}), **entry}
        name = next((entry[each] for each in _NAMES if each in entry), None)
        size = next((entry[each] for each in _SIZES if each in entry), None)
    is_size = isinstance(size, int) and not isinstance(size, bool) and size >= 0
    if not isinstance(name, str) or not name or not (size is None or is_size):
        raise _bad_manifest(
            manifest,
            f"entry {number} is neither a file name nor an object with a name "
            f"({', '.join(_NAMES)}) and a size: {row_value(repr(entry)[:100])}",
        )
    return _Listed(_path_of(run, manifest, name), size)


def _path_of(run: SnapshotRun, manifest: LandingFile, name: str) -> str:
    """Return a name as a path below the landing folder: a URI, key, or by the manifest."""
    root = f"{run.landing.rstrip('/')}/"
    uri = re.sub(r"^s3[an]://", "s3://", name)
    key = split_uri(root)[1] if root.startswith("s3://") else root
    if "://" in uri:
        path = uri[len(root) :] if uri.startswith(root) else ""
    elif key and name.startswith(key):
        path = name[len(key) :]
    else:
        folder = manifest.path.rpartition("/")[0]
        relative = name[2:] if name.startswith("./") else name
        path = f"{folder}/{relative}" if folder else relative
    if not path or any(part in ("", ".", "..") for part in path.split("/")):
        raise _bad_manifest(
            manifest,
            f"lists {row_value(shown(name))}, which is outside of {shown(root)}",
        )
    return path
