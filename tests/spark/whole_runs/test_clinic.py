"""The products of the clinic are what DuckDB computes from the same files.

Two exports of thirty patients, the second two years later: with new encounters, late ones of
the time before, and some rows that stand there twice.
"""

from __future__ import annotations

import json
import subprocess
from collections import Counter

import pytest

from lake_check.parsing.loader import load_domain
from lake_desk.products.plans import with_plans
from lake_local.workspace import project
from lake_spark.scd2.events import KEY
from tests.cases import clinic
from tests.spark.lake import Lake

pytestmark = pytest.mark.nightly  # by day: tests/spark/product, of tables of a few rows
ROOT = clinic.SYNTHEA.parents[1]
EXPORTS = ("2024-01-01", "2026-01-01")
PATIENTS = 30


@pytest.fixture(scope="module")
def lakes(spark, tmp_path_factory):
    """Those of the tables and products, with nothing landed yet."""
    root = tmp_path_factory.mktemp("clinic")
    domain = load_domain("clinic", clinic.TABLES)
    (planned,) = with_plans([domain], clinic.TABLES)
    return {
        spec.name: Lake(spark, root, spec, planned.tables) for spec in planned.tables
    }


@pytest.fixture(scope="module", params=EXPORTS)
def built(request, lakes):
    """The export with the reports of the products, after the exports before it."""
    until = request.param
    landing = lakes["patients"].root / "landing" / "clinic"
    clinic.export(landing, PATIENTS, until)
    stage = "full_load" if until == EXPORTS[0] else "incremental"
    for table in clinic.SOURCES:
        lakes[table].done(stage)
    products = [name for name in lakes if name not in clinic.SOURCES]
    return until, {name: lakes[name].done("product")[0] for name in products}


def by_duckdb(lakes, until):
    """The columns and the rows of each product."""
    landing = lakes["patients"].root / "landing" / "clinic"
    python = project.find().readers_python
    assert python.exists(), f"no {python}: run ./setup.sh --only readers"
    done = subprocess.run(
        [str(python), "-m", "tests.readers.clinic", str(landing), until],
        cwd=ROOT,
        env={"PYTHONPATH": ".", "TZ": "UTC"},
        check=True,
        stdout=subprocess.PIPE,
    )
    return json.loads(done.stdout)


def test_products_are_those_of_duckdb(lakes, built):
    until, reports = built
    expected = by_duckdb(lakes, until)
    assert sorted(expected) == sorted(reports)
    for product, (names, rows) in expected.items():
        current = lakes[product].current.drop(KEY)
        assert names == current.columns, product
        texts = [f"coalesce(CAST({name} AS string), '')" for name in names]
        found = Counter(tuple(row) for row in current.selectExpr(*texts).collect())
        assert found == Counter(tuple(value or "" for value in row) for row in rows)
        assert rows, product


def test_a_later_export_builds_only_what_it_changed(lakes, built):
    until, reports = built
    for product, report in reports.items():
        if until == EXPORTS[0]:
            assert report.built == "whole: it was never built"
        elif lakes[product].spec.storage.is_plain:
            assert report.built == "whole: it is plain Parquet (storage.type)"
            assert report.upserted == report.current_rows
        else:
            assert report.built == "in part", product
            assert 0 < report.upserted < report.current_rows / 2
            assert report.deleted == 0


def test_each_day_is_one_file(lakes, built):
    for product, depth in (
        ("symptom_encounters", 3),
        ("daily_observations", 3),
        ("sinusitis_conditions", 0),
    ):
        lake = lakes[product]
        home = lake.root / "warehouse" / "clinic" / product / "current"
        if lake.spec.storage.is_plain:
            home /= lake.tables.current.last_commit().instant
        # The versions of a file begin with the same id.
        files = {
            (file.parent, file.name.split("_")[0])
            for file in home.glob("*/" * depth + "*.parquet")
        }
        days = lake.current.select(*lake.spec.storage.partition_by).distinct()
        assert len(files) == (days.count() if depth else 1)
        assert len({folder for folder, _ in files}) == len(files)
        assert len(files) > 20 or not depth
