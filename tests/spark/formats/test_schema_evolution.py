"""Files whose columns change, in tables that go on: contract section 5.

Parquet files tell three shapes of one table: `narrow`, then `wide` (every
declared type widened, fields and a column added, other order and case), then
`narrow` again, late, between the two. Key 1 changes, key 2 is only seen before,
key 3 once more as the double that a database makes of a float.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from decimal import Decimal

import pytest

from lake_spec.model import Column
from lake_spark.schema.promotion import is_same, stored_type
from tests.kinds import TABLE_TYPES
from tests.spark.lake import LOAD_AND_CHANGES, Lake, stored, table
from tests.spark.parquet_files import land_parquet

SPEC = LOAD_AND_CHANGES + """  format: {type: parquet}
columns:
  id: int
  ts: timestamp
  whole: int
  small: smallint
  real: float
  exact: "decimal(6,2)"
  day: date
  place: "struct<x:float,names:array<string>>"
  sizes: "array<int>"
  deep: "map<string,struct<n:int>>"
key: [id]
order_by: [ts]
storage: {buckets: 1}
maintenance: {cluster_after: 3, keep_commits: 2}
"""
WIDER = {
    "id": "bigint",
    "whole": "bigint",
    "small": "bigint",
    "real": "double",
    "exact": "decimal(20,4)",
    "day": "timestamp",
    "place": "struct<names:array<string>,x:double,country:string>",
    "sizes": "array<bigint>",
    "deep": "map<string,struct<n:bigint>>",
}
NARROW = """
    CAST({id} AS int) AS id, CAST('{ts}' AS timestamp) AS ts, 7 AS whole,
    CAST(3 AS smallint) AS small, CAST({real} AS {kind}) AS real,
    CAST(1.50 AS decimal(6,2)) AS exact, CAST('2026-01-02' AS date) AS day,
    named_struct('x', CAST(0.1 AS float), 'names', array('n', null)) AS place,
    array(1, null) AS sizes, map('k', named_struct('n', 1)) AS deep, 1 AS extra
"""
WIDE = """
    map('k', named_struct('n', CAST(1 AS bigint), 'More', 'm')) AS deep,
    array(CAST(1 AS bigint), null) AS sizes, CAST({whole} AS bigint) AS WHOLE,
    named_struct('Names', array('n', null), 'country', {country}, 'X', 0.1D) AS Place,
    CAST('2026-01-02' AS timestamp) AS day, CAST(1.5 AS decimal(20,4)) AS exact,
    {real} AS real, CAST(3 AS bigint) AS small, CAST('{ts}' AS timestamp) AS ts,
    CAST({id} AS bigint) AS id, CAST(5000000000 AS bigint) AS extra, 'new' AS added
