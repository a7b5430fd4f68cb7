"""References in a product's SQL become names of views, in the lines where they stand."""

import pytest

from lake_spec.text.sql_references import Reference, find_references

TEXT = """\
-- {{ current('a.comment') }}
SELECT '{{ a text }}', "{{ another }}", `{{ a name }}`, 'it''s \\\\'
FROM {{ current('shop.orders') }} AS o /* {{
*/ JOIN {{
  as_of( history("crm.customer") , O.At )
}}AS c ON TRUE
JOIN {{history('crm.customer')}} h
"""


def test_references_are_found_outside_of_texts_names_and_comments():
    found = find_references(TEXT)
    assert found.references == (
        Reference("input_0", "shop.orders", "current", 3),
        Reference("input_1", "crm.customer", "history", 4, ("o", "at")),
        Reference("input_2", "crm.customer", "history", 7),
    )
    assert found.bad == ()
    assert found.tables == ("shop.orders", "crm.customer")


def test_a_backslash_ends_no_raw_text():
    found = find_references(
        r"SELECT r'\', R" + '"{{" ' + r""", xr'\'{{ ' FROM {{ current('a.b') }}"""
    )
    assert found.tables == ("a.b",) and found.bad == ()


def test_lines_stay_what_they_are():
    lines = find_references(TEXT).sql.split("\n")
    assert len(lines) == len(TEXT.split("\n"))
    assert lines[:2] == TEXT.split("\n")[:2]
    assert lines[2] == "FROM input_0  AS o /* {{"
    assert lines[5] == "AS c ON TRUE"


@pytest.mark.parametrize(
    "text",
    [
        "{{ current(shop.orders) }}",
        "{{ current('shop.orders'",
        "{{ current('shop.orders').x }}",
        "{{ current('Shop.Orders') }}",
        "{{ current('shop.orders') + 1 }}",
        "{{ var('x') }}",
        "{{ as_of(history('crm.customer'), now()) }}",
        "{{ as_of(history('crm.customer'), at) }}",
        "{% for x in y %}",
        "{# no comment #}",
    ],
)
def test_other_braces_are_refused_with_their_line(text):
    found = find_references(f"SELECT 1\nFROM {text}")
    assert found.references == ()
    assert [each.line for each in found.bad] == [2]
