"""Partitions of the catalogue follow the folders of a table, in batches that Glue takes."""

from __future__ import annotations

import boto3
import pytest
from botocore.stub import Stubber
from moto import mock_aws

from lake_spark.tables.glue_partitions import Partitions, partition_input, values_of

STORAGE = {
    "Location": "s3://lake/shop/orders/current",
    "Columns": [{"Name": "id", "Type": "int"}],
}
TABLE = {
    "Name": "orders",
    "PartitionKeys": [{"Name": "day", "Type": "string"}],
    "StorageDescriptor": STORAGE,
}


@pytest.fixture
def glue(monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    with mock_aws():
        client = boto3.client("glue", region_name="eu-central-1")
        client.create_database(DatabaseInput={"Name": "shop"})
        client.create_table(DatabaseName="shop", TableInput=TABLE)
        yield client


def inputs(*days: str, storage: dict = STORAGE) -> dict:
    return {(day,): partition_input((day,), f"day={day}", storage) for day in days}


def registered(glue) -> dict:
    pages = glue.get_paginator("get_partitions").paginate(
        DatabaseName="shop", TableName="orders"
    )
    found = [each for page in pages for each in page["Partitions"]]
    return {
        each["Values"][0]: each["StorageDescriptor"]["Location"].rpartition("/")[2]
        for each in found
    }


def asked(glue) -> list:
    """How many partitions each request that changes something names, from now on."""
    sizes = []

    def note(params, model, **_):
        for name in ("PartitionInputList", "PartitionsToDelete", "Entries"):
            if name in params:
                sizes.append((model.name, len(params[name])))

    glue.meta.events.register("provide-client-params.glue.*", note)
    return sizes


def test_partitions_follow_the_folders_in_batches(glue):
    partitions, sizes = Partitions(glue, "shop", "orders"), asked(glue)
    days = [f"{number:03d}" for number in range(230)]
    partitions.synchronise(inputs(*days))
    assert registered(glue) == {day: f"day={day}" for day in days}
    partitions.synchronise(inputs(*days[60:], "new"))
    assert set(registered(glue)) == {*days[60:], "new"}
    create, delete = "BatchCreatePartition", "BatchDeletePartition"
    assert sizes == [
        *((create, 100), (create, 100), (create, 30), (create, 1)),
        *((delete, 25), (delete, 25), (delete, 10)),
    ]


def test_a_second_run_changes_nothing(glue):
    partitions = Partitions(glue, "shop", "orders")
    partitions.synchronise(inputs("a", "b"))
    sizes = asked(glue)
    partitions.synchronise(inputs("a", "b"))
    assert sizes == []


def test_partitions_get_the_columns_of_a_table_that_changed(glue):
    partitions = Partitions(glue, "shop", "orders")
    partitions.synchronise(inputs("a", "b"))
    wider = [*STORAGE["Columns"], {"Name": "note", "Type": "string"}]
    partitions.update(inputs("a", "b", "c", storage={**STORAGE, "Columns": wider}))
    found = glue.get_partitions(DatabaseName="shop", TableName="orders")["Partitions"]
    columns = {p["Values"][0]: p["StorageDescriptor"]["Columns"] for p in found}
    assert columns == {"a": wider, "b": wider}


@pytest.mark.parametrize(
    "code, is_refused", [("AlreadyExistsException", False), ("AccessDenied", True)]
)
def test_what_glue_does_not_process_is_an_error_with_its_name(glue, code, is_refused):
    detail = {"ErrorCode": code, "ErrorMessage": "no"}
    answer = {"Errors": [{"PartitionValues": ["b"], "ErrorDetail": detail}]}
    with Stubber(glue) as stub:
        stub.add_response("get_partitions", {"Partitions": []})
        stub.add_response("batch_create_partition", answer)
        partitions = Partitions(glue, "shop", "orders")
        if not is_refused:
            partitions.synchronise(inputs("a", "b"))
            return
        with pytest.raises(OSError, match=r"shop.orders: .* b \(AccessDenied: no\)"):
            partitions.synchronise(inputs("a", "b"))


@pytest.mark.parametrize(
    "folder, encoded, values",
    [
        ("day=2026-01-01", False, ("2026-01-01",)),
        ("country=AT/kind=a%3Ab%2Fc", True, ("AT", "a:b/c")),
        ("kind=a%3Ab", False, ("a%3Ab",)),
        ("kind=a=b", False, ("a=b",)),
        ("day=__HIVE_DEFAULT_PARTITION__", True, ("__HIVE_DEFAULT_PARTITION__",)),
    ],
)
def test_the_values_of_a_partition_are_those_of_its_folder(folder, encoded, values):
    assert values_of(folder, encoded=encoded) == values
