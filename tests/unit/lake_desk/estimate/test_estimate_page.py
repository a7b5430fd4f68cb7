"""docs/estimates.md has the constants and the figures of the model."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from lake_desk.estimate import rates
from lake_desk.estimate.estimate import Workload, estimate
from lake_spec.model.choices import TableType
from tests.unit.lake_desk.estimating import CHANGES, LOADS, OF_RESULTS
from tests.unit.lake_desk.estimating import estimated, workload

PAGE = (Path(__file__).parents[4] / "docs/estimates.md").read_text(encoding="utf-8")


def test_the_page_has_the_constants_of_the_code():
    rows = re.findall(r"^\| ([A-Z_, ]+) \| ([\d., ]+)[^|]*\|", PAGE, re.MULTILINE)
    told = {
        name: float(value.replace(",", ""))
        for names, values in rows
        for name, value in zip(names.split(", "), values.strip().split(", "))
    }
    assert len(told) == 16
    assert told == {name: getattr(rates, name) for name in told}


def test_the_page_has_the_figures_of_the_model():
    table = PAGE.split("By size, otherwise the same")[1].split("\n\n")[1]
    sizes = {"million": 10**6, "billion": 10**9}
    for line in table.splitlines()[2:]:
        rows, buckets, *seconds = [cell.strip() for cell in line.split("|")[1:-1]]
        count, unit = rows.split()
        load = Workload(int(count) * sizes[unit], 10**6, cores=64, keys=10**5)
        assert load.files == int(buckets)
        told = [float(each.replace(",", "")) for each in seconds]
        assert told == pytest.approx([e.seconds for e in estimate(load)], rel=0.05)


CHANGED, HISTORY = CHANGES[:1], CHANGES[1:]
AGAINST = {
    "1": [OF_RESULTS["1"]],
    "2": [OF_RESULTS["2"]],
    "3": [OF_RESULTS["3"]],
    "3a": [OF_RESULTS["3a"]],
    "4: incremental": [(rows, 2_000, CHANGED) for rows in (200_000, 2 * 10**6, 10**7)],
    "4: scd2": [(rows, 2_000, HISTORY) for rows in (200_000, 2 * 10**6, 10**7)],
    "5": [(rows, 10_000, CHANGED) for rows in (400_000, 4 * 10**6)],
    "first load": [(4 * 10**6, 1, LOADS[:1]), (4 * 10**6, 1, LOADS[1:])],
}


def test_the_page_compares_the_models_seconds_with_those_measured():
    lines = PAGE.split("## Model against measurements")[1].split("\n\n")[1].splitlines()
    told = {line.split("|")[1].strip(): line.split("|")[2] for line in lines[2:]}
    assert len(told) == len(AGAINST)
    for (start, works), (label, cell) in zip(AGAINST.items(), told.items()):
        assert label.startswith(start)
        pairs = re.findall(r"([\d.]+) / ([\d.]+)", cell)
        assert len(pairs) == len(works)
        for (seconds, _), (rows, changes, of) in zip(pairs, works):
            found = estimated(workload(rows, changes), *of)["seconds"]
            assert float(seconds) == pytest.approx(found, abs=0.051), label


LARGE = Workload(10**10, 10**6, cores=64, keys=10**5)
OTHERWISE = {
    "as above": {},
    "1,000 buckets": {"buckets": 1_000},
    "the log has grown to twice the rows": {"log_rows": 2 * 10**10},
    "256 cores": {"cores": 256},
    "10 million changes, each of another key": {"changes": 10**7, "keys": 10**7},
    "copy on write": {"storage": TableType.COPY_ON_WRITE},
}


def test_the_page_has_the_figures_of_ten_billion_rows():
    table = PAGE.split("## Ten billion rows")[1].split("\n\n")[1]
    lines = [line.split("|")[1:-1] for line in table.splitlines()[2:]]
    told = {name.strip(): [cell.strip() for cell in cells] for name, *cells in lines}
    assert list(told) == list(OTHERWISE)
    for name, (*seconds, puts) in told.items():
        found = estimate(replace(LARGE, **OTHERWISE[name]))
        for text, each in zip(seconds, found):
            assert text in (
                "",
                f"{each.seconds:,.0f} s",
                f"{each.seconds / 3600:.1f} h",
            )
        first, later = (
            sum(each.puts for each in pair) for pair in (found[:2], found[2:])
        )
        numbers = re.findall(r"[\d,]+\d", puts)
        assert numbers == [f"{first:,.0f}", f"{later:,.0f}"][-len(numbers) :], name
