"""A domain that grows without an end, or has nothing to run, is told by `validate`."""

import json

import pytest

from lake_desk.products.plans import check
from tests.unit.lake_check.spec_files import DOMAIN

HOURLY, WEEKLY = {"incremental": "@hourly"}, {"maintenance": "0 3 * * 0"}


def notes_of(specs, schedules):
    domain = {**DOMAIN, "schedules": schedules}
    specs.put("tables/sales/_domain.yml", json.dumps(domain))
    _, faults, notes = check(specs.tables)
    assert faults == []
    assert {each.file for each in notes} <= {f"{specs.tables}/sales/_domain.yml"}
    return [str(each) for each in notes]


def test_a_schedule_without_one_for_maintenance(specs):
    assert notes_of(specs, HOURLY) == [
        "warning: sales runs by a schedule, and its maintenance does not: files and "
        "metadata that each commit leaves behind stay for ever, and each run reads more "
        'of them. Add a schedule, as in `maintenance: "0 3 * * 0"`.'
    ]


@pytest.mark.parametrize("schedules", [{}, WEEKLY, {**HOURLY, **WEEKLY}])
def test_others_are_not(specs, schedules):
    assert notes_of(specs, schedules) == []


def test_a_domain_without_tables(specs):
    for path in (specs.tables / "sales").glob("orders*"):
        path.unlink()
    assert notes_of(specs, HOURLY) == ["note: sales has no table, and so no DAGs."]
