"""The estimator against what was measured, and what it invariants of growth.

The check compares stored data and times nothing. Where new results of the benchmarks
break it, the constants in rates.py are to be derived again: docs/estimates.md.
"""

from __future__ import annotations

import ast
import json
from dataclasses import replace
from pathlib import Path

import pytest

from lake_desk.estimate import rates
from lake_desk.estimate.estimate import FULL_LOAD, INCREMENTAL, SCD2, Workload
from lake_spec.diagnostics.errors import NoEstimate
from lake_spec.model.choices import HUDI_TYPES, TableType
from tests.unit.lake_desk.estimating import OF_RESULTS, estimated, stages, workload

ROOT = Path(__file__).parents[4]
CALIBRATION = {
    each["id"]: each
    for each in json.loads((ROOT / "benchmarks/results/calibration.json").read_text())
}
FACTOR = 2.0
COW = TableType.COPY_ON_WRITE


def measured(id):
    """The medians of our side."""
    more = CALIBRATION[id]["more"].items()
    return {name[len("ours_") :]: v for name, v in more if name.startswith("ours_")}


@pytest.mark.parametrize("figure", ["seconds", "read", "written"])
@pytest.mark.parametrize("id", list(OF_RESULTS))
def test_what_was_measured_is_estimated_within_a_factor(id, figure):
    rows, changes, of = OF_RESULTS[id]
    assert f"{rows:,} rows" in CALIBRATION[id[0]]["what"]
    assert CALIBRATION[id]["spark"].startswith("local[2]")
    ratio = estimated(workload(rows, changes), *of)[figure] / measured(id)[figure]
    assert 1 / FACTOR <= ratio <= FACTOR, f"{figure} of result {id}: {ratio:.2f}"


@pytest.mark.parametrize("id", ["2", "3", "3a"])
def test_as_many_objects_are_estimated_as_files_were_counted(id):
    rows, changes, of = OF_RESULTS[id]
    files = estimated(workload(rows, changes), *of)["files"]
    assert files == pytest.approx(measured(id)["files"], abs=1)


@pytest.mark.parametrize("id, changes", [("4a", 2_000), ("4b", 2_000), ("5", 10_000)])
def test_growth_is_estimated_as_it_was_measured(id, changes):
    more = CALIBRATION[id]["more"]
    for nth, rows in enumerate(more["rows"]):
        found = stages(workload(rows, changes))
        for stage in (INCREMENTAL, SCD2):
            seen = more["seconds"][stage][nth]
            ratio = found[INCREMENTAL, stage].seconds / seen
            assert (
                1 / FACTOR <= ratio <= FACTOR
            ), f"{stage} of {rows:,} rows: {ratio:.2f}"


def test_the_objects_of_a_run_are_those_counted_in_a_lake():
    """Of 20,000 rows in two buckets: log 1 + 3, current 2 + 3, inputs, report; history
    2 + 3 and its report. Of larger tables the deliveries that are left come to it."""
    found = stages(Workload(rows=1_000_000, changes=2_000, cores=2, buckets=2))
    left = 2 + 1
    assert found[INCREMENTAL, INCREMENTAL].files == pytest.approx(11 + left)
    assert found[INCREMENTAL, SCD2].files == pytest.approx(6)
    # Log and current: 2 + 3 and two of a new table each; inputs, report.
    assert found[FULL_LOAD, FULL_LOAD].files == pytest.approx(16)


def test_files_are_as_large_as_those_listed_of_a_million_rows():
    found = stages(Workload(rows=1_000_000, changes=2_000, cores=2, buckets=2))
    listed = {
        FULL_LOAD: 40_950_321 + 40_915_262 + 41_983_393 + 41_961_416,
        SCD2: 51_492_444 + 51_493_769,
    }
    for stage, size in listed.items():
        assert found[FULL_LOAD, stage].written == pytest.approx(size, rel=0.05)


SIZES = (1_000, 50_000, 3_000_000, 10_000_000_000)


@pytest.mark.parametrize("storage", HUDI_TYPES)
@pytest.mark.parametrize("cores", [1, 2, 64])
def test_more_rows_never_take_less(cores, storage):
    loads = [
        Workload(rows=rows, changes=500, cores=cores, buckets=16, storage=storage)
        for rows in SIZES
    ]
    for less, more in zip(map(stages, loads), map(stages, loads[1:])):
        for stage in less:
            for name in ("seconds", "read", "written", "puts", "files"):
                few, many = getattr(less[stage], name), getattr(more[stage], name)
                assert few <= many * (1 + 1e-9), (stage, name)


