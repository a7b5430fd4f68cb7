"""Readers see what their entries grant and no more, by grants of Lake Formation.

Two hundred random lakes: an evaluator reads the template, an oracle the entries.
"""

from __future__ import annotations

import copy
import random
from dataclasses import replace

import botocore.session
import pytest
from botocore.validate import ParamValidator
from lake_infra.__main__ import main
from lake_infra.readers import readers_template
from lake_infra.resource_names import NotDeployable
from lake_spec.model import (
    HUDI_TYPES,
    Column,
    History,
    ReadableAs,
    Reader,
    Storage,
    TableType,
)
from lake_spec.model.table_parts import HistoryColumns

from tests.deploy.allowed import ACCOUNT, PSEUDO, Asked, allowing, resolved, statements
from tests.deploy.lake_formation import principals, seen
from tests.kinds import some_by_day
from tests.unit.lake_infra.lakes import domain, environment, product

LAKES = 200
ADDED = ("valid_from", "valid_to", "is_current", "is_deleted")
ELSEWHERE = "arn:aws:iam::999999999999:role/partner"
ROLES = ("analysts", "finance", "path_role", ELSEWHERE)


def random_domain(dice: random.Random, name: str):
    tables = []
    for table in domain(
        name, *(f"{name}/t{n}" for n in range(dice.randint(1, 4)))
    ).tables:
        columns = [f"c{n}" for n in range(dice.randint(1, 5))]
        renamed = HistoryColumns(valid_from=dice.choice(["valid_from", "von"]))
        tables.append(
            replace(
                table,
                columns=tuple((c, Column(type="string")) for c in columns),
                history=History(columns=renamed),
                storage=Storage(
                    type=dice.choice(HUDI_TYPES),
                    readable_as=tuple(
                        dice.sample(list(ReadableAs), dice.randint(0, 2))
                    ),
                ),
            )
        )
    readers = []
    for _ in range(dice.randint(0, 5)):
        chosen = dice.sample(tables, dice.randint(0, len(tables)))
        shared = [c for c in ("c0", "c1", "c2", "c3", "c4") if has_all(chosen, c)]
        limited = dice.sample(shared, dice.randint(0, len(shared))) if chosen else []
        readers.append(
            Reader(dice.choice(ROLES), tuple(t.name for t in chosen), tuple(limited))
        )
    spec = domain(name)
    return replace(spec, tables=tuple(tables), readers=tuple(readers))


def has_all(tables, column):
    return all(column in dict(table.columns) for table in tables)


def catalogue_of(domains):
    """The columns of each catalogue table, with the spec's table and its kind."""
    found = {}
    for spec in domains:
        for table in spec.tables:
            own = [name for name, _ in table.columns]
            added = [table.history.columns.valid_from, *ADDED[1:]]
            kinds = {"": own, "_history": own + added + ["version_key"]}
            for kind, columns in kinds.items():
                found[spec.name, table.name + kind] = (table, kind, columns)
                if table.storage.type is TableType.MERGE_ON_READ:
                    name = f"{table.name}{kind}_ro"
                    found[spec.name, name] = (table, kind, columns)
                for each in table.storage.formats:
                    database = f"{spec.name}_{each.value}"
                    found[database, table.name + kind] = (table, kind, columns)
            changes = own + ["lake_op", "lake_file"]
            for database in (spec.name, f"{spec.name}_iceberg", f"{spec.name}_delta"):
                name = f"{table.name}_changes"
                found[database, name] = (table, "_changes", changes)
    return found


def expected(domains, catalogue, role):
    """What the entries say, read one column after the other."""
    by_name = {spec.name: spec for spec in domains}
    return {
        (database, name, column)
        for (database, name), (table, kind, columns) in catalogue.items()
        for column in columns
        for entry in by_name[table.domain].readers
        if entry.role == role
        and kind != "_changes"
        and (not entry.tables or table.name in entry.tables)
        and (
            not entry.columns
            or column in entry.columns
            or (kind == "_history" and column not in dict(table.columns))
            and column != "version_key"
        )
    }


