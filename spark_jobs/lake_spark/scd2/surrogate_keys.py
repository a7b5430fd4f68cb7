"""Surrogate keys of versions: a hash of key and start, or a number kept for them.

Numbers live in a table of their own (lake_key, lake_from, number), committed
before the history that uses them: after a crash between the two the next run
finds them there. Contract section 3.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Dict, List, Mapping, Tuple

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from lake_spec.hudi.options import Operation
from lake_spec.model import SurrogateKind
from lake_spark.scd2.derived_table import REMOVED
from lake_spark.scd2.events import KEY
from lake_spark.scd2.fold import FROM
from lake_spark.storage.commit_values import CommitValue
from lake_spark.storage.hudi_table import HudiTable

SURROGATE_TYPES = {
    SurrogateKind.DETERMINISTIC: "string",
    SurrogateKind.INCREASING: "bigint",
}
NUMBER = "number"

_RANGES = 64
"""Into how many ranges keys are cut to be numbered, each sorted by one task."""


def hashed() -> Column:
    """Return half a SHA-256 of key and start: the same in every build, 32 hex digits."""
    text = F.concat_ws("|", F.col(KEY), F.col(FROM).cast("string"))
    return F.substring(F.sha2(text, 256), 1, 32)


def with_known_numbers(rows: DataFrame, numbers: HudiTable, column: str) -> DataFrame:
    """Fill the column with the numbers that versions ever had; null for new ones."""
    return _filled(rows, numbers.read(), column) if numbers.has_data() else rows


def with_new_numbers(
    changes: DataFrame, numbers: HudiTable, column: str, metadata: Mapping[str, str]
) -> DataFrame:
    """Give numbers to versions that never had one, and commit these numbers."""
    unnumbered = F.col(column).isNull() & (F.col("lake_action") != REMOVED)
    fresh = changes.where(unnumbered).select(KEY, FROM)
    cuts = _cuts(fresh)
    if not cuts:
        return changes
    before = numbers.last_count(CommitValue.HIGHEST_NUMBER)
    given, highest = _numbered(fresh, cuts, before)
    operation = Operation.UPSERT if numbers.has_data() else Operation.BULK_INSERT
    said = {**metadata, CommitValue.HIGHEST_NUMBER: str(highest)}
    numbers.write(given, operation, said)
    return _filled(changes, given, column)


def _cuts(fresh: DataFrame) -> List[str]:
    """Return keys that cut all of them into ranges of about one size; none without new."""
    keys = fresh.select(KEY).distinct()
    some = keys.orderBy(F.xxhash64(KEY)).limit(_RANGES - 1)
    return [row[KEY] for row in some.collect()]


def _numbered(fresh: DataFrame, cuts: List[str], highest: int) -> Tuple[DataFrame, int]:
    """Return (the rows numbered from highest + 1 on by key and start, the new highest).

    The numbers follow from the rows alone, so it does not matter how often
    Spark computes them.
    """
    at_or_below = F.filter(
        F.array(*[F.lit(cut) for cut in cuts]), lambda cut: cut <= F.col(KEY)
    )
    ranged = fresh.withColumn("lake_range", F.size(at_or_below))
    sizes: Dict[int, int] = dict(ranged.groupBy("lake_range").count().collect())
    each = (sizes.get(place, 0) for place in range(len(cuts) + 1))
    *before, highest = accumulate(each, initial=highest)
    starts = F.array(*[F.lit(start) for start in before])[F.col("lake_range")]
    nth = F.row_number().over(Window.partitionBy("lake_range").orderBy(KEY, FROM))
    number = (starts + nth).cast("bigint").alias(NUMBER)
    return ranged.select(KEY, FROM, number), highest


def _filled(rows: DataFrame, numbers: DataFrame, column: str) -> DataFrame:
    known = numbers.select(KEY, FROM, F.col(NUMBER).alias("lake_number"))
    filled = F.coalesce(column, "lake_number").alias(column)
    names = [filled if name == column else F.col(name) for name in rows.columns]
    return rows.join(known, [KEY, FROM], "left").select(*names)
