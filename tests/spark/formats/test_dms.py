"""Files of AWS DMS as its S3 target writes them, with and without each of its options.

Order 1 and 2 are in the full load, whose rows bear the time of their transfer; after it
1 changes twice in one second, 2 is deleted and 3 comes. The change sequence decides.
"""

from __future__ import annotations

import gzip
from decimal import Decimal

import pytest

from lake_spec.text.sql_text import sql_literal
from lake_spark.formats.inference import shape_of
from lake_spark.landing.files import list_landing
from lake_spark.schema.casts import Conversion
from lake_spark.schema.columns import TEXT
from lake_spark.schema.promotion import stored_type
from tests.spark.lake import Lake, table
from tests.spark.parquet_files import land_parquet

SPEC = """
source:
  kind: feed
  path: tests/orders
  load: "LOAD*"
  changes: "20*/**"
  format: {form}
  operation: {{column: Op}}
columns:
  id: int
  amount: "decimal(10,2)"
  is_paid: boolean
  note: string
  change_seq: {{type: "decimal(35,0)", source: [AR_H_CHANGE_SEQ]}}
  changed_at: {{type: timestamp, source: [transact_ts]}}
key: [id]
order_by: [change_seq, changed_at]
load_effective_at: "2026-01-01"
history: {{ignore: [note]}}
storage: {{buckets: 1}}
"""
BARE = '{type: csv, header: false, null_text: ["", "NULL"]}'
SEQ = "202601051000000000000000000000000%02d"
"""Of DMS: a time and a counter, too long for any whole number of Spark's."""

LOAD = """1,10.00,t,NULL,,2026-03-01 09:00:00.000000
2,20.50,false,"two, and more",,2026-03-01 09:00:00.000000
"""
FIRST = (
    f"U,1,11.00,true,9,{SEQ % 9},2026-01-05 10:00:00.000000\n"
    f"D,2,,,,{SEQ % 11},2026-01-05 10:00:00.000000\n"
)
SECOND = (
    f"U,1,12.00,0,10,{SEQ % 10},2026-01-05 10:00:00.000000\n"
    f"I,3,NULL,1,,{SEQ % 12},2026-01-05 11:00:00.000000\n"
)
PLACES = ("2026/01/05/20260105-100000001.csv", "2026/01/05/20260105-100000002.csv")
CURRENT = [(1, "12.00", False, "10"), (3, None, True, None)]


def loaded(spark, root, form: str, load: str, *changes: str) -> Lake:
    lake = Lake(spark, root, table(SPEC.format(form=form)))
    lake.land("LOAD00000001.csv", load, at="2026-03-01")
    for place, text in zip(PLACES, changes):
        lake.land(place, text, at="2026-03-02")
    for report in lake.done("full_load", "incremental", "scd2"):
        assert report.quarantined == 0, report.warnings
    return lake


def current(lake: Lake) -> list:
    rows = lake.living("amount", "is_paid", "note")
    return [(row[0], row[1] and str(row[1]), *row[2:]) for row in rows]


def versions(lake: Lake) -> list:
    rows = lake.history.orderBy("id", "valid_from").collect()
    return [(r.id, str(r.amount), str(r.valid_from)[:16], r.is_current) for r in rows]


VERSIONS = [
    (1, "10.00", "2026-01-01 00:00", False),
    (1, "12.00", "2026-01-05 10:00", True),
    (2, "20.50", "2026-01-01 00:00", False),
    (3, "None", "2026-01-05 11:00", True),
]


def test_files_without_names_are_read_by_the_order_of_columns(spark, tmp_path):
    # The later file by its name was written first: the sequence decides, not the file.
    lake = loaded(spark, tmp_path, BARE, LOAD, SECOND, FIRST)
    assert current(lake) == CURRENT
    assert versions(lake) == VERSIONS


ALL = ("Op", "id", "amount", "is_paid", "note", "AR_H_CHANGE_SEQ", "transact_ts")
WITH_WORD = "".join(f"I,{line}\n" for line in LOAD.splitlines())


