"""Which files of a Hudi table have its rows: of each file group the newest committed one.

Hudi's own rules, which the publication of other formats and readers without Java share.
"""

from __future__ import annotations

from typing import Any, Collection, Dict, Iterable, List, Tuple, TypeVar

FileT = TypeVar("FileT", bound=Any)
"""A base file: it has a `group` and the `instant` of the commit that wrote it."""


def is_committed(instant: str, completed: Collection[str], first: str) -> bool:
    """Return whether a commit of that instant was completed.

    Args:
        completed: instants of completed commits that are not archived.
        first: the oldest instant that is not archived, completed or not; what is older
            was completed and archived.
    """
    return instant in completed or instant < first


def newest_files(
    files: Iterable[FileT],
    completed: Collection[str],
    first: str,
    replaced: Collection[Tuple[str, str]],
) -> List[FileT]:
    """Return the newest committed file of each group.

    Args:
        files: base files, in any order.
        completed: instants of completed commits that are not archived.
        first: the oldest instant that is not archived.
        replaced: partition and id of the groups that a completed commit replaced.
    """
    newest: Dict[Tuple[str, str], FileT] = {}
    for file in files:
        if file.group in replaced or not is_committed(file.instant, completed, first):
            continue
        known = newest.get(file.group)
        if known is None or known.instant < file.instant:
            newest[file.group] = file
    return list(newest.values())
