"""Every diagnostic of a rule ends with the rule's id, whose docstring explains it."""

import ast

from lake_check.parsing.loader import survey_all

from tests.unit.lake_check.spec_files import FEED, changed, rule_functions


def ids_of(specs, **changes):
    specs.put("tables/sales/orders.yml", changed(FEED, changes))
    _, survey = survey_all(
        specs.tables, clusters=specs.clusters, environments=specs.environments
    )
    return {each.rule: str(each) for each in survey.diagnostics}


def test_a_rule_of_a_book_prints_its_id_in_brackets_at_the_end(specs):
    found = ids_of(specs, key=[])
    assert found["key-has-columns"].endswith(
        "orders.yml:1: key: got []. Name the columns that identify a row, as in"
        " key: [id]. [key-has-columns]"
    )


def test_a_rule_outside_of_any_book_has_an_id_too(specs):
    assert "landing-folder-is-own" in ids_of(specs, **{"source.path": "hr/orders"})


def test_a_rule_across_tables_has_an_id_too(specs):
    specs.put("tables/sales/copies.yml", changed(FEED, {"name": "copies"}))
    assert "tables-share-no-files" in ids_of(specs)


def test_every_rule_says_what_it_refuses_and_what_to_do():
    docs = {name: ast.get_docstring(node) for name, node in rule_functions().items()}
    assert len(docs) > 100
    for name, doc in docs.items():
        first, _, rest = (doc or "").partition("\n\n")
        assert first.startswith("Refuse ") and first.endswith("."), name
        assert rest.startswith("Fix: ") and rest.endswith("."), name
