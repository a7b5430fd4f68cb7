"""docs/how-history-is-kept.md shows what the tables hold.

The files of all examples of a spec are landed together, one after the other, in a
lake of their own; after each of which the page shows a table, the stages are run and
the tables are printed as `show` prints them.
"""

from __future__ import annotations

import csv
import io
import os
import time
from typing import Dict, List

import pytest
from pyspark.sql import Row

from docs.pictures import page
from lake_local.show import reading
from lake_local.show.request import Request
from lake_local.show.writing import write
from tests.spark.lake import Lake, table

pytestmark = pytest.mark.nightly  # each rule of the page has tests of its own by day

SPECS, EXAMPLES = page.read()
CASES = {
    f"{example.title}: {shown.layer} after {shown.file}": (example, shown)
    for example in EXAMPLES
    for shown in example.tables
}


@pytest.fixture(scope="module", autouse=True)
def in_utc():
    """Spark hands out times in the zone of the process, and `show` runs in UTC."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = "UTC"
    time.tzset()
    yield
    os.environ.pop("TZ") if before is None else os.environ.update(TZ=before)
    time.tzset()


@pytest.fixture(scope="module")
def lakes(spark, tmp_path_factory) -> Dict[str, Lake]:
    """A lake for each spec, empty."""
    return {
        name: Lake(spark, tmp_path_factory.mktemp(name), table(text))
        for name, text in SPECS.items()
    }


@pytest.fixture(scope="module")
def printed(lakes) -> Dict[str, str]:
    """What is printed for each case."""
    found = {}
    for name, lake in lakes.items():
        cases = {case: each for case, each in CASES.items() if each[0].spec == name}
        for file in dict.fromkeys(
            file for each, _ in cases.values() for file in each.files
        ):
            lake.land(file, merged(name, file), at="2026-02-01")
            now = {case: each for case, each in cases.items() if each[1].file == file}
            if now:
                lake.done("full_load", "incremental", "scd2")
                found.update(shown_by(lake, now))
    return found


def merged(spec: str, file: str) -> str:
    """The records of all examples of a spec that are in a file of this name."""
    ours = [each for each in EXAMPLES if each.spec == spec and file in each.files]
    records = [record for each in ours for record in each.events(file)]
    names = list(dict.fromkeys(name for record in records for name in record))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()


def shown_by(lake: Lake, cases: Dict[str, tuple]) -> Dict[str, str]:
    """Cases of one moment with what is printed for them; every table is read once."""
    tables = {
        layer: rows_of(lake, layer) for layer in {t.layer for _, t in cases.values()}
    }
    return {
        case: printed_rows(tables[shown.layer], example, shown)
        for case, (example, shown) in cases.items()
    }


def rows_of(lake: Lake, layer: str) -> List[Row]:
    path = f"{lake.root}/warehouse/tests/things/{layer}"
    order = {"history": ("id", "valid_from"), "quarantine": ("lake_record",)}
    request = Request("tests.things", layer, path, order=order.get(layer, ("id",)))
    return reading.rows(lake.spark, request).collect()


def printed_rows(rows: List[Row], example: page.Example, shown: page.Table) -> str:
    """The example's rows and the page's columns, as `show --format table` prints them."""
    ids = {record["id"] for file in example.files for record in example.events(file)}
    ours = [
        [row[name] for name in shown.columns]
        for row in rows
        if shown.layer == "quarantine" or str(row["id"]) in ids
    ]
    return "".join(write(shown.columns, ours, "table"))


@pytest.mark.parametrize("case", CASES)
def test_the_page_shows_what_the_table_holds(printed, case):
    assert printed[case] == CASES[case][1].text


def test_a_run_without_a_new_file_writes_nothing(printed, lakes):
    lake = lakes["customers"]
    before = lake.files()
    lake.done("incremental", "scd2")
    assert lake.files() == before
