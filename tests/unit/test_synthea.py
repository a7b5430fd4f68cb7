"""The generated exports of data/synthea, and the specs of their tables."""

from __future__ import annotations

import csv
from datetime import date

import pytest

from data.synthea import generate
from lake_local.__main__ import main
from tests.cases import clinic


def rows(folder, table, until):
    with (folder / table / f"{table}_{until}.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture(scope="module")
def exports(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exports")
    for until in ("2024-01-01", "2026-01-01"):
        clinic.export(folder, 120, until)
    return folder


@pytest.mark.nightly  # by day: test_a_later_export_has_more_of_the_same_patients
def test_the_same_size_seed_and_date_give_the_same_bytes(exports, tmp_path):
    clinic.export(tmp_path / "again", 120, "2024-01-01")
    clinic.export(tmp_path / "other", 120, "2024-01-01", seed=2)
    for table in clinic.SOURCES:
        name = f"{table}/{table}_2024-01-01.csv"
        first = (exports / name).read_bytes()
        assert first == (tmp_path / "again" / name).read_bytes()
        assert first != (tmp_path / "other" / name).read_bytes()


def test_a_later_export_has_more_of_the_same_patients(exports):
    for table in ("encounters", "observations"):
        first, later = (
            {tuple(row.values()) for row in rows(exports, table, until)}
            for until in ("2024-01-01", "2026-01-01")
        )
        assert first < later
    before = {row["Id"]: row for row in rows(exports, "patients", "2024-01-01")}
    after = {row["Id"]: row for row in rows(exports, "patients", "2026-01-01")}
    assert before.keys() == after.keys() and before != after


@pytest.mark.nightly  # by day: test_some_encounters_are_recorded_late
def test_encounters_are_on_each_of_the_chosen_days(tmp_path):
    first, until = date(2025, 12, 22), date(2026, 1, 1)
    generate.write(500, 1, until, tmp_path, (first, until))
    found = {row["START"][:10] for row in rows(tmp_path, "encounters", str(until))}
    assert found == {f"2025-12-{day}" for day in range(22, 32)}


def test_some_encounters_are_recorded_late(exports):
    known = {row["Id"] for row in rows(exports, "encounters", "2024-01-01")}
    later = rows(exports, "encounters", "2026-01-01")
    new = [row["START"] for row in later if row["Id"] not in known]
    assert min(new) < "2024-01-01" < max(new)


def test_what_the_products_must_drop_is_there(exports):
    patients = rows(exports, "patients", "2026-01-01")
    for column in ("MARITAL", "RACE", "ETHNICITY", "GENDER"):
        assert 0 < sum(not row[column] for row in patients) < len(patients) / 2
    for table in ("encounters", "conditions", "observations"):
        found = [tuple(row.values()) for row in rows(exports, table, "2026-01-01")]
        assert len(set(found)) < len(found)


def test_the_specs_have_no_mistakes_and_only_plain_parquet_is_built_whole(capsys):
    assert main(["validate", str(clinic.TABLES)]) == 0
    told = [e for e in capsys.readouterr().out.splitlines() if "built whole" in e]
    assert told == [
        "note: clinic.symptom_encounters is built whole each time, because it is plain "
        "Parquet (storage.type)."
    ]
