"""The tables that random files land in: each is a way of reading."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import Any

from tests.fuzz import parquet
from tests.fuzz.files import COLUMNS, File, random_file, random_names
from tests.fuzz.judge import Table, judge
from tests.spark.lake import table

NEEDED = ("id", "at")
KEYS = 1000
"""Each file has keys of its own: its number times this, and those that follow."""
SHARED_BY, HEADERS = 100, 6
"""So many files have one of so many headers, as files of a table usually have few: a run
plans the reading of each header once."""


@dataclass(frozen=True)
class Kind:
    """A table of the lake, and how the judge reads its files."""

    name: str
    reads: Table
    format: str
    new_columns: str = "ignore"

    def file(self, spark: Any, seed: int, number: int) -> File:
        """The random file of that number with its verdict: the same for the same seed."""
        random, first = Random(f"{seed}/{number}"), number * KEYS
        of_headers = f"{number // SHARED_BY}/{random.randrange(HEADERS)}"
        shared = Random(f"{seed}/header/{of_headers}")
        if self.reads.format == "parquet":
            types = parquet.random_types(shared)
            return parquet.random_file(spark, random, first, types)
        header = random_names(shared, tuple(COLUMNS))
        file = random_file(random, first, self.reads, header)
        verdict = judge(self.reads, "x" + file.ending, file.content)
        return replace(file, verdict=verdict)

    @property
    def spec(self):
        """The table's spec: a feed whose rows each have a key of their own."""
        columns = "\n".join(f'  {name}: "{kind}"' for name, kind in COLUMNS.items())
        return table(f"""
source:
  kind: feed
  path: tests/things
  load: "load/**"
  changes: "changes/**"
  new_columns: {self.new_columns}
  format: {self.format}
columns:
{columns}
key: [id]
order_by: [at]
future_dates: true
quarantine: {{max_share: 1.0}}
storage: {{buckets: 1}}
""")


def _kind(name: str, format: str, new_columns: str = "ignore", **reads: Any) -> Kind:
    adds = new_columns == "add"
    of_judge = Table(name.split("-")[0], COLUMNS, NEEDED, adds=adds, **reads)
    return Kind(name, of_judge, format, new_columns)


KINDS = (
    _kind("csv", '{type: csv, null_text: [""]}'),
    _kind("json", '{type: json, null_text: [""]}'),
    _kind(
        "json-array",
        '{type: json, null_text: [""], layout: array}',
        is_array=True,
    ),
    _kind("parquet", "{type: parquet}", "add"),
    _kind("csv-added-columns", '{type: csv, null_text: [""]}', "add"),
    _kind("json-added-columns", '{type: json, null_text: [""]}', "add"),
    _kind(
        "csv-latin-1",
        '{type: csv, null_text: [""], encoding: latin-1, delimiter: ";"}',
        encoding="latin-1",
        delimiter=";",
    ),
    _kind(
        "csv-windows-1252",
        '{type: csv, null_text: [""], encoding: windows-1252}',
        encoding="windows-1252",
    ),
    _kind(
        "csv-escape",
        '{type: csv, null_text: ["NULL"], escape: "\\\\"}',
        null_text=("NULL",),
        escape="\\",
    ),
    _kind(
        "csv-lines-above",
        '{type: csv, null_text: [""], skip_lines: 2}',
        skip_lines=2,
    ),
    _kind(
        "csv-quoted-null",
        '{type: csv, null_text: [""], quoted_null: false}',
        quoted_null=False,
    ),
    _kind(
        "csv-utf-16",
        '{type: csv, null_text: [""], encoding: utf-16}',
        encoding="utf-16",
    ),
)
