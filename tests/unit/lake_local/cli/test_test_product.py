"""`test-product`: what is asked of which engine, and what is said of the outcome."""

import pytest

from lake_desk.products.product_tests import tests_of as read_tests
from lake_local.cli.commands import test_product as command
from lake_local.errors import BadRequest
from lake_local.workspace.project import find
from lake_local.workspace.specs import specs_of

CLINIC = "clinic.sinusitis_conditions"


@pytest.fixture(scope="module")
def clinic():
    """The example's specs, and its domains with plans."""
    specs = specs_of(find(), find().root / "data/synthea/tables")
    return specs, specs.planned_domains()


def test_the_examples_tests_are_asked_with_the_columns_of_their_tables(clinic):
    specs, domains = clinic
    found = command.chosen(specs, domains, [])
    (asked,) = command.questions(domains, found)
    assert asked["name"] == CLINIC
    assert {name for name, _ in asked["views"].values()} == {
        "clinic.conditions",
        "clinic.patients",
    }
    assert asked["columns"]["age_in_days"] == "int"
    (in_duckdb,), others = command.in_duckdbs_words([asked])
    assert "`" not in in_duckdb["sql"] and others == []


def test_sql_without_words_of_duckdb_is_for_spark_and_said(clinic, capsys):
    asked = {"name": "shop.hashed", "sql": "SELECT hash(id) AS h FROM input_0"}
    assert command.in_duckdbs_words([asked]) == ([], [asked])
    said = capsys.readouterr().err
    assert said.startswith(
        "shop.hashed: DuckDB does not run its SQL, so Spark does: hash"
    )


@pytest.mark.parametrize(
    "name, message",
    [
        (
            "clinic.daily_observations",
            "has no tests. Write some into .*clinic/daily_obs",
        ),
        ("clinic.sinusitis", "Did you mean 'clinic.sinusitis_conditions'"),
    ],
)
def test_a_product_without_tests_is_refused(clinic, name, message):
    with pytest.raises(BadRequest, match=message):
        command.chosen(*clinic, [name])


def test_mistakes_of_a_file_are_said_before_anything_runs(clinic, monkeypatch):
    specs, domains = clinic
    found = read_tests(domains, specs.tables)
    found[CLINIC].diagnostics.append("conditions.tests.yml:1: got 7.")
    monkeypatch.setattr(command, "tests_of", lambda *_: found)
    with pytest.raises(BadRequest, match="tests.yml:1: got 7"):
        command.chosen(specs, domains, [])


def test_a_lake_without_tests_is_told_where_to_write_them():
    specs = specs_of(find(), None)
    with pytest.raises(BadRequest, match="no product of .* has tests"):
        command.chosen(specs, specs.planned_domains(), [])


def test_rows_that_differ_are_shown_and_counted():
    outcome = {
        "name": "shop.named",
        "failed": None,
        "tests": [
            {"name": "first", "columns": ["id"], "missing": [], "unexpected": []},
            {
                "name": "second",
                "columns": ["id", "name"],
                "missing": [["1", None]],
                "unexpected": [[str(n), "Ann"] for n in range(12)],
            },
        ],
    }
    lines = list(command.told(outcome))
    assert lines[:2] == ["shop.named: first: passed", "shop.named: second: FAILED"]
    assert lines[4:6] == ["  missing     1   null", "  unexpected  0   Ann"]
    assert lines[-1] == "  and 2 more"


def test_sql_that_fails_is_said():
    outcome = {"name": "shop.named", "failed": "no column idd", "tests": []}
    assert list(command.told(outcome)) == ["shop.named: its SQL fails: no column idd"]
