"""The keys of a request, typed as the table's own: what every place is searched for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Callable, List, Sequence, Set, Tuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lake_spec.text.sql_text import sql_identifier
from lake_spark.changelog.schema import LogColumn
from lake_spark.erasure import text_match
from lake_spark.erasure.request import Key
from lake_spark.errors import WrongEraseRequest
from lake_spark.reading.row_expressions import from_text
from lake_spark.scd2.events import KEY
from lake_spark.schema.columns import any_null
from lake_spark.schema.key_text import key_text
from lake_spark.tables.table_run import FileRun, table_columns

_TIMES = ("date", "timestamp")
"""Types of keys whose text is never searched for: it is a day, not a subject."""


@dataclass(frozen=True)
class Subjects:
    """Keys: each as its one text (`lake_key`), and its parts as the source writes them.

    `are_times` where the key is one column, and that a date or a timestamp.
    """

    keys: Tuple[str, ...]
    parts: Tuple[Tuple[str, ...], ...]
    are_times: bool = False

    def table(self, spark: SparkSession) -> DataFrame:
        """Return the keys as rows of lake_key: rows of the driver, which no plan shows."""
        return spark.createDataFrame([(key,) for key in self.keys], f"{KEY} string")

    def of(self, rows: DataFrame, *, before: bool = False) -> DataFrame:
        """Return the rows whose lake_key is one of them, or was `before`."""
        keys = F.broadcast(
            self.table(rows.sparkSession).withColumnRenamed(KEY, "lake_of")
        )
        names = (KEY, LogColumn.OLD_KEY) if before else (KEY,)
        is_one = reduce(or_, (F.col(name) == F.col("lake_of") for name in names))
        return rows.join(keys, is_one, "left_semi")

    @property
    def record_keys(self) -> Set[str]:
        """Return what record keys of Hudi begin with, up to their first comma."""
        return {text for key in self.keys for text in (key, f"{KEY}:{key}")}

    def texts(self) -> Set[str]:
        """Return what names a subject by itself: all of a key of several columns."""
        if self.are_times:
            return set()
        return {*self.keys, *(parts[0] for parts in self.parts if len(parts) == 1)}

    def in_text(self) -> Callable[[str], bool]:
        """Return whether a text names a subject by a text that is long enough to count."""
        return text_match.any_in(self.texts())

    def in_message(self) -> Callable[[str], bool]:
        """Return the same for a report's message, which may name a key's columns apart."""
        by_itself = self.in_text()
        by_parts = text_match.all_in(parts for parts in self.parts if len(parts) > 1)
        return lambda text: by_itself(text) or by_parts(text)

    def named_in(self) -> Callable[[str], bool]:
        """Return whether a text has all parts of a key as words: for what lacks columns."""
        # The function goes to the workers whole: they need no module of ours.
        patterns = [
            [re.compile(rf"(?<!\w){re.escape(part)}(?!\w)") for part in parts]
            for parts in self.parts
        ]

        def is_named(text: str) -> bool:
            return text is not None and any(
                all(word.search(text) for word in each) for each in patterns
            )

        return is_named


def subjects(run: FileRun, keys: Sequence[Key], place: str) -> Subjects:
    """Read the request's keys of a table.

    Raise WrongEraseRequest for one its columns cannot hold.
    """
    spec, kinds = run.spec, dict(table_columns(run.spec, run.log))
    columns = [(name, kinds[name]) for name in spec.key]
    asked: List[Tuple[str, ...]] = [
        tuple(key[name] for name in spec.key) for key in keys
    ]
    schema = ", ".join(
        f"{sql_identifier(name)} string" for name in ("lake_subject_number", *spec.key)
    )
    rows = [(str(i), *parts) for i, parts in enumerate(asked)]
    typed = run.spark.createDataFrame(rows, schema).selectExpr(
        "CAST(lake_subject_number AS int) AS lake_subject_number",
        *[
            f"{from_text(spec, name, kind)} AS {sql_identifier(name)}"
            for name, kind in columns
        ],
    )
    found = typed.selectExpr(
        "lake_subject_number",
        f"{key_text(columns)} AS {KEY}",
        f"({any_null(spec.key)}) AS bad",
    ).orderBy("lake_subject_number")
    texts = found.collect()
    bad = [str(row.lake_subject_number) for row in texts if row.bad]
    if bad:
        wanted = ", ".join(f"{name} {kind}" for name, kind in columns)
        raise WrongEraseRequest(
            f"{place}: number {', '.join(bad)} (from 0) cannot be read as the key of "
            f"{spec.full_name}: {wanted}."
        )
    are_times = len(columns) == 1 and columns[0][1] in _TIMES
    return Subjects(tuple(row[KEY] for row in texts), tuple(asked), are_times)
