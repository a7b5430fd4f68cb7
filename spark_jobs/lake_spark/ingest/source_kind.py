"""What a kind of source says of its landing files: a new kind comes in here.

How its files are ingested is in `stages/ingest`; docs/extending.md has the whole list.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import (
    Any,
    Dict,
    Generic,
    List,
    Optional,
    Sequence,
    Tuple,
    Type,
    TypeVar,
)

from lake_spec.model import FeedTable, FileTable, SnapshotTable
from lake_spark.errors import BadFile
from lake_spark.formats.inference import is_load
from lake_spark.landing.files import LandingFile
from lake_spark.landing.ingested_files import IngestedFiles
from lake_spark.snapshots import snapshot_completeness, snapshot_times, source_snapshot
from lake_spark.tables.table_run import FileRun

Of = TypeVar("Of", bound=FileTable)


class SourceKind(ABC, Generic[Of]):
    """The kind of a table's source."""

    is_full_copy: bool
    """Whether files are compared with what was known, so that their order counts."""

    def __init__(self, spec: Of) -> None:
        self.spec = spec

    @property
    @abstractmethod
    def completion_marker(self) -> Optional[str]:
        """Return the name or glob of objects that say that files are complete."""

    @abstractmethod
    def dated(
        self, run: FileRun, files: Sequence[LandingFile]
    ) -> Tuple[List[LandingFile], List[BadFile]]:
        """Return the files with the times that they are of, and those that have none."""

    @abstractmethod
    def is_first(self, file: LandingFile, ingested: IngestedFiles) -> bool:
        """Return whether a file's rows, which have no start, are older than all changes."""


class FeedFiles(SourceKind[FeedTable]):
    """Files of a full load, of full refreshes and of changes."""

    is_full_copy = False
    completion_marker = None

    def dated(
        self, run: FileRun, files: Sequence[LandingFile]
    ) -> Tuple[List[LandingFile], List[BadFile]]:
        """Return the files as they are: their rows have the times."""
        return list(files), []

    def is_first(self, file: LandingFile, ingested: IngestedFiles) -> bool:
        """Return whether a file is a full copy: the load, or a full refresh."""
        return is_load(self.spec, file)


class SnapshotFiles(SourceKind[SnapshotTable]):
    """Files that are full copies, of the table or of its scopes."""

    is_full_copy = True

    @property
    def completion_marker(self) -> Optional[str]:
        """Return the marker or the manifest that the table declares."""
        return snapshot_completeness.marker_of(self.spec)

    def dated(
        self, run: FileRun, files: Sequence[LandingFile]
    ) -> Tuple[List[LandingFile], List[BadFile]]:
        """Return the files with the times of their snapshots."""
        bad: List[BadFile] = []
        of_snapshots = run.of_kind(SnapshotTable)
        return snapshot_times.dated(of_snapshots, files, bad), bad

    def is_first(self, file: LandingFile, ingested: IngestedFiles) -> bool:
        """Return whether a file is of the first snapshot."""
        return source_snapshot.is_full_load(file, ingested)


_KINDS: Dict[type, Type[SourceKind[Any]]] = {
    FeedTable: FeedFiles,
    SnapshotTable: SnapshotFiles,
}


def kind_of(spec: FileTable) -> SourceKind[Any]:
    """Return the kind of a table's source. Raises KeyError for one without files."""
    return _KINDS[type(spec)](spec)
