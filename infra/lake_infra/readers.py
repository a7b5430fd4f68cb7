"""The template of who may read which tables: grants of Lake Formation.

Generated from `readers` of the domains. Grants name tables of the catalogue, so it is
deployed after the first run of a table.
"""

from __future__ import annotations

from typing import Any, Dict, FrozenSet, Iterable, Iterator, List, Optional, Tuple

from lake_infra.aws_limits import INLINE_CHARACTERS
from lake_infra.domains import bounded, check_size, logical_id
from lake_infra.lake_formation import Resource, grant, in_turn
from lake_infra.packing import size
from lake_infra.resource_names import NotDeployable, Root
from lake_infra.runtime_role import folders_of_tables, READ
from lake_infra.statements import in_bucket, listing, objects, policy_document, sub
from lake_spec.layout.glue_names import RO, glue_name
from lake_spec.model import (
    DomainSpec,
    EnvironmentSpec,
    TableSpec,
    TableType,
    VersionedTable,
)

Columns = Optional[FrozenSet[str]]
"""Columns that a role may read; None for all."""


def readers_template(
    environment: EnvironmentSpec, domains: Iterable[DomainSpec]
) -> Dict[str, Any]:
    """Build the template, the same for the same specs. Raises NotDeployable where no
    domain names a reader, or too many."""
    read = sorted((d for d in domains if d.readers), key=lambda each: each.name)
    if not read:
        reason = "no domain names readers: this layer is not needed."
        raise NotDeployable(environment.name, [reason])
    resources: Dict[str, Resource] = {"DataAccess": _data_access(environment, read)}
    for domain in read:
        for folder in folders_of_tables([domain]):
            resources.update(_location(environment, domain, folder))
        resources.update(_grants(domain))
    template = {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Description": "Who may read which tables, generated from the domains' specs",
        "Parameters": {
            "Environment": {
                "Type": "String",
                "AllowedPattern": "[a-z][a-z0-9-]{0,19}",
            }
        },
        "Resources": in_turn(resources),
    }
    check_size(environment, template, "Name fewer tables or domains in `readers`.")
    return template


def columns_by_role(domain: DomainSpec) -> Dict[str, Dict[str, Columns]]:
    """Return what each role may read, by table: the union of all of its entries."""
    every = tuple(table.name for table in domain.tables)
    found: Dict[str, Dict[str, Columns]] = {}
    for reader in domain.readers:
        tables = found.setdefault(reader.role, {})
        for name in reader.tables or every:
            before = tables.get(name, frozenset())
            if before is None or not reader.columns:
                tables[name] = None
            else:
                tables[name] = before | frozenset(reader.columns)
    return found


def catalogue_columns(
    table: TableSpec, columns: Columns
) -> Iterator[Tuple[str, str, Columns]]:
    """List databases and names of a table in the catalogue, with the columns that may be
    read.

    Those that history adds say when a version was valid, and nothing of its row.
    """
    layers = [(table.name, columns)]
    if isinstance(table, VersionedTable):
        added = frozenset(vars(table.history.columns).values())
        of_history = None if columns is None else columns | added
        layers.append((glue_name(table.name, "history"), of_history))
    for name, chosen in layers:
        yield table.domain, name, chosen
        if table.storage.type is TableType.MERGE_ON_READ:
            yield table.domain, name + RO, chosen
        for kind in table.storage.formats:
            yield kind.database_of(table.domain), name, chosen


def _grants(domain: DomainSpec) -> Dict[str, Resource]:
    found: Dict[str, Resource] = {}
    tables = {table.name: table for table in domain.tables}
    for role, allowed in sorted(columns_by_role(domain).items()):
        arn = _arn_of(role)
        shown: Dict[str, Dict[str, Columns]] = {}
        for table, columns in sorted(allowed.items()):
            for database, name, chosen in catalogue_columns(tables[table], columns):
                shown.setdefault(database, {})[name] = chosen
        for database, chosen_of in shown.items():
            named = {"CatalogId": _ACCOUNT, "Name": database}
            id = logical_id("Reader", f"{database}/{role}")
            found[id] = grant(arn, {"Database": named}, ["DESCRIBE"])
            for name, chosen in chosen_of.items():
                found[logical_id(f"{id}Of", name)] = grant(
                    arn,
                    _table(database, name, chosen),
                    ["DESCRIBE", "SELECT"] if chosen is None else ["SELECT"],
                )
    return found


def _table(database: str, table: str, columns: Columns) -> Resource:
    named = {"CatalogId": _ACCOUNT, "DatabaseName": database, "Name": table}
    if columns is None:
        return {"Table": named}
    return {"TableWithColumns": {**named, "ColumnNames": sorted(columns)}}


_ACCOUNT = {"Ref": "AWS::AccountId"}


def _arn_of(role: str) -> Any:
    if role.startswith("arn:"):
        return role
    return sub(f"arn:${{AWS::Partition}}:iam::${{AWS::AccountId}}:role/{role}")


def _location(
    environment: EnvironmentSpec, domain: DomainSpec, folder: str
) -> Dict[str, Resource]:
    """Return a folder of the domain's tables, guarded by Lake Formation, and the steps'
    right to register tables there."""
    house = Root.of(environment.warehouse)
    arn = in_bucket(f"{house.bucket}/{house.prefix}{folder}")
    name = logical_id("Location", folder)
    place = {"DataLocation": {"CatalogId": _ACCOUNT, "ResourceArn": arn}}
    role = environment.runtime_role_of(domain.name)
    return {
        name: {
            "Type": "AWS::LakeFormation::Resource",
            "Properties": {
                "ResourceArn": arn,
                "RoleArn": {"Fn::GetAtt": ["DataAccess", "Arn"]},
                "UseServiceLinkedRole": False,
            },
        },
        f"{name}Grant": grant(role, place, ["DATA_LOCATION_ACCESS"], DependsOn=name),
    }


def _data_access(environment: EnvironmentSpec, read: List[DomainSpec]) -> Resource:
    """Return the role that Lake Formation reads the files of tables by."""
    house = Root.of(environment.warehouse)
    folders = [f"{house.prefix}{name}/*" for name in folders_of_tables(read)]
    statements = [
        objects("FilesOfTables", READ, house, folders),
        listing("FindFilesOfTables", house, folders),
        {
            "Sid": "KeyOfTheBuckets",
            "Effect": "Allow",
            "Action": "kms:Decrypt",
            "Resource": {"Fn::ImportValue": sub("lake-${Environment}-KeyArn")},
            "Condition": {
                "StringEquals": {
                    "kms:ViaService": sub("s3.${AWS::Region}.amazonaws.com")
                }
            },
        },
    ]
    trust = {
        "Effect": "Allow",
        "Principal": {"Service": "lakeformation.amazonaws.com"},
        "Action": "sts:AssumeRole",
        "Condition": {"StringEquals": {"aws:SourceAccount": _ACCOUNT}},
    }
    document = policy_document(statements)
    if (found := size(document)) > INLINE_CHARACTERS:
        reason = (
            f"the role of its readers would have an inline policy of {found} characters; "
            f"IAM takes {INLINE_CHARACTERS}. Name fewer tables or domains in `readers`."
        )
        raise NotDeployable(environment.name, [reason])
    return {
        "Type": "AWS::IAM::Role",
        "Properties": {
            "RoleName": sub("lake-${Environment}-readers"),
            "Path": environment.role_path,
            **bounded(environment),
            "AssumeRolePolicyDocument": policy_document([trust]),
            "Policies": [{"PolicyName": "lake", "PolicyDocument": document}],
        },
    }
