"""The JSON Schemas that editors use agree with what the loader takes."""

import json
from pathlib import Path

import jsonschema
import pytest

from lake_spec.parsing.yaml_reader import parse_yaml

ROOT = Path(__file__).parents[2]
SCHEMAS = sorted((ROOT / "docs/schema").glob("*.schema.json"))
SPECS = sorted((ROOT / "dags").glob("*/**/*.yml"))
NAMED = "# yaml-language-server: $schema="


def schema_named_in(path):
    first = path.read_text(encoding="utf-8").splitlines()[0]
    assert first.startswith(NAMED), f"{path}:1: begin with {NAMED}<path of its schema>"
    return (path.parent / first[len(NAMED) :]).resolve()


def is_accepted(schema, text):
    data = parse_yaml(text.encode(), "f.yml").root.plain()
    return jsonschema.Draft202012Validator(schema).is_valid(data)


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.name)
def test_a_schema_is_a_schema(path):
    jsonschema.Draft202012Validator.check_schema(json.loads(path.read_text()))


@pytest.mark.parametrize("path", SPECS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_spec_names_a_schema_that_accepts_it(path):
    schema = json.loads(schema_named_in(path).read_text())
    assert is_accepted(schema, path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "old, new",
    [
        ("kind: snapshot", "kind: feed"),
        ("type: csv", "type: cvs"),
        ("key: [", "keys: ["),
        ("owner: museum-data\n", ""),
        ("not_null: true", "not_null: 1"),
        ("nationality: {type:", "nationality: {tpe:"),
    ],
)
def test_the_table_schema_refuses_a_spoilt_spec(old, new):
    text = (ROOT / "dags/tables/moma/artists.yml").read_text(encoding="utf-8")
    schema = json.loads((ROOT / "docs/schema/table.schema.json").read_text())
    assert old in text and is_accepted(schema, text)
    assert not is_accepted(schema, text.replace(old, new))