"""


@pytest.fixture(scope="module", params=TABLE_TYPES, ids=lambda kind: kind.value)
def things(request, spark, tmp_path_factory):
    """Narrow, wide and late narrow files, with the maintenance after each."""
    root = tmp_path_factory.mktemp("shapes")
    lake = Lake(spark, root, stored(table(SPEC), type=request.param))
    narrow = {"ts": "2026-01-01", "real": "0.1", "kind": "float"}
    for id in (1, 2, 3):
        land_parquet(lake, f"load/{id}", NARROW.format(id=id, **narrow))
    lake.done("full_load", "scd2", "maintenance")
    columns = [
        (name, replace(column, type=WIDER.get(name, column.type)))
        for name, column in lake.spec.columns
    ]
    lake.spec = replace(lake.spec, columns=tuple(columns))
    wide = {"id": 1, "whole": 7, "real": "0.1D", "country": "CAST(null AS string)"}
    land_parquet(lake, "changes/5", WIDE.format(ts="2026-01-05", **wide))
    wide.update(whole=9_000_000_000, country="'AT'")
    land_parquet(lake, "changes/7", WIDE.format(ts="2026-01-07", **wide))
    narrow.update(ts="2026-01-08", real="CAST(0.1 AS float)", kind="double")
    land_parquet(lake, "changes/8", NARROW.format(id=3, **narrow))
    lake.done("incremental", "scd2", "maintenance")
    late = NARROW.format(id=1, ts="2026-01-06", real="0.5", kind="float")
    land_parquet(lake, "changes/late", late)
    lake.done("incremental", "scd2", "maintenance")
    return lake


def test_the_tables_have_the_wider_types(things):
    wanted = {**WIDER, "extra": "bigint", "added": "string"}
    wanted["deep"] = "map<string,struct<n:bigint,More:string>>"
    for rows in (things.current, things.history, things.changes):
        found = dict(rows.dtypes)
        for name, kind in wanted.items():
            # Hudi keeps the fields of a struct in the order in which they came.
            assert is_same(stored_type(found[name]), stored_type(kind)), name


def test_history_goes_on_over_the_change_of_shape(things):
    columns = ("whole", "real", "extra", "added", "place.country", "deep['k'].More")
    days = [
        (*row[:-2], row[-2][8:10], row[-1] and row[-1][8:10])
        for row in things.versions(*columns)
    ]
    assert days == [
        (1, 7, 0.1, 1, None, None, None, "01", "05"),
        (1, 7, 0.1, 5_000_000_000, "new", None, "m", "05", "06"),
        (1, 7, 0.5, 1, None, None, None, "06", "07"),
        (1, 9_000_000_000, 0.1, 5_000_000_000, "new", "AT", "m", "07", None),
        (2, 7, 0.1, 1, None, None, None, "01", None),
        (3, 7, 0.10000000149011612, 1, None, None, None, "01", None),
    ]


def test_older_rows_have_their_values_in_the_wider_types(things):
    names = ["small", "exact", "day", "place", "sizes", "deep", "added"]
    for rows in (things.current, things.history, things.changes):
        (row,) = rows.where("id = 2").select(names).collect()
        place, deep = row.place.asDict(), {k: v.asDict() for k, v in row.deep.items()}
        assert (row.small, row.exact, row.sizes) == (3, Decimal("1.5"), [1, None])
        assert row.day == datetime(2026, 1, 2) and row.added is None
        assert place == {"x": 0.1, "names": ["n", None], "country": None}
        assert deep == {"k": {"n": 1, "More": None}}


def test_the_log_never_changes_a_stored_type(things):
    found = dict(things.tables.log.read_stored().dtypes)
    assert (found["exact"], found["lake_2_exact"]) == ("decimal(6,2)", "decimal(20,4)")
    assert (found["day"], found["lake_2_day"]) == ("date", "timestamp")
    assert "lake_2_added" not in found


def test_a_rebuild_from_the_log_gives_the_same_tables(things):
    names = sorted(things.history.columns)
    before = things.history.select(names).collect(), things.living("whole", "extra")
    things.done("rebuild")
    after = things.history.select(names).collect(), things.living("whole", "extra")
    assert sorted(after[0], key=str) == sorted(before[0], key=str)
    assert after[1] == before[1]


@pytest.mark.parametrize(
    "name, column, words",
    [
        (
            "field",
            "named_struct('x', CAST(1 AS boolean)) AS place",
            "column 'place.x' is boolean, but the table's column 'place' is double there",
        ),
        (
            "column",
            "CAST(1 AS decimal(38,0)) AS whole",
            "column 'whole' is decimal(38,0), but the table's column 'whole' is bigint there",
        ),
        (
            "new",
            "named_struct('a b', 1) AS fresh",
            "column 'fresh' has the undeclared field 'a b', which is not a valid name",
        ),
    ],
)
def test_a_file_of_another_type_is_set_aside_and_nothing_written(
    things, name, column, words
):
    land_parquet(things, f"changes/{name}", f"1L AS id, now() AS ts, {column}")
    before = things.files()
    report = things.run("incremental")
    (things.root / "landing/tests/things" / report.set_aside[0]["path"]).unlink()
    assert words in report.error["message"]
    assert things.files() == before


def test_a_column_is_not_declared_narrower_than_its_values(things):
    columns = (*things.spec.columns, ("extra", Column("int")))
    lake = Lake(things.spark, things.root, replace(things.spec, columns=columns))
    land_parquet(
        lake, "changes/same", "1L AS id, CAST('2026-01-09' AS timestamp) AS ts"
    )
    report = lake.run("incremental")
    (lake.root / "landing/tests/things/changes/same").unlink()
    assert report.error["type"] == "SettingsChanged"
    assert "columns.extra.type is int, but the change log has bigint" in str(report)
