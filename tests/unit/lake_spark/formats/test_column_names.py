"""Which of the table's columns takes which of a file's."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lake_check.parsing.loader import load_domain
from lake_spark.formats.column_names import Names, sources, true_name, undeclared
from lake_spark.formats.file_schema import Shape
from lake_spark.schema.columns import TEXT

DOMAIN = "name: tests\ndescription: Tables of tests of names\nowner: test-team\n"
THINGS = """
name: things
description: Things with names of every kind
owner: test-team
source:
  kind: snapshot
  path: tests/things
  files: "**"
  format: {type: csv}
  snapshot_time: {column: as_of}
columns:
  id: int
  name: {type: string, source: [nm, nom]}
  source_valid_to: {type: string, source: [until]}
  source_country: string
key: [id]
storage: {buckets: 1}
history: {columns: {valid_from: begins}}
"""


@pytest.fixture
def spec(tmp_path):
    domain = tmp_path / "tests"
    domain.mkdir()
    (domain / "_domain.yml").write_text(DOMAIN)
    (domain / "things.yml").write_text(THINGS)
    return load_domain("tests", tmp_path).tables[0]


def shape(*names):
    return Shape(tuple((name, TEXT) for name in names))


@pytest.mark.parametrize(
    "name, stored",
    [
        ("Country", "country"),
        ("source_id", "source_id"),
        ("begins", "source_begins"),
        ("valid_from", "valid_from"),
        ("Is_Current", "source_is_current"),
        ("version_key", "source_version_key"),
        ("lake_x", "source_lake_x"),
        ("LAKE_2_NOTE", "source_lake_2_note"),
        ("_hoodie_x", "source__hoodie_x"),
        ("source_is_current", "source_source_is_current"),
        ("source_source_is_current", "source_source_source_is_current"),
        ("name", "source_name"),
        ("source_name", "source_source_name"),
        # `source_valid_to` is declared.
        ("valid_to", "source_source_valid_to"),
        ("source_source_valid_to", "source_source_source_source_valid_to"),
    ],
)
def test_an_undeclared_column_has_one_name_whatever_else_is_there(spec, name, stored):
    assert Names(spec).stored(name) == stored


def test_no_two_undeclared_columns_have_one_name(spec):
    roots = ["a", "name", "begins", "valid_to", "lake_x", "country", "source"]
    names = ["source_" * depth + root for root in roots for depth in range(5)]
    free = [name for name in names if name not in Names(spec).claimed]
    stored = {Names(spec).stored(name) for name in free}
    assert len(stored) == len(free)
    assert not stored & {"id", "name", "source_valid_to", "source_country", "begins"}


def test_a_declared_column_takes_the_newest_of_its_names_that_the_file_has(spec):
    file = shape("ID", "Nom", "nm", "name", "as_of", "extra")
    assert sources(spec, file) == {
        "id": "ID",
        "name": "nm",
        "source_name": "name",
        "extra": "extra",
    }
    assert undeclared(spec, file) == ("name", "extra")


def test_what_a_declared_column_takes_is_no_undeclared_column_any_more(spec):
    column = replace(spec.column("name"), source=("extra",))
    later = replace(spec, columns=(*spec.columns, ("extra_2", column)))
    assert sources(spec, shape("id", "extra")) == {"id": "id", "extra": "extra"}
    assert sources(later, shape("id", "extra")) == {"id": "id", "extra_2": "extra"}


@pytest.mark.parametrize("name", ["größe", "naïve", "цена", "名前", "€ 5", "plain"])
def test_a_name_that_debezium_broke_is_known_again(name):
    signed = [each - 256 if each > 127 else each for each in name.encode()]
    broken = "".join(chr(each % 65536) for each in signed)
    assert true_name(broken) == name
    assert true_name(name) == name
