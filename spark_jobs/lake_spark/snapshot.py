"""Extracts that come again: each becomes changes against the one before.

Contract section 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Dict, List, Optional, Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from lake_spec.model import Absence, TableSpec
from lake_spark.errors import LateExtract, RefusedInput
from lake_spark.fold import KEY, comparable
from lake_spark.inputs import Inputs
from lake_spark.landing import LandingFile
from lake_spark.log_rows import DELETE, UPSERT

BEFORE = "lake_effective_before"
"""The declared effective time that a key had in the extract before."""

MIN_KEYS = 10
"""Below this many keys the lost share is not judged."""


@dataclass(frozen=True)
class Extract:
    """All files of one extract."""

    at: datetime
    files: Sequence[LandingFile]

    @property
    def name(self) -> str:
        """Its time, as reports say it."""
        return f"{self.at:%Y-%m-%d %H:%M}"


def group_extracts(files: Sequence[LandingFile]) -> List[Extract]:
    """The extracts that the files make up, oldest first."""
    times: Dict[datetime, List[LandingFile]] = {}
    for file in files:
        assert file.extract_at is not None
        times.setdefault(file.extract_at, []).append(file)
    return [Extract(at, tuple(times[at])) for at in sorted(times)]


def refuse_late(extract: Extract, last: Optional[datetime], domain: str) -> None:
    """An extract that is not newer than the last one taken is refused."""
    if last is None or extract.at > last:
        return
    what = "of the same time as" if extract.at == last else "older than"
    raise LateExtract(
        f"this extract ({extract.name}) is {what} the last one taken "
        f"({last:%Y-%m-%d %H:%M}). Move it away, land it under its true time, or take "
        f"it in by the DAG {domain}_redo, which takes all after it anew."
    )


def changes(
    extract: DataFrame, state: DataFrame, spec: TableSpec, columns: Sequence[str]
) -> DataFrame:
    """The extract's rows against the keys known before: one row per key in either.

    `state` holds lake_key and the columns as of the extract before. Adds
    lake_change: 'new', 'changed', 'unchanged', 'duplicate' or 'absent'.
    """
    rows = _newest_of_key(extract)
    once = rows.where("lake_newest = 1")
    joined = once.alias("new").join(state.alias("old"), KEY, "full_outer")
    what = (
        F.when(F.col("new.lake_op").isNull(), "absent")
        .when(F.col("old.lake_known").isNull(), "new")
        .when(
            _values(once, "new", columns).eqNullSafe(_values(state, "old", columns)),
            "unchanged",
        )
        .otherwise("changed")
    )
    mine = [name for name in extract.columns if name not in (KEY, *columns)]
    kept_key = [_key_value(name, spec) for name in columns]
    before = F.col(f"old.{spec.effective_at}") if spec.effective_at else F.lit(None)
    compared = joined.select(
        KEY,
        *kept_key,
        *[F.col(f"new.{n}") for n in mine],
        what.alias("lake_change"),
        before.cast("timestamp").alias(BEFORE),
    )
    again = rows.where("lake_newest > 1").withColumn("lake_change", F.lit("duplicate"))
    return compared.unionByName(again.drop("lake_newest"), allowMissingColumns=True)


def dated(
    upserts: DataFrame, spec: TableSpec, extract: Extract, previous: datetime
) -> DataFrame:
    """Let upserts be valid from `effective_at`, where it can be believed.

    Not before the extract before, which said otherwise; and where it did not
    advance although the row changed, from the extract's own time.
    """
    if spec.effective_at is None:
        return upserts
    declared = F.col(spec.effective_at).cast("timestamp")
    advanced = F.col(BEFORE).isNull() | (declared > F.col(BEFORE))
    believed = F.greatest(F.col("lake_effective_at"), F.lit(previous))
    since = F.when(advanced, believed).otherwise(F.lit(extract.at))
    return upserts.withColumn("lake_effective_at", since)


def _newest_of_key(extract: DataFrame) -> DataFrame:
    """Of several rows of one key the last in the extract stands for it."""
    last = Window.partitionBy(KEY).orderBy(
        F.col("lake_position").desc(), F.col("lake_record").desc()
    )
    return extract.withColumn("lake_newest", F.row_number().over(last))


def _values(rows: DataFrame, side: str, columns: Sequence[str]) -> Column:
    return F.struct(*[comparable(rows, name, f"{side}.{name}") for name in columns])


def _key_value(name: str, spec: TableSpec) -> Column:
    """An absent row keeps its key, from the state; its other values are null."""
    if name in spec.key:
        return F.coalesce(f"new.{name}", f"old.{name}").alias(name)
    return F.col(f"new.{name}").alias(name)


def held(compared: DataFrame, why: Column) -> DataFrame:
    """Absent keys that are not taken as gone: they only look so."""
    absent = F.col("lake_change") == "absent"
    change = F.when(absent & why.isNotNull(), "held").otherwise(F.col("lake_change"))
    return compared.withColumn("lake_change", change)


def last_taken(taken: Inputs) -> Optional[datetime]:
    """The time of the newest extract that was taken in."""
    times = [datetime.fromisoformat(t.extract_at) for t in taken.all if t.extract_at]
    return max(times, default=None)


def derived_deletes(
    compared: DataFrame, extract: Extract, spec: TableSpec
) -> DataFrame:
    """The absent keys as delete events at the extract's time, none if ignored."""
    absent = compared.where("lake_change = 'absent'")
    if spec.source.absence is Absence.IGNORE:
        return absent.limit(0)
    last = extract.files[-1]
    facts = {
        "lake_op": F.lit(DELETE),
        "lake_rank": F.lit(1),
        "lake_effective_at": F.lit(extract.at),
        "lake_path": F.lit(last.path),
        "lake_position": F.lit(last.position),
        "lake_record": F.lit(-1).cast("bigint"),
        "lake_etag": F.lit(last.etag),
        "lake_landed_at": F.lit(last.landed_at),
        "lake_extract_at": F.lit(extract.at),
    }
    return absent.withColumns(facts)


def refuse_losses(known: int, absent: int, spec: TableSpec) -> None:
    """An empty or broken export must not close a table."""
    if spec.source.absence is not Absence.IGNORE:
        remedy = (
            "Land a whole extract in its place or, if the loss is true, run "
            f"{spec.domain}_incremental with accept_losses."
        )
        share, setting = spec.source.lost_share, "source.lost_share"
        refuse_loss(known, absent, share, setting, remedy)


def refuse_loss(
    known: int, absent: int, share: float, setting: str, remedy: str
) -> None:
    """Refuse files that lack more than a share of the known keys."""
    if known >= MIN_KEYS and absent > share * known:
        raise RefusedInput(
            f"loses {absent:,} of {known:,} keys, more than the share of {share:.0%} that "
            f"{setting} allows. {remedy}"
        )


UPSERTS = f"lake_op = '{UPSERT}' AND lake_change IN ('new', 'changed')"
"""Rows of an extract that become upsert events."""
