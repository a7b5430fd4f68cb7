"""Selects the release that the DAG files of this folder show.

`current.json` names the releases that were deployed here, the newest first; the files of
each are in `releases/<id>`. MWAA copies files one after the other, so a release counts
once all files that its manifest lists are here: until then the one before it is shown.

This file and its like change with no release: they are the same in all of them.
"""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path
from typing import Any, Dict, List

PACKAGES = ("lake_airflow", "lake_check", "lake_site", "lake_spec")


class NoRelease(RuntimeError):
    """Airflow has no release with all of its files.

    Fix: Wait a few minutes while MWAA copies the files; if this remains, deploy again.
    """


def dags_of(stub: str) -> Dict[str, Any]:
    """Return the DAGs of the DAG file of that name in the current release."""
    folder = current(Path(stub).parent)
    file = folder / Path(stub).name
    if not file.is_file():
        return {}
    _import_from(folder)
    found = runpy.run_path(str(file))
    return {name: each for name, each in found.items() if not name.startswith("__")}


def current(dags: Path) -> Path:
    """Return the folder of the newest release that is complete here."""
    pointer = dags / "current.json"
    ids = _named(pointer)
    for id in ids:
        folder = dags / "releases" / id
        if _is_whole(folder):
            return folder
    raise NoRelease(
        f"{pointer} names {', '.join(ids) or 'none'}, but all files of none of them "
        "have arrived. Wait a few minutes; if this remains, deploy again."
    )


def _named(pointer: Path) -> List[str]:
    """List the releases that were deployed, the newest first."""
    try:
        content = json.loads(pointer.read_text("utf-8"))
        version = content.get("format", 1)
        ids = [each["release"] for each in content["deploys"]]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise NoRelease(
            f"{pointer} cannot be read: {error!r}. Restore an older version of the object."
        ) from None
    if version != 1:
        raise NoRelease(
            f"{pointer} has format {version} (written by release "
            f"{content.get('written_by', 'unknown')}), {Path(__file__).name} reads 1. "
            "Deploy that release again: it includes the file that reads it."
        )
    return ids


def _is_whole(folder: Path) -> bool:
    try:
        sizes = json.loads((folder / "manifest.json").read_text("utf-8"))
        return all(
            (folder / file).stat().st_size == size for file, size in sizes.items()
        )
    except (OSError, ValueError):
        return False


def _import_from(folder: Path) -> None:
    """Import packages from this release, also in a process that had another.

    It is the last place that Python looks in: what other DAG files import stays theirs.
    """
    for name in [each for each in sys.modules if each.split(".")[0] in PACKAGES]:
        file = getattr(sys.modules[name], "__file__", None)
        if not file or folder not in Path(file).parents:
            del sys.modules[name]
    sys.path[:] = [each for each in sys.path if Path(each).parent != folder.parent]
    sys.path.append(str(folder))
