"""Glossaries of domains: terms, their meaning and their other words."""

from __future__ import annotations

import pytest

from tests.unit.lake_check.spec_files import DOMAIN, diagnostics_of_file

FILE = "tables/sales/_domain.yml"


def diagnostics(specs, glossary):
    return diagnostics_of_file(specs, FILE, DOMAIN, {"glossary": glossary})


def test_terms_have_a_meaning_and_may_have_synonyms(specs):
    born = {"description": "Day on which a person was born", "synonyms": ["birthday"]}
    assert diagnostics(specs, {"date of birth": born, "net": "Without taxes"}) == []


@pytest.mark.parametrize(
    "glossary, message",
    [
        ({"net": {"synonyms": ["x"]}}, "glossary.net.description: missing."),
        ({"net": ""}, "glossary.net.description: got ''. Write 1 to 255 characters."),
        ({"a{{b": "Words"}, "got 'a{{b'. Write 1 to 64 letters"),
        (
            {"net": {"description": "Without taxes", "synonyms": ["a\tb"]}},
            "glossary.net.synonyms[0]: got",
        ),
        (
            {
                "client": {"description": "Who orders", "synonyms": ["buyer"]},
                "customer": {"description": "Who pays", "synonyms": ["Buyer"]},
            },
            "glossary.customer.synonyms[0]: got 'Buyer'. It stands for 'client' already",
        ),
    ],
)
def test_what_no_search_could_use_is_refused(specs, glossary, message):
    found = diagnostics(specs, glossary)
    assert any(message in each for each in found), found
