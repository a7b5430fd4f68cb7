"""Keys that a full copy lacks: how many are too many. Contract section 4."""

from __future__ import annotations

from lake_spec.model import MissingKeys, SnapshotTable
from lake_spark.errors import TooManyLosses
from lake_spark.snapshots.source_snapshot import SourceSnapshot, of_scope

MIN_KEYS = 10
"""Below this many keys the lost share is not judged, unless all of them are lost."""


def refuse_empty(snapshot: SourceSnapshot, known: int, spec: SnapshotTable) -> None:
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


def refuse_losses(known: int, absent: int, spec: SnapshotTable, scope: str) -> None:
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