@pytest.mark.parametrize("storage", HUDI_TYPES)
@pytest.mark.parametrize("rows", SIZES)
def test_more_cores_never_take_longer(rows, storage):
    loads = [
        Workload(rows=rows, changes=500, cores=cores, storage=storage)
        for cores in (1, 2, 3, 4, 7, 16, 64, 500, 4096)
    ]
    for fewer, more in zip(map(stages, loads), map(stages, loads[1:])):
        for stage in fewer:
            assert more[stage].seconds <= fewer[stage].seconds * (1 + 1e-9), stage


def test_scd2_does_not_grow_with_the_table_where_it_is_merged_on_read():
    small = Workload(rows=100_000, changes=2_000, cores=4, buckets=8)
    large = replace(small, rows=10_000_000_000)
    assert stages(small)[INCREMENTAL, SCD2] == stages(large)[INCREMENTAL, SCD2]


def test_scd2_reads_the_log_again_where_the_touched_keys_are_too_many_to_be_left():
    few = Workload(rows=10**9, changes=rates.MOST_LEFT, cores=4, latency=0)
    many = replace(few, changes=rates.MOST_LEFT + 1)
    more = (
        stages(many)[INCREMENTAL, SCD2].seconds - stages(few)[INCREMENTAL, SCD2].seconds
    )
    assert more == pytest.approx(rates.SCAN * 1_000 / 4, rel=0.01)


def test_that_many_keys_are_left_as_the_stages_leave():
    tree = ast.parse(
        (ROOT / "spark_jobs/lake_spark/materialize/affected_keys.py").read_text()
    )
    (most,) = [
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and node.targets[0].id == "MOST_KEYS"
    ]
    assert most == rates.MOST_LEFT


def test_incremental_grows_by_the_scan_of_the_log_alone():
    small = Workload(rows=1_000_000, changes=2_000, cores=4, buckets=8, latency=0)
    large = replace(small, rows=3_000_000)
    few, many = (stages(load)[INCREMENTAL, INCREMENTAL] for load in (small, large))
    assert many.seconds - few.seconds == pytest.approx(2 * rates.SCAN / 4)
    assert (many.written, many.puts) == pytest.approx((few.written, few.puts))


def test_a_log_that_grew_is_scanned_whole():
    new = Workload(rows=1_000_000, changes=2_000, cores=2, latency=0)
    old = replace(new, log_rows=5_000_000)
    few, many = (stages(load)[INCREMENTAL, INCREMENTAL] for load in (new, old))
    assert many.seconds - few.seconds > 4 * rates.SCAN / 2


def test_copy_on_write_writes_touched_files_whole():
    one = Workload(rows=1_000_000, changes=1, cores=4, buckets=10, storage=COW)
    spread = replace(one, changes=100_000)
    whole = 1_000_000 * (rates.ROW_BYTES + rates.VERSION_BYTES)
    assert stages(one)[INCREMENTAL, SCD2].written == pytest.approx(whole / 10, rel=0.1)
    assert stages(spread)[INCREMENTAL, SCD2].written > whole
    appended = stages(replace(one, storage=TableType.MERGE_ON_READ))
    assert appended[INCREMENTAL, SCD2].written < 1_000


def test_a_request_that_takes_longer_makes_every_stage_longer():
    near, far = (
        stages(Workload(rows=10_000, changes=10, cores=2, latency=latency))
        for latency in (0, 0.2)
    )
    assert all(far[stage].seconds > near[stage].seconds for stage in near)


def test_buckets_are_proposed_by_rows_and_by_their_bytes():
    load = Workload(rows=10_000_000, changes=10, cores=2)
    assert (load.files, load.proposed) == (16, 16)
    assert replace(load, row_bytes=2 * rates.ROW_BYTES).proposed == 30
    assert replace(load, buckets=4).files == 4


@pytest.mark.parametrize(
    "name, value, words",
    [
        ("rows", 0, "rows: got 0. Write a number of at least 1."),
        ("changes", -1, "changes: got -1. Write a number of at least 1."),
        ("cores", 0, "cores: got 0. Write a number of at least 1."),
        (
            "row_bytes",
            float("nan"),
            "row_bytes: got nan. Write a number of at least 1.",
        ),
        ("latency", -1, "latency: got -1. Write a number from 0 to 60."),
        ("buckets", 1001, "buckets: got 1001. Write a number from 1 to 1,000."),
        ("keys", 11, "keys: got 11. Write a number from 1 to 10."),
        ("log_rows", 99, "log_rows: got 99. Write a number of at least 100."),
    ],
)
def test_what_cannot_be_is_refused_by_name(name, value, words):
    given = {"rows": 100, "changes": 10, "cores": 2, name: value}
    with pytest.raises(NoEstimate) as refused:
        Workload(**given)
    assert str(refused.value) == words
