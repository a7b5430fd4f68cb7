"""A snapshot of the source: its files, its time, and whether it comes too late.

Contract section 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Dict, List, Optional, Sequence, Tuple

from pyspark.sql import Column
from pyspark.sql import functions as F

from lake_spec.model import SnapshotTable
from lake_spec.text.marked_values import quoted_value
from lake_spark.errors import LateSnapshot
from lake_spark.landing.files import LandingFile
from lake_spark.landing.ingested_files import IngestedFiles


@dataclass(frozen=True)
class SourceSnapshot:
    """All files of one snapshot, and what it is a full copy of.

    `scopes` holds the scope values that it covers, as text: (None,) where the
    table has no scope, nothing as long as only its rows can say.
    """

    at: datetime
    files: Sequence[LandingFile]
    scopes: Tuple[Optional[str], ...] = (None,)
    markers: Sequence[LandingFile] = ()
    """Its markers or manifests."""

    @property
    def name(self) -> str:
        """Return its time, as reports say it."""
        return f"{self.at:%Y-%m-%d %H:%M}"


def group_snapshots(
    files: Sequence[LandingFile], spec: SnapshotTable
) -> List[SourceSnapshot]:
    """Group the files into the snapshots that they make up, oldest first."""
    groups: Dict[Tuple[datetime, Tuple[str, ...]], List[LandingFile]] = {}
    for file in files:
        assert file.snapshot_at is not None
        groups.setdefault((file.snapshot_at, file.scopes), []).append(file)
    unknown = () if spec.scope else (None,)
    return [
        SourceSnapshot(at, tuple(groups[at, scopes]), scopes or unknown)
        for at, scopes in sorted(groups)
    ]


def times_taken(ingested: IngestedFiles) -> Dict[Optional[str], datetime]:
    """Return the time of the newest snapshot ingested, per scope value."""
    return ingested.newest_snapshots


def last_taken(ingested: IngestedFiles) -> Optional[datetime]:
    """Return the time of the newest snapshot that was ingested, of whatever scope."""
    return max(times_taken(ingested).values(), default=None)


def is_full_load(file: LandingFile, ingested: IngestedFiles) -> bool:
    """Return whether a file is of the first snapshot, or of one that is not newer."""
    first, at = ingested.oldest_snapshot, file.snapshot_at
    return first is None or at is not None and at <= first


def refuse_late(
    snapshot: SourceSnapshot, ingested: IngestedFiles, spec: SnapshotTable
) -> None:
    """Refuse a snapshot that is not newer than the last one ingested."""
    newest = times_taken(ingested)
    for scope in snapshot.scopes:
        last = newest.get(scope)
        if last is None or snapshot.at > last:
            continue
        what = "of the same time as" if snapshot.at == last else "older than"
        raise LateSnapshot(
            f"this snapshot ({snapshot.name}) is {what} the last one ingested"
            f"{of_scope(scope, spec)} ({last:%Y-%m-%d %H:%M}). Land it under its true time, "
            f"or ingest it by the DAG {spec.domain}_reprocess, which ingests all later ones "
            "again. If it is not needed, move it out of the landing folder."
        )


def of_scope(scope: Optional[str], spec: SnapshotTable) -> str:
    """Return ` of <column> '<value>'` for messages; nothing without a scope."""
    if scope is None or spec.scope is None:
        return ""
    return f" of {spec.scope.column} {quoted_value(scope)}"


def scope_text(spec: SnapshotTable) -> Column:
    """Return a row's scope value as text; null without a scope."""
    scope = spec.scope
    value = F.col(scope.column) if scope else F.lit(None)
    return value.cast("string")
