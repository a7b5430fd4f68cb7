"""Which texts are numbers in a form."""

from __future__ import annotations

import re

import pytest

from lake_spec.model.number_format import DecimalMark, GroupMark, NumberFormat

COMMA, POINT = DecimalMark.COMMA, DecimalMark.POINT


@pytest.mark.parametrize(
    "form, texts",
    [
        (NumberFormat(), ["1", "-1.5", "+.5", "1.", "1e3"]),
        (NumberFormat(COMMA), ["1", "-1,5", "1234,5", ",5", "1,5E-3"]),
        (NumberFormat(COMMA, GroupMark.POINT), ["1.234,5", "12.345.678", "1234,5"]),
        (NumberFormat(COMMA, GroupMark.SPACE), ["1 234,5", "1\u00a0234", "1\u202f234"]),
        (NumberFormat(POINT, GroupMark.APOSTROPHE), ["1'234.5", "1\u2019234.5"]),
    ],
)
def test_a_form_reads(form, texts):
    assert [each for each in texts if re.fullmatch(form.pattern, each)] == texts


@pytest.mark.parametrize(
    "form, texts",
    [
        (NumberFormat(), ["1,5", "1 234", "", ".", "-", "e3"]),
        (NumberFormat(COMMA), ["1.5", "1.234,5", "1,5,5"]),
        (
            NumberFormat(COMMA, GroupMark.POINT),
            ["1.23", "1234.567", "12.34,5", "1,234.5", ".123", "1.234.", "1.2345,0"],
        ),
        (NumberFormat(COMMA, GroupMark.SPACE), ["1  234", "1.234", "12 34"]),
    ],
)
def test_a_form_guesses_nothing(form, texts):
    assert [each for each in texts if re.fullmatch(form.pattern, each)] == []
