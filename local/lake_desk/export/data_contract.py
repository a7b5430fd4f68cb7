"""A table as a data contract of the Open Data Contract Standard (ODCS) 3.1.

What a spec does not say is left out: the contract promises nothing that no stage keeps.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, Dict, Iterator, Optional

from lake_desk.export.contract_checks import checks_of
from lake_spec.layout.glue_names import glue_name
from lake_spec.layout.table_folders import layer_folder
from lake_spec.lineage.columns import columns_of_table
from lake_spec.lineage.sensitivity import ColumnSensitivity
from lake_spec.model import (
    CheckedLayer,
    Column,
    DomainSpec,
    EnvironmentSpec,
    OnFail,
    Rule,
    Sensitivity,
    TableSpec,
)
from lake_spec.model.column_type import ColumnType, parse_type
from lake_spec.model.history_columns import history_columns
from lake_spec.text.numbers import plain_number

API_VERSION = "v3.1.0"

_LOGICAL = {"boolean": "boolean", "date": "date", "timestamp": "timestamp"}

_OUTCOME = {
    OnFail.QUARANTINE: "Rows that fail are quarantined.",
    OnFail.WARN: "Rows that fail are counted in a warning.",
    OnFail.FAIL: "A run with rows that fail writes nothing.",
}
Json = Dict[str, Any]


def data_contract(
    domain: DomainSpec,
    name: str,
    environment: Optional[EnvironmentSpec] = None,
    *,
    known: Optional[ColumnSensitivity] = None,
) -> Json:
    """Return the contract of a table of a domain, ready to be written as YAML.

    Its version is a hash of the rest, so it changes with each change of the contract.

    Args:
        domain: the domain with all its tables, as it is in the environment.
        name: name of the table.
        environment: the environment whose storage the contract names; if left out, the
            contract names none.
        known: what knows the columns of all tables that its products read; if left out,
            those of other domains count as personal.
    """
    table = next(each for each in domain.tables if each.name == name)
    contract = {
        "apiVersion": API_VERSION,
        "kind": "DataContract",
        "id": table.full_name,
        "name": table.name,
        "status": "active",
        "domain": domain.name,
        "tags": list(domain.tags),
        "description": {"purpose": table.description},
        "schema": list(
            _objects(domain, table, known or ColumnSensitivity(domain.tables))
        ),
        "team": {"name": table.owner},
        "support": list(_support(domain)),
        "roles": list(_roles(domain, table)),
        "slaProperties": list(_service_levels(domain, table)),
        "servers": list(_servers(table, environment)) if environment else [],
    }
    filled = {key: value for key, value in contract.items() if value}
    text = json.dumps(filled, sort_keys=True, default=str)
    version = hashlib.sha256(text.encode()).hexdigest()[:12]
    return {"version": version, **filled}


def _support(domain: DomainSpec) -> Iterator[Json]:
    if domain.contact is not None:
        url = {"url": domain.contact_url} if domain.contact_url else {}
        yield {"channel": domain.contact, **url}


def _objects(
    domain: DomainSpec, table: TableSpec, sensitivity: ColumnSensitivity
) -> Iterator[Json]:
    """Describe current and, where there is one, history."""
    columns = columns_of_table(domain, table)

    def described(name: str, column: Optional[Column]) -> Json:
        found = _property(name, column.type if column else None)
        of = sensitivity.of(table.full_name, name)
        more = {
            "description": column.description if column else None,
            "tags": list(column.tags) if column else None,
            "classification": None if of is Sensitivity.NONE else of.value,
        }
        return {**found, **{key: value for key, value in more.items() if value}}

    key = ", ".join(table.key)
    current = [described(*each) for each in columns]
    for each in current:
        _add_promises(each, table)
    unique = {
        "metric": "duplicateValues",
        "description": "Each key has one row.",
        "dimension": "uniqueness",
        "arguments": {"properties": list(table.key)},
        "mustBe": 0,
        "severity": "error",
    }
    yield {
        **_object(table.name, f"{table.domain}.{table.name}", table.description),
        "dataGranularityDescription": f"One row for each living key ({key})",
        "properties": current,
        "quality": [unique, *checks_of(table.checks, CheckedLayer.CURRENT)],
    }
    added = history_columns(table)
    if added:
        history = glue_name(table.name, "history")
        words = f"Every version of the rows of {table.name}, with its time of validity"
        of_history = checks_of(table.checks, CheckedLayer.HISTORY)
        properties = [described(*each) for each in columns]
        for each in properties:
            each.update({"required": True} if each["name"] in table.key else {})
        yield {
            **_object(history, f"{table.domain}.{history}", words),
            "dataGranularityDescription": f"One row for each version of a key ({key})",
            "properties": [
                *properties,
                *(
                    {**_property(name, kind), "description": meaning}
                    for name, (kind, meaning) in added.items()
                ),
            ],
            **({"quality": of_history} if of_history else {}),
        }


def _object(name: str, physical: str, description: str) -> Json:
    return {
        "name": name,
        "physicalName": physical,
        "physicalType": "table",
        "logicalType": "object",
        "description": description,
    }


def _property(name: str, kind: Optional[str]) -> Json:
    return {"name": name, **(_typed(parse_type(kind).stored) if kind else {})}


def _typed(kind: ColumnType) -> Json:
    found: Json = {"logicalType": _logical(kind), "physicalType": kind.text}
    if kind.name == "array":
        found["items"] = _typed(kind.inner[0])
    if kind.name == "struct":
        found["properties"] = [
            {"name": name, **_typed(inner)}
            for name, inner in zip(kind.fields, kind.inner)
        ]
    return found


def _logical(kind: ColumnType) -> str:
    if kind.name == "array":
        return "array"
    if kind.is_nested:
        return "object"
    if kind.is_numeric:
        return "integer" if kind.is_whole else "number"
    return _LOGICAL.get(kind.name, "string")


def _add_promises(of: Json, table: TableSpec) -> None:
    """Add to a column of current its part of the key, its partition and its rules."""
    name = of["name"]
    rules = [rule for rule in table.quality if rule.column == name]
    kept = [rule for rule in rules if rule.on_fail is not OnFail.WARN]
    if name in table.key:
        of["primaryKey"] = True
        of["primaryKeyPosition"] = table.key.index(name) + 1
        of.update({"unique": True} if len(table.key) == 1 else {})
    if name in table.key or any(rule.not_null for rule in kept):
        of["required"] = True
    if name in table.storage.partition_by:
        of["partitioned"] = True
        of["partitionKeyPosition"] = table.storage.partition_by.index(name) + 1
    if rules:
        of["quality"] = [_quality(rule, of.get("logicalType")) for rule in rules]


def _quality(rule: Rule, logical: Optional[str]) -> Json:
    """Return a row rule as a check that a tool of the standard can run."""
    return {
        **_check(rule, logical),
        "mustBe": 0,
        "severity": "warning" if rule.on_fail is OnFail.WARN else "error",
        "description": _OUTCOME[rule.on_fail],
    }


def _check(rule: Rule, logical: Optional[str]) -> Json:
    if rule.not_null:
        return {"metric": "nullValues", "dimension": "completeness"}
    if rule.one_of:
        values = [_value(each, logical) for each in rule.one_of]
        return _invalid("validValues", values)
    if rule.matches is not None:
        return _invalid("pattern", rule.matches)
    if rule.at_least is not None:
        beyond = f"< {plain_number(rule.at_least)}"
    else:
        assert rule.at_most is not None, f"a rule of {rule.column} has no test"
        beyond = f"> {plain_number(rule.at_most)}"
    query = f"SELECT COUNT(*) FROM ${{object}} WHERE ${{property}} {beyond}"
    return {"type": "sql", "query": query, "dimension": "conformity"}


def _invalid(argument: str, value: Any) -> Json:
    return {
        "metric": "invalidValues",
        "arguments": {argument: value},
        "dimension": "conformity",
    }


def _value(text: str, logical: Optional[str]) -> Any:
    """Return an accepted value in the type of its column, where that is a whole number."""
    is_whole = logical == "integer" and text.lstrip("-").isdecimal()
    return int(text) if is_whole else text


def _roles(domain: DomainSpec, table: TableSpec) -> Iterator[Json]:
    for reader in domain.readers:
        if not reader.tables or table.name in reader.tables:
            of = ", ".join(reader.columns) if reader.columns else "all columns"
            yield {"role": reader.role, "access": "read", "description": of}


def _service_levels(domain: DomainSpec, table: TableSpec) -> Iterator[Json]:
    """List how fresh it is, how often it is loaded, and what stays readable."""
    if table.late_after_hours is not None:
        yield {
            "property": "latency",
            "value": table.late_after_hours,
            "unit": "h",
            "element": table.name,
            "driver": "operational",
            "description": "Hours since the newest file after which the source is late.",
        }
    for check in table.checks:
        if (level := check.service_level(table.name)) is not None:
            yield level
    if domain.schedules.incremental:
        yield {
            "property": "frequency",
            "value": domain.schedules.incremental,
            "element": table.name,
            "scheduler": "cron",
            "schedule": domain.schedules.incremental,
            "description": "Start of runs that load what is new, in UTC.",
        }
    yield {
        "property": "retention",
        "value": table.maintenance.keep_commits,
        "unit": "commits",
        "element": table.name,
        "description": "Commits as of which the table stays readable.",
    }


def _servers(table: TableSpec, environment: EnvironmentSpec) -> Iterator[Json]:
    """List where the table is read: its files, and the databases of its formats."""
    root = layer_folder(environment.warehouse, table.stored_as, "current")
    common = {"environment": environment.name}
    yield {
        "server": environment.name,
        "type": "s3",
        **common,
        "location": root,
        "format": "parquet" if table.storage.is_plain else "hudi",
    }
    for form in table.storage.formats:
        yield {
            "server": f"{environment.name}_{form.value}",
            "type": "custom",
            **common,
            "catalog": "AwsDataCatalog",
            "database": form.database_of(table.domain),
            "regionName": environment.region,
            "location": root,
            "format": form.value,
        }