def arn(role):
    return role if role.startswith("arn:") else f"arn:aws:iam::{ACCOUNT}:role/{role}"


@pytest.mark.parametrize("seed", some_by_day(range(LAKES), range(30)))
def test_a_reader_sees_what_is_granted_and_no_more(seed):
    dice = random.Random(seed)
    domains = [
        random_domain(dice, n) for n in ("sales", "sales_eu", "stock")[: seed % 3 + 1]
    ]
    if not any(spec.readers for spec in domains):
        with pytest.raises(NotDeployable, match="no domain names readers"):
            readers_template(environment(), domains)
        return
    template = readers_template(environment(), domains)
    catalogue = catalogue_of(domains)
    columns = {table: frozenset(of) for table, (_, _, of) in catalogue.items()}
    for role in ROLES:
        wanted = expected(domains, catalogue, role)
        assert seen(template, arn(role), columns) == wanted
    named = {arn(reader.role) for spec in domains for reader in spec.readers}
    assert principals(template) == named


SALES = replace(
    domain("sales", "sales/a", "sales/b"),
    readers=(Reader("analysts", ("t0",), ("id",)), Reader("finance")),
)
TEMPLATE = readers_template(environment(), [SALES, domain("stock", "stock/a")])
COLUMNS = {
    ("sales", name): frozenset({"id", "name"})
    for table in ("t0", "t1")
    for name in (table, f"{table}_history", f"{table}_changes")
}


def test_one_reader_of_a_column_and_one_of_all():
    assert seen(TEMPLATE, arn("analysts"), COLUMNS) == {
        ("sales", "t0", "id"),
        *(("sales", "t0_history", column) for column in ("id", *ADDED)),
    }
    assert seen(TEMPLATE, arn("finance"), COLUMNS) == {
        ("sales", name, column)
        for name in ("t0", "t0_history", "t1", "t1_history")
        for column in ("id", "name")
    }
    assert "stock" not in str(TEMPLATE)


@pytest.mark.parametrize(
    "plant",
    [
        lambda given: given["Resource"]["TableWithColumns"].update(
            ColumnNames=["name"]
        ),
        lambda given: given["Resource"]["TableWithColumns"].pop("ColumnNames"),
        lambda given: given["Resource"]["TableWithColumns"].update(Name="t1"),
        lambda given: given["Principal"].update(DataLakePrincipalIdentifier=ELSEWHERE),
    ],
    ids=["column", "all-columns", "table", "role"],
)
def test_a_grant_that_differs_is_seen(plant):
    planted = copy.deepcopy(TEMPLATE)
    grant = next(
        each["Properties"]
        for each in planted["Resources"].values()
        if "TableWithColumns" in each["Properties"].get("Resource", {})
    )
    plant(grant)
    before, after = (seen(t, arn("analysts"), COLUMNS) for t in (TEMPLATE, planted))
    assert before != after


@pytest.mark.parametrize(
    "change",
    [
        {"Resource": {"LFTagPolicy": {}}},
        {"PermissionsWithGrantOption": ["SELECT"]},
    ],
)
def test_a_grant_that_the_evaluator_does_not_know_is_never_a_no(change):
    planted = copy.deepcopy(TEMPLATE)
    for each in planted["Resources"].values():
        if each["Type"].endswith("PrincipalPermissions"):
            each["Properties"].update(copy.deepcopy(change))
    with pytest.raises(NotImplementedError):
        seen(planted, arn("analysts"), COLUMNS)


PUBLISHED = replace(
    SALES,
    tables=tuple(
        replace(each, storage=Storage(readable_as=formats))
        for each, formats in zip(SALES.tables, [tuple(ReadableAs), ()])
    ),
)


def published_columns():
    """Columns in the databases of both formats: what is there, and what is not granted."""
    found = {
        (f"sales_{kind.value}", name): COLUMNS["sales", name]
        for kind in ReadableAs
        for _, name in COLUMNS
    }
    return {**COLUMNS, **found}


