"""Files with random columns, in each format, against an oracle in plain Python.

Columns are missing, renamed, spelled in another case, in any order, and there are some
that nobody declared. Thirty files in ten lakes; each message of a failure has the seed.
"""

from __future__ import annotations

import re
from itertools import cycle, product
from random import Random

import pytest

from tests.oracle import columns
from tests.kinds import some_by_day
from tests.spark.lake import Lake, table

SEED = 20261126
FORMATS = ("csv", "json", "parquet", "avro", "orc")
MISSING = ("warn", "refuse")
"""What becomes of a file that lacks a column."""
BY_DAY = set(zip(FORMATS, cycle(MISSING)))
_WARNED = re.compile(
    r"MissingColumn: column '(\w+)' is missing in \d+ file\(s\) \((.*)\): (\d+) row\(s\) have null"
)


@pytest.mark.nightly  # by day: whole_runs/test_fuzz.py
@pytest.mark.parametrize(
    "kind", some_by_day(product(FORMATS, MISSING), BY_DAY), ids="-".join
)
def test_files_with_random_columns_are_read_as_the_oracle_does(spark, tmp_path, kind):
    form, missing = kind
    play(spark, tmp_path, form, missing, f"{SEED} {form} {missing}")


def play(spark, root, form, missing, seed):
    random = Random(seed)
    lake = Lake(spark, root, table(columns.SPEC.format(form=form, missing=missing)))
    times = columns.times_of(random, 12)
    files = [columns.random_file(random, f"changes/{i}", times) for i in (1, 2, 3)]
    wanted = columns.Table(form, missing == "refuse")
    for together in (files[:1], files[1:]):
        for file in together:
            _land(lake, file, form)
        report = lake.run("incremental")
        refused, lacking = wanted.ingest(together)
        shown = f"seed {seed!r}: {together}: {report}"
        assert [each["path"] for each in report.set_aside] == refused, shown
        assert (report.error is None) == (not refused), shown
        assert report.quarantined == 0, shown
        assert _warned(report) == lacking, shown
        for path in refused:
            lake.remove(path)
    if not wanted.log:
        return
    rows = {(r.lake_path, r.lake_record): r for r in lake.changes.collect()}
    for place, row in wanted.log.items():
        row = {name: row.get(name) for name in [*wanted.columns, *row]}
        assert {n: rows[place][n] for n in row} == row, f"seed {seed!r}: {place}"
    assert len(rows) == len(wanted.log), f"seed {seed!r}"
    current = lake.current.drop("lake_key")
    assert set(current.columns) == set(wanted.columns), f"seed {seed!r}"
    found = {row.id: row.asDict() for row in current.collect()}
    assert found == wanted.current(), f"seed {seed!r}"


def _land(lake: Lake, file: columns.File, form: str) -> None:
    if form in ("csv", "json"):
        lake.land(file.path, columns.text_of(file, form))
        return
    rows = [tuple(row[name] for name in file.spelled) for row in file.rows]
    made = lake.root / "made" / file.path
    frame = lake.spark.createDataFrame(rows, columns.schema_of(file)).coalesce(1)
    frame.write.format(form).save(f"file://{made}")
    (part,) = made.glob("part-*")
    lake.land(file.path, part.read_bytes())


def _warned(report) -> dict:
    found = [_WARNED.match(each) for each in report.warnings]
    return {m[1]: (m[2].split(", "), int(m[3])) for m in found if m}
