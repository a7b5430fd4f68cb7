"""Readers of a domain: roles, and tables and columns that there are."""

from __future__ import annotations

import pytest

from tests.unit.lake_check.spec_files import DOMAIN, diagnostics_of_file

FILE = "tables/sales/_domain.yml"


def diagnostics(specs, **reader):
    return diagnostics_of_file(specs, FILE, DOMAIN, {"readers": [reader]})


@pytest.mark.parametrize(
    "reader",
    [
        {"role": "analysts"},
        {"role": "arn:aws:iam::111122223333:role/path/analysts"},
        {"role": "analysts", "tables": ["orders"]},
        {"role": "analysts", "tables": ["orders"], "columns": ["order_id", "status"]},
    ],
)
def test_a_role_that_reads_what_there_is_passes(specs, reader):
    assert diagnostics(specs, **reader) == []


@pytest.mark.parametrize(
    "reader, message",
    [
        ({"role": "a b"}, "readers[0].role: got 'a b'. Write the name of an IAM role"),
        ({"role": "arn:aws:iam::1:user/a"}, "readers[0].role: got 'arn:aws:iam::1:us"),
        (
            {"role": "a", "tables": ["order"]},
            "readers[0].tables[0]: unknown table: 'order'. Did you mean 'orders'? "
            "Choose from: orders.",
        ),
        (
            {"role": "a", "tables": ["orders"], "columns": ["statsu"]},
            "readers[0].columns[0]: unknown column of orders: 'statsu'. Did you mean "
            "'status'? Choose from: order_id, status, amount",
        ),
        (
            {"role": "a", "columns": ["status"]},
            "readers[0].columns: got ['status']. List the tables that have these",
        ),
        (
            {"role": "a", "tables": ["Orders; x"]},
            "readers[0].tables[0]: got 'Orders; x'",
        ),
        ({"role": "a", "table": ["orders"]}, "readers[0].table: unknown key. Did you"),
        ({"tables": ["orders"]}, "readers[0].role: missing. Name of an IAM role"),
    ],
)
def test_what_no_role_can_read_is_refused(specs, reader, message):
    found = diagnostics(specs, **reader)
    assert any(message in each for each in found), found