def test_a_reader_reads_the_same_columns_in_each_format():
    template = readers_template(environment(), [PUBLISHED])
    for role in ("analysts", "finance"):
        found = seen(template, arn(role), published_columns())
        own = {(name, c) for database, name, c in found if database == "sales"}
        for kind in ReadableAs:
            database = f"sales_{kind.value}"
            assert {(n, c) for d, n, c in found if d == database} == {
                (name, c) for name, c in own if name.startswith("t0")
            }


@pytest.mark.parametrize(
    "plant",
    [
        lambda given: given["Resource"]["TableWithColumns"].update(
            ColumnNames=["id", "name"]
        ),
        lambda given: given["Resource"]["TableWithColumns"].update(Name="t0_changes"),
        lambda given: given["Resource"]["TableWithColumns"].update(
            DatabaseName="sales"
        ),
    ],
    ids=["column", "change-log", "database"],
)
def test_a_grant_of_a_format_that_differs_is_seen(plant):
    template = readers_template(environment(), [PUBLISHED])
    planted = copy.deepcopy(template)
    grant = next(
        each["Properties"]
        for each in planted["Resources"].values()
        if each["Properties"]
        .get("Resource", {})
        .get("TableWithColumns", {})
        .get("DatabaseName")
        == "sales_delta"
    )
    plant(grant)
    columns = published_columns()
    before, after = (seen(t, arn("analysts"), columns) for t in (template, planted))
    assert before != after


def test_lake_formation_reads_the_files_of_those_domains_alone():
    role = statements(TEMPLATE, "DataAccess", {**PSEUDO, "Environment": "test"})
    for key, is_allowed in {
        "tables/sales/t0/current/a.parquet": True,
        "tables/stock/a.parquet": False,
        "tables/sales_eu/a.parquet": False,
    }.items():
        asked = Asked("s3:GetObject", f"arn:aws:s3:::house/{key}")
        assert bool(allowing(asked, role)) == is_allowed
    assert not allowing(
        Asked("s3:PutObject", "arn:aws:s3:::house/tables/sales/a"), role
    )


def test_steps_may_still_register_tables_in_a_folder_that_is_guarded():
    grant = TEMPLATE["Resources"]["LocationsalesGrant"]
    assert "Locationsales" in grant["DependsOn"]
    given = resolved(grant["Properties"], PSEUDO)
    assert given["Principal"]["DataLakePrincipalIdentifier"].endswith(
        "lake/steps-sales"
    )
    assert given["Permissions"] == ["DATA_LOCATION_ACCESS"]
    folder = "arn:aws:s3:::house/tables/sales"
    assert given["Resource"]["DataLocation"]["ResourceArn"] == folder


def test_grants_are_requests_that_the_api_takes():
    model = botocore.session.get_session().get_service_model("lakeformation")
    taken = model.operation_model("GrantPermissions").input_shape
    enum = taken.members["Permissions"].member.enum
    for each in TEMPLATE["Resources"].values():
        if each["Type"].endswith("PrincipalPermissions"):
            given = resolved(each["Properties"], PSEUDO)
            report = ParamValidator().validate(given, taken)
            assert not report.has_errors(), report.generate_report()
            assert set(given["Permissions"]) <= set(enum)


def test_an_environment_without_readers_needs_no_layer(capsys):
    assert main(["template", "prod", "readers"]) == 1
    words = (
        "environments/prod.yml: no domain names readers: this layer is not needed.\n"
    )
    assert capsys.readouterr().err == words


def test_readers_of_a_product_are_granted_no_history():
    spec = replace(domain("sales"), tables=(product("totals", "crm.people"),))
    template = readers_template(
        environment(), [replace(spec, readers=(Reader("analysts"),))]
    )
    named = [
        each["Properties"]["Resource"].get("Table", {}).get("Name")
        for each in template["Resources"].values()
        if each["Type"] == "AWS::LakeFormation::PrincipalPermissions"
    ]
    assert [each for each in named if each] == ["totals"]
