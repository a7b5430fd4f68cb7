"""What can go wrong in a stage, and whether a second try helps.

StageError
 +-- RefusedInput      landing files that must not be ingested: someone decides
 |    +-- LateExtract  a snapshot that no run can take any more
 |    +-- RefusedFiles some files of a snapshot, which waits until they are gone
 +-- BadFile           one landing file is not what it says: it is set aside
 +-- TooManyBadRows    more quarantined rows than the table bears
 +-- BrokenInvariant     a check before commit failed: nothing was written
 +-- DiffersFromLog    a verification found rows that the change log does not make
 +-- Redefined         a setting that can change rows was changed
 +-- ForeignTable      someone else filled a table of ours: it is not overwritten
 +-- NoJoin            the tables of a dimension do not fit together
 +-- NoReference      a reference table that was never built can give no value
 +-- NotIngested       the streamer step did not commit the inputs it was given
 +-- DomainTaken       another run has the lease of the domain
 +-- RefusedRequest    a request to erase keys that is not what it must be
 +-- NotErasable       erase does not reach everything that holds these rows
 +-- StillThere        the scan after an erase found a key
 +-- LostList          keys were erased, and the list of them is gone
 +-- NoSecret          a secret is not there, or not what it must be
 +-- NoConnection      a server that the environment does not name
 +-- PullFailed        a server did not give what was asked of it: nothing was landed
 +-- SourceMoved       what was to be pulled from a server is no longer there
 +-- UnfinishedReprocess    snapshots are still to be taken again: the log is not whole
"""

from __future__ import annotations

from typing import Sequence

SHOWN = 200
"""The most characters of a value that messages, reports and logs show."""


def shortened(text: str, most: int = SHOWN) -> str:
    """Return the text, or its beginning and its true length."""
    if len(text) <= most:
        return text
    return f"{text[:most]}... ({len(text):,} characters)"


class StageError(Exception):
    """A stage cannot go on with a table."""


class RefusedInput(StageError):
    """Landing files contradict what was ingested before."""


class LateExtract(RefusedInput):
    """A snapshot of a time that is not after the last one taken."""


class RefusedFiles(RefusedInput):
    """Files that cannot be of their snapshot; the others stay and wait."""

    def __init__(self, paths: Sequence[str], reason: str) -> None:
        super().__init__(reason)
        self.paths = tuple(paths)


class BadFile(StageError):
    """A landing file is not what it says."""

    def __init__(self, path: str, reason: str) -> None:
        reason = shortened(reason, 2_000)
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class TooManyBadRows(StageError):
    """The share of bad rows is over the table's limit."""


class BrokenInvariant(StageError):
    """Rows about to be written break the contract."""


class DiffersFromLog(StageError):
    """A table is not what its change log makes of it."""


class Redefined(StageError):
    """A recorded setting differs from the spec."""


class ForeignTable(StageError):
    """A table at our path that was filled by someone else."""


class NoJoin(StageError):
    """The tables of a dimension do not fit together."""


class NoReference(StageError):
    """A reference table has no current table yet."""


class NotIngested(StageError):
    """A streamer table's inputs were named but not committed."""


class UnfinishedReprocess(StageError):
    """A reprocess was stopped before all of its snapshots were taken again."""


class SourceMoved(StageError):
    """A server no longer has what was to be pulled from it next."""


class DomainTaken(StageError):
    """Another run has the lease of the domain."""


class RefusedRequest(StageError):
    """A request to erase keys that is not what it must be."""


class NotErasable(StageError):
    """Erase does not reach everything that holds rows of the table."""


class StillThere(StageError):
    """A key that was to be erased is still in a file."""


class LostList(StageError):
    """Keys were erased from the table, and the list that keeps them out is gone."""


class NoSecret(StageError):
    """A secret is not there, or not what it must be."""


class NoConnection(StageError):
    """A connection that the environment does not have, or has of another kind."""


class PullFailed(StageError):
    """A server did not give what was asked of it; nothing was landed."""


def first_line(error: BaseException) -> str:
    """Return the first line of an error that says something, for reports."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    causes = [line for line in lines if line.startswith("Caused by:")]
    return (causes[-1] if causes else lines[0] if lines else type(error).__name__)[:500]
