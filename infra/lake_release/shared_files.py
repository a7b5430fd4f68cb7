"""What an Airflow of others installs, joined with ours, as files for them to upload.

Nothing is uploaded. Their requirements stay as they are, with lines behind them; their
plugins.zip keeps every byte of every file, with ours behind them.
"""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Dict, Iterator, Mapping, Optional

from lake_release.airflow_files import (
    EMPTY_ZIP,
    PLUGINS,
    REQUIREMENTS,
    added,
    plugin_files,
)
from lake_release.checksums import digest
from lake_release.errors import ReleaseError
from lake_release.host import Host
from lake_release.shared_requirements import joined, without_ours

NOTE = "lake_pages/joined.json"
"""Tells the plugin where the runs are, and which files of the zip are ours."""


def join(
    host: Host,
    to: Path,
    *,
    project: Path,
    runs: str,
    plugin: bool,
    wheels: Optional[Path] = None,
) -> Iterator[str]:
    """Write what they install with ours in it into a folder; yield what to do with it.

    Raises ReleaseError where their requirements exclude ours, or where they have a file
    of the name of one of ours.
    """
    there = host.described()
    found = host.compared(there)
    if found.conflicts:
        raise ReleaseError("\n".join(f"{each}." for each in found.conflicts))
    made = {}
    if found.missing:
        text = (host.installed(there, REQUIREMENTS) or b"").decode("utf-8")
        made[REQUIREMENTS] = joined(text, found.missing).encode()
    if plugin or wheels is not None:
        ours = plugin_files(project / "plugins" if plugin else None, wheels)
        content = {name: file.read_bytes() for name, file in ours.items()}
        theirs = host.installed(there, PLUGINS) or EMPTY_ZIP
        made[PLUGINS] = joined_zip(theirs, content, runs)
    yield from _written(made, to, "nothing to join: they have what the DAGs need")


def leave(host: Host, to: Optional[Path]) -> Iterator[str]:
    """Write what they install without ours into a folder, if it has any of ours; yield
    what to do with it."""
    there = host.described()
    made = {}
    text = (host.installed(there, REQUIREMENTS) or b"").decode("utf-8", "replace")
    if without_ours(text) != text:
        made[REQUIREMENTS] = without_ours(text).encode()
    packed = host.installed(there, PLUGINS)
    if packed is not None and without_our_files(packed) != packed:
        made[PLUGINS] = without_our_files(packed)
    if made and to is None:
        yield (
            f"{', '.join(sorted(made))} of the environment still have parts of ours: "
            "`remove --to DIR` writes them as they were"
        )
        return
    if to is not None:
        yield from _written(made, to, "what they install has nothing of ours")


def _written(made: Mapping[str, bytes], to: Path, nothing: str) -> Iterator[str]:
    if not made:
        yield nothing
        return
    to.mkdir(parents=True, exist_ok=True)
    for name, content in sorted(made.items()):
        (to / name).write_bytes(content)
        yield f"{to / name}: give it to who owns the environment, to upload and to install"


def joined_zip(theirs: bytes, ours: Mapping[str, bytes], runs: str) -> bytes:
    """Return their zip with these files behind theirs, in the place of an earlier
    join's. Raises ReleaseError for a name that they have with another content."""
    before = without_our_files(theirs)
    names = _contents(before)
    taken = sorted(n for n, each in ours.items() if names.get(n, each) != each)
    if taken:
        raise ReleaseError(
            f"plugins.zip has other files named {', '.join(taken)}. Rename them; nothing "
            "was written."
        )
    new = {name: each for name, each in ours.items() if name not in names}
    files = {name: digest(each) for name, each in new.items()}
    note = json.dumps({"runs": runs, "files": files}, sort_keys=True).encode()
    return added(before, {**new, NOTE: note})


def without_our_files(packed: bytes) -> bytes:
    """Return a plugins.zip without what `joined_zip` put in; the same bytes if nothing.

    A file of ours that was changed since is theirs by now, and stays.
    """
    content = _contents(packed)
    if NOTE not in content:
        return packed
    files: Dict[str, str] = json.loads(content[NOTE])["files"]
    ours = {
        NOTE,
        *(n for n, sha in files.items() if digest(content.get(n, b"")) == sha),
    }
    kept = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(packed)) as old, zipfile.ZipFile(kept, "w") as new:
        new.comment = old.comment
        for each in old.infolist():
            if each.filename not in ours:
                new.writestr(each, old.read(each))
    return kept.getvalue()


def _contents(packed: bytes) -> Dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        return {each.filename: archive.read(each) for each in archive.infolist()}
