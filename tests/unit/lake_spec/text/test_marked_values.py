"""Values in messages are marked where they are built, and left out where they are written."""

import pytest

from lake_spec.text.marked_values import (
    BEGIN,
    END,
    quoted_value,
    row_value,
    sql_value,
    unmarked,
    without_values,
)


def test_a_text_is_whole_without_its_marks_and_has_no_value_where_they_are_cut():
    words = f"name: cannot be read as int: {row_value('Ada')}. Fix {quoted_value('B')}."
    assert unmarked(words) == "name: cannot be read as int: Ada. Fix 'B'."
    assert (
        without_values(words)
        == "name: cannot be read as int: (not shown). Fix (not shown)."
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"a {BEGIN}Ada... (9 characters)", "a (not shown)"),
        (f"a {row_value(f'Ada{END} Byron')} b", "a (not shown) b"),
        (f"a {row_value(row_value('Ada') + ' Byron')} b", "a (not shown) b"),
        (f"a{END} b", "a b"),
        (f"{row_value('a')}, {row_value('b')}, {row_value('c')}.", "(not shown)."),
        (f"{row_value('a' + chr(10) + 'b')}.", "(not shown)."),
    ],
    ids=["cut off", "end in a value", "nested", "end alone", "list", "two lines"],
)
def test_no_value_gets_past_its_marks(text, shown):
    assert without_values(text) == shown


def test_sql_marks_a_text_that_has_no_mark_of_its_own():
    assert sql_value("lake_word") == (
        r"'\uFDD1' || translate(lake_word, '\uFDD1\uFDD2', '') || '\uFDD2'"
    )
