"""Rows of a table and of its changes, the same for the same seed.

A table has 19 columns: a key, the time of the change, and 17 of the kinds that
operational tables have: words of few and of many values, texts, numbers, decimals,
dates, and nulls in two of them. Every value is a hash of seed, key, time and column,
so that any part can be made without the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import List, Tuple

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

KEY, CHANGED_AT, OPERATION = "id", "updated_at", "op"
FIRST_SECOND = 1_600_000_000
"""When the rows of the first copy were changed; each round of changes is an hour."""
CUSTOMERS = 500_000
"""Values of the column `customer_id`: from 0 up to this, itself left out."""

_AT = "lake_second"
_HOUR = 3600


@dataclass(frozen=True)
class Generator:
    """Tables of this many rows; `seed` chooses their values."""

    spark: SparkSession
    rows: int
    seed: int = 1

    def load(self) -> DataFrame:
        """The first copy: keys 1 to `rows`, without an operation."""
        keys = self.spark.range(1, self.rows + 1, 1, 4).toDF(KEY)
        return keys.withColumn(_AT, F.lit(FIRST_SECOND)).select(*self._values())

    def spread(self, count: int, hour: int) -> DataFrame:
        """Updates of that many keys, each once, at even distances over the table."""
        step = self.rows // count
        first = 1 + (hour * 7919) % step
        keys = self._numbers(count).select(
            (F.lit(first) + F.col("id") * step).alias(KEY)
        )
        return self._changes(keys.withColumn(OPERATION, F.lit("U")), hour)

    def late(self, count: int, hour: int) -> DataFrame:
        """Updates of the keys that `spread` had changed an hour before, but of a time
        between the first copy and the first hour: in the middle of their history."""
        keys = self.spread(count, hour - 1).select(KEY)
        minutes = F.lit(FIRST_SECOND + _HOUR // 2 + hour)
        timed = keys.withColumn(OPERATION, F.lit("U")).withColumn(_AT, minutes)
        return timed.select(OPERATION, *self._values())

    def skewed(self, count: int, hour: int) -> DataFrame:
        """Changes of keys of which few come often: 90% updates, 5% inserts, 5% deletes.

        The fourth power of a uniform number picks the key: half of the changes are
        of the first sixteenth of the keys.
        """
        chance = F.pmod(self._hash(F.col("id"), hour, 1), F.lit(20))
        uniform = F.pmod(self._hash(F.col("id"), hour, 2), F.lit(1_000_003)) / 1_000_003
        known = (F.pow(uniform, 4) * self.rows).cast("bigint") + 1
        new = F.col("id") + self.rows + hour * count + 1
        changes = self._numbers(count).select(
            F.when(chance == 0, new).otherwise(known).alias(KEY),
            F.when(chance == 0, "I")
            .when(chance == 1, "D")
            .otherwise("U")
            .alias(OPERATION),
            F.col("id").alias("nth"),
        )
        return self._changes(changes, hour)

    def _numbers(self, count: int) -> DataFrame:
        return self.spark.range(0, count, 1, 1)

    def _changes(self, keys: DataFrame, hour: int) -> DataFrame:
        """Values at a time of that hour; changes of one key at several times."""
        nth = F.pmod(F.col("nth"), F.lit(_HOUR)) if "nth" in keys.columns else F.lit(0)
        timed = keys.withColumn(_AT, F.lit(FIRST_SECOND + hour * _HOUR) + nth)
        return timed.select(OPERATION, *self._values())

    def _hash(self, *of: "Column | int") -> Column:
        given = [each if isinstance(each, Column) else F.lit(each) for each in of]
        return F.xxhash64(F.lit(self.seed), *given)

    def _values(self) -> List[Column]:
        return [
            value.cast(kind).alias(name)
            for (name, kind), value in zip(COLUMNS, self._made())
        ]

    def _made(self) -> List[Column]:
        at = F.col(_AT)

        def number(place: int, most: int) -> Column:
            return F.pmod(self._hash(F.col(KEY), at, place), F.lit(most))

        def text(place: int) -> Column:
            return F.lower(F.hex(self._hash(F.col(KEY), at, place)))

        day = F.date_add(F.lit("2020-01-01").cast("date"), number(17, 2000).cast("int"))
        return [
            F.col(KEY),
            F.timestamp_seconds(at),
            F.concat(F.lit("status "), number(2, 6)),
            F.concat(F.lit("country "), number(3, 200)),
            F.concat(F.lit("city "), number(4, 20_000)),
            F.concat(F.lit("name "), text(5)),
            F.concat(text(6), F.lit("@example.org")),
            F.when(number(7, 3) > 0, F.concat_ws(" ", text(7), text(70), text(71))),
            text(8),
            number(9, CUSTOMERS),
            number(10, 100),
            number(11, 10_000_000),
            number(12, 10_000_000) / 100,
            number(13, 1_000_000) / 100,
            number(14, 10_000) / 100,
            number(15, 1_000_000) / 1000,
            number(16, 2) == 0,
            day,
            F.when(number(18, 4) > 0, F.date_add(day, 3)),
        ]


COLUMNS: Tuple[Tuple[str, str], ...] = (
    (KEY, "bigint"),
    (CHANGED_AT, "timestamp"),
    ("status", "string"),
    ("country", "string"),
    ("city", "string"),
    ("name", "string"),
    ("email", "string"),
    ("note", "string"),
    ("reference", "string"),
    ("customer_id", "int"),
    ("quantity", "int"),
    ("visits", "bigint"),
    ("price", "decimal(12,2)"),
    ("tax", "decimal(12,2)"),
    ("discount", "double"),
    ("weight", "double"),
    ("is_active", "boolean"),
    ("ordered_on", "date"),
    ("shipped_on", "date"),
)
"""Name and type of every column, in the order of `Generator._made`."""
