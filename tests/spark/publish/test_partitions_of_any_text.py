"""Partitions named by any text on a disk: each reader finds the value that was landed."""

from __future__ import annotations

import csv
import io

import pytest

from lake_spark.storage.hudi_table import without_hudi_columns
from tests.cases.any_text import VALUES
from tests.kinds import TABLE_TYPES
from tests.spark.lake import FEED_FILES, Lake, stored, table
from tests.spark.publish.readers import as_text, delta_rows, iceberg_rows
from tests.spark.publish.test_published_tables import PYTHON, others_agree

pytestmark = pytest.mark.nightly
SPEC = table(FEED_FILES + """\
columns: {id: int, place: string, at: timestamp}
key: [id]
order_by: [at]
effective_at: at
storage: {buckets: 1, partition_by: [place], readable_as: [iceberg, delta]}
""")


def text_of(places, day):
    made = io.StringIO()
    rows = csv.writer(made, lineterminator="\n")
    rows.writerow(["op", "id", "place", "at"])
    rows.writerows(["U", n, each, f"2026-01-{day:02}"] for n, each in enumerate(places))
    return made.getvalue()


@pytest.mark.parametrize("kind", TABLE_TYPES)
def test_each_value_is_read_as_it_was_landed(spark, tmp_path, kind):
    lake = Lake(spark, tmp_path, stored(SPEC, type=kind))
    lake.land("load/1.csv", text_of(VALUES, 1))
    lake.done("full_load", "scd2")
    moved = [*VALUES[1:], VALUES[0]]
    lake.land("changes/1.csv", text_of(moved, 2))
    lake.done("incremental", "scd2", "maintenance")
    assert lake.living("place") == list(enumerate(moved))
    for layer in ("current", "history"):
        stored_rows = lake.tables.table(layer)
        wanted = without_hudi_columns(stored_rows.read())
        for rows in (iceberg_rows, delta_rows):
            found = rows(spark, stored_rows.path).select(wanted.columns)
            assert as_text(found) == as_text(wanted), (layer, rows.__name__)
    if PYTHON.exists():
        others_agree(lake, "current")
