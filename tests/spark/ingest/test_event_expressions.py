"""What SQL a table's spec becomes, without a session of Spark."""

from __future__ import annotations

from lake_spark.ingest.event_expressions import effective_at
from tests.spark.lake import LOAD_AND_CHANGES, table

SPEC = LOAD_AND_CHANGES + """  format: {type: json}
  operation: {column: op}
columns: {id: int, day: date, at: timestamp}
key: [id]
order_by: [day, at]
"""


def test_the_first_timestamp_of_the_order_is_the_effective_time_not_a_date():
    spec = table(SPEC)
    found = effective_at(spec, [(name, c.type) for name, c in spec.columns])
    assert "CAST(`at` AS timestamp)" in found and "day" not in found
