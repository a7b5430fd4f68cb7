"""What can be wrong in an account, planted one by one: a check is red and names it."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from datetime import datetime

import pytest
from lake_acceptance import (
    athena,
    claim,
    optimizers,
    preparation,
    removal,
    step_facts,
    steps,
    storage,
    tables,
)
from lake_acceptance.__main__ import main
from lake_acceptance.check import CheckFailed
from lake_acceptance.subject import DOMAIN, HERE, INCREMENTAL, load
from lake_airflow.runs.s3_object import S3Object
from lake_spec.model import ReadableAs
from lake_spec.model.instances import InstanceGroups

from tests.acceptance.emulator import emulator

FACTS = {
    "region": {"value": "eu-central-1"},
    "identity": {
        "value": "arn:aws:sts::111122223333:assumed-role/lake-dev-acceptance/j-1"
    },
    "classes": {"value": {"org.apache.hudi.DefaultSource": True}},
    "parallelism": {"value": {"executors": 2, "default": 8, "shuffle_partitions": 8}},
    "conditional_write": {"value": True},
    "encryption": {"value": {"by": "aws:kms", "key": "arn:aws:kms:..."}},
    "secret": {"value": 32},
}
"""What a step finds where all is as it must be."""


@pytest.fixture(scope="module")
def aws(tmp_path_factory):
    with emulator(tmp_path_factory.mktemp("aws")) as served:
        yield served


@pytest.fixture
def idle(aws):
    """A run that writes nothing."""
    return load("local", cluster=None, emulated=True, say=print)


@pytest.fixture
def subject(aws, idle):
    """A run that has its claim, of which nothing is left after the test."""
    found = idle
    claim.take(found)
    yield found
    aws.faults.clear()
    removal.remove(found)


@pytest.fixture
def deployed():
    """An environment with roles and keys, of which no call is made."""
    found = load("prod", cluster=None, emulated=False, say=print)
    role = "arn:aws:iam::111122223333:role/lake-dev-acceptance"
    environment = replace(found.environment, runtime_roles=((DOMAIN, role),))
    return replace(found, environment=environment, facts=dict(FACTS))


def failure(check, subject) -> str:
    with pytest.raises(CheckFailed) as error:
        check(subject)
    assert error.value.fix
    return error.value.cause


def test_another_account(idle):
    role = "arn:aws:iam::999999999999:role/lake-prod-acceptance"
    environment = replace(idle.environment, runtime_roles=((DOMAIN, role),))
    cause = failure(preparation.caller, replace(idle, environment=environment))
    assert "of the account 123456789012" in cause and "of 999999999999" in cause


def test_a_bucket_that_is_not_there(idle):
    deployed = replace(idle.deployed, landing="s3://lake-nowhere/landing")
    cause = failure(preparation.buckets, replace(idle, deployed=deployed))
    assert "bucket lake-nowhere" in cause


def test_a_lease_that_keeps_nobody_out(subject, monkeypatch):
    subject.release = "abc"
    steps.lease(subject)
    steps.teardown(subject)
    monkeypatch.setattr(S3Object, "read", lambda self: (None, None))
    monkeypatch.setattr(S3Object, "write", lambda self, content, etag: True)
    assert "a second run got the lease" in failure(steps.lease, subject)


def test_a_cluster_that_does_not_start(subject, aws, monkeypatch):
    subject.release = "abc"
    aws.faults.add({"kind": "slow_start", "seconds": 60})

    def create_and_lose(found):
        made = create(found)
        aws.emr.lose_cluster(made)
        return made

    create = steps.create_cluster
    monkeypatch.setattr(steps, "create_cluster", create_and_lose)
    cause = failure(steps.cluster, subject)
    assert "TERMINATED_WITH_ERRORS" in cause


def test_a_request_that_emr_would_refuse(idle):
    environment = replace(idle.environment, security_configuration="x" * 20_000)
    asked = replace(idle, environment=environment, release="abc")
    assert "SecurityConfiguration: got 20000" in failure(steps.create_cluster, asked)


@pytest.mark.parametrize(
    "name, value, check, words",
    [
        ("region", "us-east-1", step_facts.region, "us-east-1, not eu-central-1"),
        (
            "identity",
            "arn:aws:sts::111122223333:assumed-role/lake-prod-nodes/i-1",
            step_facts.identity,
            "runs as arn:aws:sts::111122223333:assumed-role/lake-prod-nodes/i-1",
        ),
        (
            "classes",
            {"org.apache.spark.sql.avro.AvroFileFormat": False},
            step_facts.jars,
            "not on the step's class path: org.apache.spark.sql.avro.AvroFileFormat",
        ),
        (
            "parallelism",
            {"executors": 2, "default": 8, "shuffle_partitions": 2},
            step_facts.parallelism,
            "2 shuffle partitions, 8 cores of 2 executors",
        ),
        ("conditional_write", False, step_facts.conditional_write, "If-None-Match"),
        (
            "encryption",
            {"by": "AES256", "key": ""},
            step_facts.encryption,
            "encrypted by AES256, not by arn:aws:kms",
        ),
        ("secret", 0, step_facts.secret, "/lake/prod/erase is empty"),
    ],
)
def test_a_fact_of_a_step(deployed, name, value, check, words):
    assert check(deployed)
    deployed.facts[name] = {"value": value}
    assert words in failure(check, deployed)


def test_a_secret_that_the_role_may_not_read(deployed):
    denied = "AccessDeniedException: no ssm:GetParameter on /lake/prod/erase"
    deployed.facts["secret"] = {"error": denied}
    assert denied in failure(step_facts.secret, deployed)


ENDS = {
    "ModuleNotFoundError: No module named 'boto3'": "boto3 is missing",
    "lake.zip is not that of the release: its SHA-256 is 1": "was replaced",
    "botocore.exceptions.NoRegionError: You must specify a region": "no AWS region",
    "An error occurred (AccessDenied) when calling PutObject": "lacks a right",
    "java.lang.ClassNotFoundException: org.apache.hudi.X": "a jar of the EMR",
    "ValueError: something else": "ValueError: something else",
}


def test_the_end_of_a_step(idle):
    found = {text: steps.failure_of(idle, ended_by(text)) for text in ENDS}
    assert [text for text in ENDS if ENDS[text] not in found[text].cause] == []
    assert all(each.fix for each in found.values())


def ended_by(text):
    """A step that failed, as EMR describes it."""
    status = {
        "State": "FAILED",
        "FailureDetails": {"Message": text},
        "Timeline": {"CreationDateTime": datetime(2026, 1, 1)},
    }
    return {"Id": "s-1", "Name": "probe", "Status": status}


def test_rows_that_are_not_what_the_files_make(deployed):
    for table, (current, versions, living) in tables.EXPECTED.items():
        figures = {
            "current_rows": current,
            "versions": versions,
            "versions_open": living,
        }
        report = {"run": f"{INCREMENTAL}/a", "table": table, **figures}
        deployed.reports.append(report)
    assert tables.rows(deployed)
    deployed.reports[-1]["versions"] += 1
    assert "contract" not in failure(tables.rows, deployed)


def test_partitions_that_nobody_registered(subject):
    glue, location = subject.client("glue"), f"{subject.environment.warehouse}/t"
    glue.create_database(DatabaseInput={"Name": DOMAIN})
    place = {"StorageDescriptor": {"Location": location}}
    keys = [{"Name": "site", "Type": "string"}]
    table = {"Name": "visits", "PartitionKeys": keys, **place}
    glue.create_table(DatabaseName=DOMAIN, TableInput=table)
    marker = "site=tower/.hoodie_partition_metadata"
    storage.put(subject.client("s3"), location, marker, b"")
    cause = failure(tables.partitions, subject)
    assert "Glue has 0 partitions, S3 has 1 folders" in cause and "site=tower" in cause
    partition = {
        "Values": ["tower"],
        "StorageDescriptor": {"Location": f"{location}/site=tower/"},
    }
    glue.create_partition(
        DatabaseName=DOMAIN, TableName="visits", PartitionInput=partition
    )
    assert tables.partitions(subject).startswith("1 partitions")


@pytest.fixture
def entries(subject):
    """Entries of every published table, of which a test takes or changes one."""
    glue, s3 = subject.client("glue"), subject.client("s3")
    root = f"{subject.environment.warehouse}/{DOMAIN}/visits"
    for kind in ReadableAs:
        database = kind.database_of(DOMAIN)
        glue.create_database(DatabaseInput={"Name": database})
        for layer in tables.LAYERS:
            place = f"{root}/{layer}"
            storage.put(s3, place, "metadata/v1.metadata.json", b"{}")
            storage.put(s3, place, "_delta_log/00000000000000000000.json", b"{}")
            given = {
                "Name": tables.name_of("visits", layer),
                "StorageDescriptor": {"Location": place},
                "Parameters": {
                    "table_type": kind.value.upper(),
                    "metadata_location": f"{place}/metadata/v1.metadata.json",
                },
            }
            glue.create_table(DatabaseName=database, TableInput=given)
    return glue


def test_tables_that_are_published_are_found_and_removed(subject, entries):
    assert tables.published(subject) == "6 entries lead to metadata"
    assert removal.remove(subject).endswith("6 tables of lake_acceptance")
    with pytest.raises(entries.exceptions.EntityNotFoundException):
        entries.get_database(Name=f"{DOMAIN}_delta")


def test_a_published_table_that_is_not_in_the_catalogue(subject, entries):
    entries.delete_table(DatabaseName=f"{DOMAIN}_delta", Name="visits_history")
    cause = failure(tables.published, subject)
    assert cause == "Glue lacks lake_acceptance_delta.visits_history."


def test_an_entry_that_leads_to_no_metadata(subject, entries):
    """Each format looks at the place that its readers look at."""
    root = f"{subject.environment.warehouse}/{DOMAIN}/visits"
    s3 = subject.client("s3")
    storage.delete_below(s3, f"{root}/history/_delta_log")
    cause = failure(tables.published, subject)
    assert f"there is no metadata at {root}/history/_delta_log/" in cause
    storage.delete_below(s3, f"{root}/current/metadata")
    cause = failure(tables.published, subject)
    assert f"at {root}/current/metadata/v1.metadata.json" in cause


def test_an_entry_of_another_format(subject, entries):
    database = f"{DOMAIN}_delta"
    found = entries.get_table(DatabaseName=database, Name="visits")["Table"]
    given = {n: found[n] for n in ("Name", "StorageDescriptor", "Parameters")}
    given["Parameters"]["table_type"] = "ICEBERG"
    entries.update_table(DatabaseName=database, TableInput=given)
    assert "table_type is not DELTA" in failure(tables.published, subject)


ICEBERG, ACCOUNT = f"{DOMAIN}_iceberg", "123456789012"


def set_optimizer(glue, table, kind, **configuration):
    glue.create_table_optimizer(
        CatalogId=ACCOUNT,
        DatabaseName=ICEBERG,
        TableName=table,
        Type=kind,
        TableOptimizerConfiguration=configuration,
    )


def test_an_optimizer_that_is_on_for_a_published_table(subject, entries):
    assert optimizers.of_tables(subject) == (
        "none is on; 0 are off by settings of tables"
    )
    set_optimizer(entries, "visits", "compaction", enabled=False)
    assert optimizers.of_tables(subject).endswith("1 are off by settings of tables")
    orphans = {"icebergConfiguration": {"orphanFileRetentionPeriodInDays": 3}}
    set_optimizer(
        *(entries, "visits_changes", "orphan_file_deletion"),
        enabled=True,
        orphanFileDeletionConfiguration=orphans,
    )
    assert failure(optimizers.of_tables, subject) == (
        "Glue's table optimizers are on in lake_acceptance_iceberg: "
        "orphan_file_deletion of visits_changes."
    )


class Catalogue:
    """A client of Glue whose catalogue has these settings of optimizers."""

    def __init__(self, glue, **settings):
        self._glue, self._settings = glue, settings

    def __getattr__(self, name):
        return getattr(self._glue, name)

    def batch_get_table_optimizer(self, *, Entries):
        """Show what it has on for a table without a setting of its own."""
        answer = self._glue.batch_get_table_optimizer(Entries=Entries)
        if self._settings.get("Compaction") == {"enabled": "true"}:
            answer["TableOptimizers"] += [
                {
                    "tableName": each["tableName"],
                    "tableOptimizer": {
                        "type": "compaction",
                        "configuration": {"enabled": True},
                        "configurationSource": "catalog",
                    },
                }
                for each in answer.get("Failures", ())
                if each["type"] == "compaction"
            ]
        return answer

    def get_catalog(self, *, CatalogId):
        assert CatalogId == ACCOUNT
        properties = {"IcebergOptimizationProperties": self._settings}
        return {"Catalog": {"Name": "", "CatalogProperties": properties}}


def test_an_optimizer_of_the_catalogue_that_reaches_a_published_table(subject, entries):
    subject.clients["glue"] = Catalogue(entries)
    assert optimizers.of_catalogue(subject) == "on for the catalogue: none"
    off = {"enabled": "false"}
    subject.clients["glue"] = Catalogue(entries, Compaction=off, Retention=off)
    assert optimizers.of_catalogue(subject) == "on for the catalogue: none"
    subject.clients["glue"] = Catalogue(entries, Compaction={"enabled": "true"})
    for table in ("visits", "visits_history"):
        set_optimizer(entries, table, "compaction", enabled=False)
    assert failure(optimizers.of_catalogue, subject) == (
        f"the catalogue of {ACCOUNT} has table optimizers on, and these tables of "
        "lake_acceptance_iceberg have no setting of their own: compaction of "
        "visits_changes."
    )
    told = "are on in lake_acceptance_iceberg: compaction of visits_changes."
    assert told in failure(optimizers.of_tables, subject)
    set_optimizer(entries, "visits_changes", "compaction", enabled=False)
    assert optimizers.of_tables(subject).startswith("none is on; 3 are off")
    assert optimizers.of_catalogue(subject) == "on for the catalogue: compaction"


def by_files(table: str) -> list[list[dict]]:
    """The versions of each key in the order of their times, by the landing files alone."""
    root = HERE / "landing"
    files = sorted(root.glob(f"*/lake_acceptance/{table}/**/*.csv"))
    read = [(f, list(csv.DictReader(f.open(encoding="utf-8")))) for f in files]
    versions: dict[str, list[dict]] = {}
    if table == "members":
        for _, rows in read:
            for row in rows:
                own = versions.setdefault(row["member_id"], [])
                if not own or own[-1] != row:
                    own.append(row)
        there = {row["member_id"] for row in read[-1][1]}
        kept = [own[-1] for key, own in versions.items() if key in there]
    else:
        every = [row for _, rows in read for row in rows]
        for row in sorted(every, key=lambda each: each["updated_at"]):
            versions.setdefault(row["visit_id"], []).append(row)
        kept = [own[-1] for own in versions.values() if own[-1]["op"] != "D"]
    every = [row for own in versions.values() for row in own]
    return [kept, [row for row in every if row.get("op") != "D"]]


@pytest.mark.parametrize("table", athena.ROWS)
def test_the_rows_that_athena_must_read_are_those_of_the_files(table):
    rows = athena.ROWS[table]
    names = [re.sub(r"date_format\((\w+),.*", r"\1", each) for each in rows.columns]
    for layer, made in zip((rows.current, rows.history), by_files(table)):
        found = [
            tuple(row[n][:10] if n == "updated_at" else row[n] for n in names)
            for row in made
        ]
        assert sorted(layer) == sorted(found)
    current, versions, _ = tables.EXPECTED[table]
    assert (len(rows.current), len(rows.history)) == (current, versions)


class Athena:
    """Athena's client, which has the rows of the landing files, as it is told to show them."""

    def __init__(self, show=lambda name, row: row):
        self.show = show
        self.queries = {}

    def start_query_execution(self, *, QueryString, ResultConfiguration):
        id = str(len(self.queries))
        self.queries[id] = QueryString
        return {"QueryExecutionId": id}

    def get_query_execution(self, *, QueryExecutionId):
        return {"QueryExecution": {"Status": {"State": "SUCCEEDED"}}}

    def get_query_results(self, *, QueryExecutionId):
        query = self.queries[QueryExecutionId]
        _, database, _, table, rest = query.split('"')
        rows = athena.ROWS[table.removesuffix("_history")]
        chosen = rows.history if table.endswith("_history") else rows.current
        if rest:
            chosen = [each for each in chosen if rest == f" WHERE site = '{each[1]}'"]
        shown = [self.show(f"{database}.{table}", row) for row in chosen]
        cells = [
            [{"VarCharValue": v} if v else {} for v in row] for row in shown if row
        ]
        return {"ResultSet": {"Rows": [{"Data": []}, *({"Data": c} for c in cells)]}}


