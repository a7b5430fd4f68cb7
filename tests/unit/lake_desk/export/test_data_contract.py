"""A data contract says what the spec says, by the words of the standard."""

from pathlib import Path

import pytest

from lake_check.parsing.loader import load_domain, load_environment
from lake_check.parsing.yaml_reader import parse_yaml
from lake_desk.__main__ import main
from lake_desk.export.data_contract import data_contract
from tests.unit.lake_check.spec_files import DOMAIN, ENVIRONMENT, FEED, changed

COLUMNS = {
    "order_id": "long",
    "status": {"type": "string", "tags": ["state"], "description": "State it is in"},
    "amount": "decimal(10,2)",
    "email": {"type": "string", "sensitivity": "personal"},
    "margin": {"type": "double", "sensitivity": "internal"},
    "lines": "array<struct<sku: string, pieces: int>>",
    "labels": "map<string, string>",
    "day": "date",
    "updated_at": "timestamp",
}

RETURNS = changed(
    FEED,
    {
        "name": "returns",
        "source.path": "sales/returns",
        "columns": {
            "order_id": "long",
            "status": "string",
            "updated_at": "timestamp",
        },
    },
)


def contract_of(specs, changes, name="orders", *, domain=None, environment=None):
    spec = changed(FEED, {"columns": COLUMNS, **changes})
    specs.put("tables/sales/orders.yml", spec)
    if domain:
        specs.put("tables/sales/_domain.yml", {**DOMAIN, **domain})
    if environment:
        specs.put("environments/dev.yml", {**ENVIRONMENT, **environment})
        environment = load_environment("dev", specs.environments)
    domain = load_domain("sales", specs.tables, environment)
    return data_contract(domain, name, environment)


def columns(contract, schema=0):
    return {each["name"]: each for each in contract["schema"][schema]["properties"]}


def test_it_says_what_the_table_is_and_whose(specs):
    contract = contract_of(specs, {})
    assert contract["apiVersion"] == "v3.1.0" and contract["kind"] == "DataContract"
    assert contract["id"] == "sales.orders" and contract["domain"] == "sales"
    assert contract["description"] == {"purpose": FEED["description"]}
    assert contract["team"] == {"name": "sales-data"}
    assert not {"servers", "roles", "support"} & contract.keys()


@pytest.mark.parametrize(
    ("contact", "support"),
    [
        ("#sales", {"channel": "#sales"}),
        ("s@example.com", {"channel": "s@example.com", "url": "mailto:s@example.com"}),
    ],
)
def test_it_says_where_people_ask(specs, contact, support):
    assert contract_of(specs, {}, domain={"contact": contact})["support"] == [support]


def test_its_version_changes_with_the_contract_alone(specs):
    one, same = contract_of(specs, {}), contract_of(specs, {})
    other = contract_of(specs, {"columns.status": "string"})
    assert one["version"] == same["version"] != other["version"]


def test_columns_have_types_meanings_tags_and_classes(specs):
    found = columns(contract_of(specs, {}))
    assert {name: each.get("logicalType") for name, each in found.items()} == {
        "order_id": "integer",
        "status": "string",
        "amount": "number",
        "email": "string",
        "margin": "number",
        "lines": "array",
        "labels": "object",
        "day": "date",
        "updated_at": "timestamp",
    }
    assert found["order_id"]["physicalType"] == "bigint"
    assert found["status"]["description"] == "State it is in"
    assert found["status"]["tags"] == ["state"]
    classes = {name: each.get("classification") for name, each in found.items()}
    assert classes.pop("email") == "personal" and classes.pop("margin") == "internal"
    assert set(classes.values()) == {None}
    assert [each["name"] for each in found["lines"]["items"]["properties"]] == [
        "sku",
        "pieces",
    ]


def test_the_key_is_unique_alone_or_together(specs):
    contract = contract_of(specs, {})
    key = columns(contract)["order_id"]
    assert key["primaryKey"] and key["unique"] and key["required"]
    contract = contract_of(specs, {"key": ["order_id", "status"]})
    found = columns(contract)
    assert [found[n]["primaryKeyPosition"] for n in ("order_id", "status")] == [1, 2]
    assert not any("unique" in each for each in found.values())
    (rule,) = contract["schema"][0]["quality"]
    assert rule["metric"] == "duplicateValues" and rule["mustBe"] == 0
    assert rule["arguments"] == {"properties": ["order_id", "status"]}


def test_history_is_a_second_table_with_the_columns_that_it_adds(specs):
    contract = contract_of(specs, {"history": {"columns": {"valid_from": "since"}}})
    history = contract["schema"][1]
    assert history["physicalName"] == "sales.orders_history"
    assert [*columns(contract, 1)][-5:] == [
        "since",
        "valid_to",
        "is_current",
        "is_deleted",
        "version_key",
    ]


