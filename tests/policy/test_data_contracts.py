"""Data contracts of all specs here are valid by the standard's own JSON Schema."""

import json
from pathlib import Path

import jsonschema
import pytest

from lake_check.parsing.loader import domain_names, load_domain, load_environment
from lake_check.parsing.yaml_reader import parse_yaml
from lake_desk.export.data_contract import data_contract
from lake_desk.yaml_writer import yaml_text
from tests.policy.test_spec_examples import EXAMPLES

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((Path(__file__).parent / "odcs" / "schema.json").read_text())
VALIDATOR = jsonschema.Draft201909Validator(SCHEMA)
FOLDERS = [ROOT / "dags/tables", ROOT / "data/synthea/tables"]
LOCAL = load_environment("local", ROOT / "dags/environments")


def contracts_of(tables):
    return [
        (table.full_name, data_contract(domain, table.name, LOCAL))
        for name in domain_names(tables)
        for domain in [load_domain(name, tables, LOCAL)]
        for table in domain.tables
    ]


def faults(contract):
    return [f"{e.json_path}: {e.message}" for e in VALIDATOR.iter_errors(contract)]


@pytest.mark.parametrize("tables", FOLDERS, ids=lambda each: each.parent.name)
def test_each_table_has_a_valid_contract(tables):
    found = contracts_of(tables)
    assert found
    for name, contract in found:
        assert faults(contract) == [], name
        read = parse_yaml(yaml_text(contract).encode(), "contract.yml")
        assert read.root.plain() == contract, name


def test_so_has_each_table_of_the_examples(tmp_path):
    for name, text in EXAMPLES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    found = contracts_of(tmp_path / "tables")
    assert found and all(faults(contract) == [] for _, contract in found)


@pytest.mark.parametrize(
    "change",
    [
        {"status": None},
        {"kind": "Contract"},
        {"slaProperties": [{"property": "latency"}]},
        {"servers": [{"server": "dev", "type": "s3"}]},
        {"schema": [{"name": "orders", "columns": []}]},
    ],
)
def test_the_schema_refuses_a_wrong_contract(change):
    (_, contract), *_ = contracts_of(FOLDERS[0])
    assert faults({**contract, **change})
