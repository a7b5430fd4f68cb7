"""Repeated snapshots: what they are of, which are refused, which events follow from them.

Contract section 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Dict, List, Optional, Sequence, Tuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lake_spec.model import MissingKeys, TableSpec
from lake_spec.text.marked_values import quoted_value
from lake_spark.changelog.schema import DELETE, LogColumn, UPSERT
from lake_spark.errors import LateSnapshot, TooManyLosses
from lake_spark.landing.files import LandingFile
from lake_spark.landing.ingested_files import IngestedFiles
from lake_spark.scd2.events import KEY

KNOWN = "lake_known"
"""Whether a key of the state lives."""

BEFORE = "lake_effective_before"
"""The declared effective time that a key had when it was last seen."""

MIN_KEYS = 10
"""Below this many keys the lost share is not judged, unless all of them are lost."""


@dataclass(frozen=True)
class SourceSnapshot:
    """All files of one snapshot, and what it is a full copy of.

    `scopes` holds the scope values that it covers, as text: (None,) where the
    table has no scope, nothing as long as only its rows can say.
    """

    at: datetime
    files: Sequence[LandingFile]
    scopes: Tuple[Optional[str], ...] = (None,)
    signs: Sequence[LandingFile] = ()
    """Its markers or manifests."""

    @property
    def name(self) -> str:
        """Return its time, as reports say it."""
        return f"{self.at:%Y-%m-%d %H:%M}"


def group_snapshots(
    files: Sequence[LandingFile], spec: TableSpec
) -> List[SourceSnapshot]:
    """Group the files into the snapshots that they make up, oldest first."""
    groups: Dict[Tuple, List[LandingFile]] = {}
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
    first = ingested.oldest_snapshot
    return first is None or file.snapshot_at <= first


def refuse_late(
    snapshot: SourceSnapshot, ingested: IngestedFiles, spec: TableSpec
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


def of_scope(scope: Optional[str], spec: TableSpec) -> str:
    """Return ` of <column> '<value>'` for messages; nothing without a scope."""
    return "" if scope is None else f" of {spec.scope.column} {quoted_value(scope)}"


def identity(spec: TableSpec) -> List[str]:
    """Return what one row of a snapshot is about: a key, in one scope value."""
    return [KEY, *([spec.scope.column] if spec.scope else [])]


def scope_text(spec: TableSpec) -> Column:
    """Return a row's scope value as text; null without a scope."""
    scope = spec.scope
    value = F.col(scope.column) if scope else F.lit(None)
    return value.cast("string")


def dated(upserts: DataFrame, spec: TableSpec, previous: Column) -> DataFrame:
    """Let upserts be valid from `effective_at`, where it can be believed.

    Not before the `previous` snapshot's time, which said otherwise; and where it did not
    advance although the row changed or returned, from the snapshot's own time.
    """
    if spec.effective_at is None:
        return upserts
    declared = F.col(spec.effective_at).cast("timestamp")
    advanced = F.col(BEFORE).isNull() | (declared > F.col(BEFORE))
    believed = F.greatest(F.col(LogColumn.EFFECTIVE_AT), previous)
    since = F.when(advanced, believed).otherwise(F.col(LogColumn.SNAPSHOT_AT))
    return upserts.withColumn(LogColumn.EFFECTIVE_AT, since)


FACTS_OF_DELETES = (
    (LogColumn.PATH, "string"),
    (LogColumn.POSITION, "string"),
    (LogColumn.ETAG, "string"),
    (LogColumn.LANDED_AT, "timestamp"),
    (LogColumn.SNAPSHOT_AT, "timestamp"),
)
"""Where the derived deletes of a snapshot stand: at its last file."""


def facts_of_deletes(snapshot: SourceSnapshot) -> Tuple:
    """Return the values of these columns."""
    last = snapshot.files[-1]
    return (last.path, last.position, last.etag, last.landed_at, snapshot.at)


def as_deletes(absent: DataFrame) -> DataFrame:
    """Return absent keys, which have these facts, as delete events."""
    return absent.withColumns(
        {
            LogColumn.OP: F.lit(DELETE),
            LogColumn.RANK: F.lit(1),
            LogColumn.EFFECTIVE_AT: F.col(LogColumn.SNAPSHOT_AT),
            LogColumn.RECORD: F.lit(-1).cast("bigint"),
        }
    )


def refuse_empty(snapshot: SourceSnapshot, known: int, spec: TableSpec) -> None:
    """Refuse a snapshot without rows: more often a broken export than an empty table."""
    scope = snapshot.scopes[0] if spec.scope else None
    named = ", ".join(each.path for each in snapshot.files[:3])
    there = (
        f", but the table has {known:,} key(s){of_scope(scope, spec)}" if known else ""
    )
    raise TooManyLosses(
        f"snapshot {snapshot.name}{of_scope(scope, spec)} has no row ({named}){there}. "
        "Land a whole snapshot in its place. If it is right, declare "
        f"source.may_be_empty, or run {spec.domain}_incremental with accept_losses."
    )


def refuse_losses(known: int, absent: int, spec: TableSpec, scope: str) -> None:
    """Refuse an empty or broken export, which must not close a table.

    `scope` is for the words.
    """
    if spec.source.missing_keys is not MissingKeys.IGNORE:
        remedy = (
            "Land a whole snapshot in its place. If the loss is right, run "
            f"{spec.domain}_incremental with accept_losses."
        )
        share, setting = spec.source.lost_share, "source.lost_share"
        refuse_loss(known, absent, share, setting, remedy, of=scope)


def refuse_loss(
    known: int,
    absent: int,
    share: float,
    setting: str,
    remedy: str,
    *,
    who: str = "",
    of: str = "",
) -> None:
    """Refuse files that lack more than a share of the known keys.

    `who` loses them, `of` what: both for the words.
    """
    is_judged = known >= MIN_KEYS or absent == known
    if is_judged and absent > share * known:
        raise TooManyLosses(
            f"{who}loses {absent:,} of {known:,} keys{of}, more than the share of "
            f"{share:.0%} that {setting} allows. {remedy}"
        )


UPSERTS = f"lake_op = '{UPSERT}' AND lake_change IN ('new', 'changed')"
"""Rows of a snapshot that become upsert events."""