@pytest.mark.parametrize(
    "rule, check",
    [
        ({"not_null": True}, {"metric": "nullValues"}),
        (
            {"one_of": ["new", "paid"]},
            {
                "metric": "invalidValues",
                "arguments": {"validValues": ["new", "paid"]},
            },
        ),
        (
            {"matches": "[a-z]+"},
            {"metric": "invalidValues", "arguments": {"pattern": "[a-z]+"}},
        ),
    ],
)
def test_rules_on_texts_are_checks(specs, rule, check):
    contract = contract_of(specs, {"quality": [{"column": "status", **rule}]})
    found = columns(contract)["status"]
    (quality,) = found["quality"]
    assert {**quality, **check, "mustBe": 0, "severity": "error"} == quality
    assert found.get("required", False) is ("not_null" in rule)


@pytest.mark.parametrize(
    "rule, condition",
    [({"at_least": 0}, "< 0"), ({"at_most": 99.5}, "> 99.5")],
)
def test_limits_are_queries_that_count_what_is_beyond(specs, rule, condition):
    contract = contract_of(specs, {"quality": [{"column": "amount", **rule}]})
    (quality,) = columns(contract)["amount"]["quality"]
    assert quality["type"] == "sql" and quality["mustBe"] == 0
    where = f"SELECT COUNT(*) FROM ${{object}} WHERE ${{property}} {condition}"
    assert quality["query"] == where


def test_accepted_values_of_a_number_are_numbers(specs):
    rule = {"column": "order_id", "one_of": ["1", "-2"]}
    (quality,) = columns(contract_of(specs, {"quality": [rule]}))["order_id"]["quality"]
    assert quality["arguments"] == {"validValues": [1, -2]}


def test_a_rule_that_warns_promises_nothing(specs):
    rule = {"column": "status", "not_null": True, "on_fail": "warn"}
    found = columns(contract_of(specs, {"quality": [rule]}))["status"]
    assert "required" not in found and found["quality"][0]["severity"] == "warning"


def test_freshness_schedule_and_retention_are_service_levels(specs):
    found = contract_of(
        specs,
        {"source.late_after_hours": 26, "maintenance": {"keep_commits": 40}},
        domain={"schedules": {"incremental": "0 2 * * *"}},
    )["slaProperties"]
    values = {each["property"]: (each["value"], each.get("unit")) for each in found}
    assert values == {
        "latency": (26, "h"),
        "frequency": ("0 2 * * *", None),
        "retention": (40, "commits"),
    }


def test_readers_are_roles_of_the_tables_that_they_may_read(specs):
    specs.put("tables/sales/returns.yml", RETURNS)
    readers = [
        {"role": "analysts", "tables": ["orders"], "columns": ["status"]},
        {"role": "others", "tables": ["orders"]},
        {"role": "third", "tables": ["returns"]},
    ]
    contract = contract_of(specs, {}, domain={"readers": readers})
    assert contract["roles"] == [
        {"role": "analysts", "access": "read", "description": "status"},
        {"role": "others", "access": "read", "description": "all columns"},
    ]


def test_servers_are_the_files_and_the_databases_of_an_environment(specs):
    contract = contract_of(specs, {}, environment={"readable_as": ["iceberg"]})
    files, iceberg = contract["servers"]
    assert files["location"] == "s3://lake/warehouse/sales/orders/current"
    assert (files["type"], files["format"]) == ("s3", "hudi")
    assert (iceberg["database"], iceberg["format"]) == ("sales_iceberg", "iceberg")


def test_a_dimension_has_the_columns_of_its_tables_and_their_classes(specs):
    specs.put("tables/sales/returns.yml", RETURNS)
    specs.put("tables/sales/wide.yml", {
        "name": "wide", "description": "Orders with returns", "owner": "sales-data",
        "key": ["order_id"],
        "source": {
            "kind": "dimension",
            "main": {"table": "orders"},
            "joined": {"table": "returns", "columns": ["status"],
                       "rename": {"status": "return_status"}},
        },
    })  # fmt: skip
    found = columns(contract_of(specs, {}, "wide"))
    assert found["return_status"]["physicalType"] == "string"
    assert found["email"]["classification"] == "personal"


def test_the_command_prints_it_as_yaml(specs, capsys):
    options = ["--tables", str(specs.tables), "--environment", "dev"]
    assert main(["contract", "sales.orders", *options]) == 0
    printed = parse_yaml(capsys.readouterr().out.encode(), "contract.yml").root.plain()
    environment = load_environment("dev", specs.environments)
    domain = load_domain("sales", specs.tables, environment)
    assert printed == data_contract(domain, "orders", environment)


def test_a_product_has_the_classes_of_what_its_sql_reads(capsys):
    """Of the clinic's patients the time of birth is personal, their gender is not."""
    tables = Path(__file__).resolve().parents[4] / "data/synthea/tables"
    assert (
        main(["contract", "clinic.sinusitis_conditions", "--tables", str(tables)]) == 0
    )
    printed = parse_yaml(capsys.readouterr().out.encode(), "contract.yml").root.plain()
    classes = {n: of.get("classification") for n, of in columns(printed).items()}
    personal = [name for name, found in classes.items() if found == "personal"]
    assert personal == ["birthdate", "age_in_days"]


def test_an_unknown_table_is_refused_with_those_that_there_are(specs, capsys):
    assert main(["contract", "sales.order", "--tables", str(specs.tables)]) == 1
    error = capsys.readouterr().err
    assert "sales.order" in error and "sales.orders" in error