OF_ATHENA = [
    (athena.of_hudi, "lake_acceptance", "members_history"),
    (athena.of_iceberg, "lake_acceptance_iceberg", "visits"),
    (athena.of_delta, "lake_acceptance_delta", "visits_history"),
]


@pytest.mark.parametrize("check, database, name", OF_ATHENA)
def test_rows_that_athena_reads(deployed, check, database, name):
    client = deployed.clients["athena"] = Athena()
    count = {"members_history": 5, "visits": 4, "visits_history": 8}[name]
    assert f"{database}.{name} {count}" in check(deployed)
    assert {each.split('"')[1] for each in client.queries.values()} == {database}
    by_partition = any("WHERE" in each for each in client.queries.values())
    assert by_partition == name.startswith("visits")


@pytest.mark.parametrize("check, database, name", OF_ATHENA)
@pytest.mark.parametrize(
    "fault",
    [
        lambda row: ("",) * len(row),
        lambda row: row[::-1],
        lambda row: (*row[:-1], ""),
        lambda row: None if row[0] == "1" else row,
        lambda row: ("7", *row[1:]) if row[0] == "2" else row,
    ],
    ids=["nulls", "other-columns", "one-null", "lacks-a-key", "another-key"],
)
def test_rows_that_athena_reads_otherwise(deployed, check, database, name, fault):
    """Planted: as many rows, but other values of them."""
    wrong = f"{database}.{name}"
    deployed.clients["athena"] = Athena(
        lambda table, row: fault(row) if table == wrong else row
    )
    said = failure(check, deployed)
    assert f"of {wrong}, not the" in said and "it lacks [(" in said


def test_a_cluster_that_is_left(subject):
    subject.release = "abc"
    subject.cluster_id = steps.create_cluster(subject)
    assert subject.cluster_id in failure(steps.none_left, subject)
    assert "TERMINATED" in steps.teardown(subject)
    assert steps.none_left(subject)


def test_remove_ends_the_cluster_of_an_earlier_run(subject, tmp_path, capsys):
    subject.release = "abc"
    left = steps.create_cluster(subject)
    assert main(["local", "--remove", "--yes", "--report", str(tmp_path)]) == 0
    assert f"{left} TERMINATED" in capsys.readouterr().out
    assert steps.none_left(subject)


def test_the_cluster_gets_a_task_node_on_spot(idle):
    assert isinstance(idle.cluster.instances, InstanceGroups)
    assert idle.cluster.instances.has_spot