@pytest.mark.parametrize(
    "path, text, names",
    [
        ("LOAD00000001.csv", LOAD, ALL[1:]),
        ("LOAD00000001.csv.gz", LOAD, ALL[1:]),
        ("LOAD00000001.csv", WITH_WORD, ALL),
        (PLACES[0], FIRST, ALL),
        # A file of changes without the operation is not guessed at.
        (PLACES[0], LOAD, ALL),
    ],
    ids=["load", "packed", "IncludeOpForFullLoad", "changes", "lacks it"],
)
def test_a_full_load_may_lack_the_operation(spark, tmp_path, path, text, names):
    spec = table(SPEC.format(form=BARE))
    lake = Lake(spark, tmp_path, spec)
    packed = gzip.compress(text.encode()) if path.endswith(".gz") else text
    lake.land(path, packed)
    root = lake.tables.landing
    (file,) = list_landing(lake.store, root, [path])
    assert shape_of(spark, lake.store, file, spec).names == names


def test_files_of_changes_without_names_are_not_opened_for_their_shape(spark, tmp_path):
    lake = Lake(spark, tmp_path, table(SPEC.format(form=BARE)))
    lake.land(PLACES[0], FIRST)
    (file,) = list_landing(lake.store, lake.tables.landing, [PLACES[0]])
    lake.remove(PLACES[0])
    assert shape_of(spark, lake.store, file, lake.spec).names == ALL


def test_parquet_files_have_their_types_and_the_load_no_operation(spark, tmp_path):
    form = '{type: parquet, null_text: [""]}'
    lake = Lake(spark, tmp_path, table(SPEC.format(form=form)))
    row = """{id} AS id, CAST({amount} AS decimal(10,2)) AS amount, 'f' AS is_paid,
        {note} AS note, '{seq}' AS AR_H_CHANGE_SEQ,
        CAST('2026-01-05 10:00:00' AS timestamp) AS transact_ts"""
    first = row.format(id=1, amount=10, note="CAST(NULL AS string)", seq="")
    land_parquet(lake, "LOAD00000001.parquet", first)
    made = [
        f"'U' AS Op, {row.format(id=1, amount=each, note=repr('n'), seq=SEQ % each)}"
        for each in (10, 9)
    ]
    both = " UNION ALL SELECT ".join(made)
    land_parquet(lake, "2026/01/05/20260105-100000001.parquet", both)
    reports = lake.done("full_load", "incremental")
    assert [(each.accepted, each.quarantined) for each in reports] == [(1, 0), (2, 0)]
    assert current(lake) == [(1, "10.00", False, "n")]


def test_a_table_that_is_full_refreshed_stands_where_its_path_says(spark, tmp_path):
    pattern = "reload/(?P<change_seq>[0-9]+)_(?P<changed_at>[^/]+)/"
    word = "  operation: {{column: Op}}\n"
    full_refresh = (
        f'{word}  full_refresh: {{{{pattern: "{pattern}", lost_share: 1}}}}\n'
    )
    lake = Lake(
        spark, tmp_path, table(SPEC.replace(word, full_refresh).format(form=BARE))
    )
    lake.land("LOAD00000001.csv", LOAD, at="2026-03-01")
    lake.land(PLACES[0], FIRST + SECOND, at="2026-03-02")
    row = "3,33.00,t,again,,2026-03-03 12:00:00.000000\n"
    started = f"{SEQ % 13}_2026-01-05T12-00-00"
    lake.land(f"reload/{started}/LOAD00000001.csv", row, at="2026-03-03")
    lake.done("full_load", "incremental", "scd2")
    assert current(lake) == [(3, "33.00", True, "again")]
    assert versions(lake)[-1] == (3, "33.00", "2026-01-05 12:00", True)


@pytest.mark.parametrize(
    "kind, text, value",
    [
        ("decimal(35,0)", SEQ % 1, SEQ % 1),
        ("decimal(35,0)", f"{SEQ % 1}.5", None),
        ("decimal(35,0)", f" {SEQ % 1}.0 ", SEQ % 1),
        ("decimal(38,20)", "1." + "0" * 19 + "1", "1." + "0" * 19 + "1"),
        ("decimal(38,20)", "1." + "0" * 20 + "1", None),
        ("decimal(10,2)", "11.001", None),
        ("decimal(10,2)", "11.0100", "11.01"),
        ("decimal(10,2)", "1.15e1", "11.50"),
        ("decimal(10,2)", "123456789.00", None),
        ("decimal(10,2)", "", None),
    ],
)
def test_numbers_are_read_to_their_last_digit_or_not_at_all(spark, kind, text, value):
    read = Conversion().value("t", TEXT, stored_type(kind))
    (row,) = spark.sql(f"SELECT {sql_literal(text)} AS t").selectExpr(read).collect()
    assert row[0] == (None if value is None else Decimal(value))
