"""Which of the table's columns a file lacks: contract section 5."""

from __future__ import annotations

import pytest

from lake_check.parsing.loader import load_domain
from lake_spark.formats.file_schema import Shape
from lake_spark.formats.missing_columns import missing_columns
from lake_spark.schema.columns import TEXT

DOMAIN = "name: tests\ndescription: Tables of tests of columns\nowner: test-team\n"
THINGS = """
name: things
description: Things with columns of every kind
owner: test-team
source:
  kind: feed
  path: tests/things
  format: {{type: {form}}}
  operation: {{column: op}}
  ignore_columns: [total]
  {more}
columns:
  id: int
  ts: timestamp
  name: {{type: string, source: [full_name, nm]}}
  size: {{type: int, dropped: true}}
  since: timestamp
  city: {{type: string, source: [address.city]}}
key: [id]
order_by: [ts]
effective_at: since
"""
OF_TABLE = [(name, "string") for name in ("id", "ts", "name", "size", "since", "city")]


@pytest.fixture
def spec(tmp_path, request):
    form, more = getattr(request, "param", ("csv", ""))
    domain = tmp_path / "tests"
    domain.mkdir()
    (domain / "_domain.yml").write_text(DOMAIN)
    (domain / "things.yml").write_text(THINGS.format(form=form, more=more))
    return load_domain("tests", tmp_path).tables[0]


def missing(spec, *names, columns=OF_TABLE, is_load=False):
    shape = Shape(tuple((name, TEXT) for name in names))
    return missing_columns(spec, shape, columns, is_load=is_load)


@pytest.mark.parametrize(
    "names, lacking",
    [
        (("id", "ts", "full_name", "since", "address.city"), []),
        (("ID", "TS", "NM", "SINCE", "Address.City"), []),
        (("id", "ts", "name", "since", "city"), ["name", "city"]),
        ((), ["name", "since", "city"]),
    ],
)
def test_a_column_is_missing_where_no_name_of_it_is_there(spec, names, lacking):
    assert missing(spec, *names) == lacking


def test_a_full_load_needs_neither_order_nor_effective_time(spec):
    assert missing(spec, "id", "nm", "address.city", is_load=True) == []


def test_an_undeclared_column_is_missing_unless_it_is_ignored(spec):
    columns = [*OF_TABLE, ("colour", "string"), ("total", "string")]
    names = ("id", "ts", "nm", "since", "address.city")
    assert missing(spec, *names, columns=columns) == ["colour"]


@pytest.mark.parametrize("spec", [("json", "")], indirect=True)
def test_json_leaves_out_what_is_null_and_so_undeclared_columns_are_not_missing(spec):
    columns = [*OF_TABLE, ("colour", "string")]
    names = ("id", "ts", "since", "address.city")
    assert missing(spec, *names, columns=columns) == ["name"]


@pytest.mark.parametrize(
    "spec", [("json", "envelope: {connector: postgresql}")], indirect=True
)
def test_columns_of_an_envelope_are_not_missing_in_the_full_load(spec):
    columns = [(name, "string") for name, _ in spec.columns]
    assert ("source_ts", "string") in columns
    assert missing(spec, "id", "full_name", columns=columns, is_load=True) == ["city"]
