"""The example domains of tests/cases: what lands leads to the tables that stand there."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from lake_check.parsing.loader import domain_names, load_domain
from tests.kinds import one_by_day
from tests.spark.lake import Lake

CASES = Path(__file__).resolve().parents[2] / "cases"
NAMES = sorted(each.parent.name for each in CASES.glob("*/tables"))


@pytest.fixture(scope="module", params=one_by_day(NAMES))
def case(request):
    return CASES / request.param


@pytest.fixture(scope="module")
def lakes(spark, tmp_path_factory, case):
    """A lake of each table after all rounds; those that are referred to go first."""
    (domain,) = domain_names(case / "tables")
    specs = load_domain(domain, case / "tables").tables
    root = tmp_path_factory.mktemp(case.name)
    found = {each.name: Lake(spark, root, each, specs) for each in specs}
    for folder in sorted((case / "landing").iterdir()):
        for file in filter(Path.is_file, folder.rglob("*")):
            to = root / "landing" / file.relative_to(folder)
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_bytes(file.read_bytes())
        for lake in sorted(found.values(), key=lambda lake: bool(lake.spec.enrich)):
            stages = ["full_load"] if folder.name == "1" else []
            for report in lake.done(*stages, "incremental", "scd2"):
                assert not report.quarantined and not report.warnings
    return found


def expected(file: Path) -> tuple:
    """The names and the rows of an expected table."""
    with file.open(encoding="utf-8", newline="") as stream:
        names, *rows = csv.reader(stream)
    return names, sorted(rows)


def test_the_tables_are_those_that_stand_there(case, lakes):
    files = sorted((case / "expected").glob("*.csv"))
    assert files
    for file in files:
        names, rows = expected(file)
        lake = lakes[file.stem.replace("_history", "")]
        shown = lake.history if file.stem.endswith("_history") else lake.current
        texts = [f"coalesce(CAST({name} AS string), '')" for name in names]
        found = sorted(list(row) for row in shown.selectExpr(*texts).collect())
        assert found == rows, file.name


def test_a_rebuild_of_the_change_log_gives_the_same(lakes):
    for lake in lakes.values():
        assert lake.verify().error is None
