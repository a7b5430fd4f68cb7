"""The mark of a state directory, without which nothing is written there or removed.

What lies in a state directory is replaced and removed by commands and by the emulator. So
they work only in one that they made: it was empty, or not there, when it got its mark. Of
the version before, which wrote no mark, it is known by its content.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Collection, Optional, Set

from lake_emulator.private_folder import make_private
from lake_emulator.runtimes import PROJECT

FILE = "lake-state-directory.json"
FORMAT = 1
_WHAT = (
    "State of ./run_locally.sh or of the local AWS emulator, which replace and remove what"
    " lies in this folder. Keep nothing else here."
)

_CONNECT = "connect"
_WRITTEN = frozenset(
    {"airflow", "dags", "holders", "lock", "logs", "product_plans.json", "release.json"}
    | {"restart.lock", "site", "site.lock", "stack.json", "stack.part"}
    | {_CONNECT, "kafka", "slot.json", "worker"}
    | {"aws.log", "aws.pid", "calls.jsonl", "credentials", "emr", "policies.json"}
    | {"policies.new", "s3", "services"}
)
_WRITTEN_FOR_A_WHILE = ("release-", "show-", "demo-", ".credentials.")
_ALWAYS = (
    frozenset({"airflow", "holders", "lock", "logs"}),  # by any command
    frozenset({"aws.pid", "credentials"}),  # by the emulator alone
)
_OWNERS = {
    ".git": "the checkout of a repository",
    "airflow.cfg": "the home of an Airflow",
    "airflow/airflow.cfg": "the home of an Airflow among them",
    "stack.json": "the state of another program",
    "dags": "somebody's DAGs",
}
_SHOWN = 5


class NotAStateDirectory(Exception):
    """A folder that is to be the state directory holds what no command of ours wrote.

    Nothing was written there, and nothing removed.

    Fix: Name a folder with --state-dir DIR that is empty or does not exist yet.
    """


def claim(folder: Path, *, given: Collection[str] = ()) -> None:
    """Create a folder for its owner alone, and mark it as a state directory.

    Raises NotAStateDirectory, and NotPrivate, before anything is written.

    Args:
        given: names of files that others may have put there before the first start.
    """
    check(folder, given=given)
    make_private(folder)
    if not _read(folder):
        text = json.dumps({"what": _WHAT, "format": FORMAT}, indent=1) + "\n"
        (folder / FILE).write_text(text, encoding="utf-8")


def check(folder: Path, *, given: Collection[str] = ()) -> None:
    """Raise NotAStateDirectory unless a folder is one, or may become one."""
    if place := _place(folder):
        raise NotAStateDirectory(
            f"{folder} is {place}: it cannot be a state directory, whose content is"
            " replaced and removed. Name a folder of its own with --state-dir DIR, one"
            " that is empty or does not exist yet."
        )
    if not folder.exists():
        return
    if not folder.is_dir():
        raise NotAStateDirectory(
            f"{folder} is a file, no folder. Name a folder with --state-dir DIR, one that"
            " is empty or does not exist yet."
        )
    names = set(os.listdir(folder))
    if FILE in names:
        _check_mark(folder)
    elif not (names <= set(given) or _is_unmarked(folder, names)):
        raise NotAStateDirectory(_foreign(folder, names))


def _place(folder: Path) -> str:
    """Return what a folder is to this user that can never be a state directory, else ""."""
    home = Path(os.path.expanduser("~"))
    for place, name in ((PROJECT, "the checkout"), (home, "your home folder")):
        if _is_same(folder, place):
            return name
        if any(_is_same(folder, above) for above in place.parents):
            return f"a folder above {name} ({place})"
    return ""


def _is_same(folder: Path, other: Path) -> bool:
    try:
        return folder.samefile(other)
    except OSError:
        return folder == other


def _read(folder: Path) -> str:
    """Return the text of the mark; "" without one, or while another process writes it."""
    try:
        return (folder / FILE).read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""


def _check_mark(folder: Path) -> None:
    text = _read(folder)
    if text and _format_in(text) != FORMAT:
        raise NotAStateDirectory(
            f"{folder / FILE} has no format {FORMAT}: a later version of this project made"
            " the state directory, or the file was changed. Use that version, or name"
            " another folder with --state-dir DIR."
        )


def _format_in(text: str) -> Optional[int]:
    try:
        version: Optional[int] = json.loads(text)["format"]
        return version
    except (ValueError, TypeError, KeyError):
        return None


def _is_unmarked(folder: Path, names: Set[str]) -> bool:
    """Return whether the version before made a folder, and nobody else put anything there."""
    if names == {_CONNECT}:  # what `connect` left that no other command came after
        captures = list((folder / _CONNECT).iterdir())
        return all(
            each.is_dir() and _is_unmarked(each, set(os.listdir(each)))
            for each in captures
        )
    return any(always <= names for always in _ALWAYS) and not _strange(names)


def _strange(names: Set[str]) -> Set[str]:
    """Return the names that the version before did not write."""
    return {
        each for each in names - _WRITTEN if not each.startswith(_WRITTEN_FOR_A_WHILE)
    }


def _foreign(folder: Path, names: Set[str]) -> str:
    if any(always <= names for always in _ALWAYS):
        return (
            f"{folder} is like a state directory of an earlier version, but has also"
            f" {_shown(_strange(names))}, which no command wrote. Move that elsewhere and"
            " run the command again, or name another folder with --state-dir DIR."
        )
    owners = [words for path, words in _OWNERS.items() if (folder / path).exists()]
    whose = owners[0] if owners else "files of your own, or of another program"
    return (
        f"{folder} is not empty, and no state directory of this project: it has"
        f" {_shown(names)}, perhaps {whose}. Nothing was written there, for what lies in a"
        " state directory is replaced and removed. Name another folder with --state-dir"
        " DIR, one that does not exist yet, or an empty one."
    )


def _shown(names: Set[str]) -> str:
    shown = ", ".join(sorted(names)[:_SHOWN])
    return f"{shown} and {len(names) - _SHOWN} more" if len(names) > _SHOWN else shown
