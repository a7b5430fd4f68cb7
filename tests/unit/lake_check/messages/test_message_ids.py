"""Ids of the catalogue are found in causes and warnings; other names are not."""

import pytest

from lake_check.messages.message_ids import help_lines, ids_in


@pytest.mark.parametrize(
    "text, ids",
    [
        ("sales.orders full_load: TooManyBadRows: 9 rows", ("TooManyBadRows",)),
        ("sales.orders full_load: set aside: WrongPath: a.csv: no", ("WrongPath",)),
        ("QuarantinedRows: 2 rows", ("QuarantinedRows",)),
        ("sales.orders full_load: no report: the stage did not finish", ()),
        ("sales: no cluster was created: Details: refused", ()),
        ("sales.orders full_load: ValueError: no", ()),
        ("sales.orders full_load: AnalysisException: no", ()),
    ],
)
def test_the_first_id_of_a_text(text, ids):
    assert ids_in([text]) == ids


def test_each_id_once_in_the_order_of_the_texts():
    texts = ["a: TooManyBadRows: 1", "b: LateSource: 2", "c: TooManyBadRows: 3"]
    assert help_lines(texts) == (
        "Help: docs/reference/messages.md (TooManyBadRows, LateSource)",
    )


def test_no_line_without_an_id():
    assert help_lines(["a: the stage did not end"]) == ()
