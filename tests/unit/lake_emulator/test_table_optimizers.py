"""Optimizers of Glue's tables: a team turns them off for a table, and they stay so."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError

from lake_emulator import client
from lake_emulator.server import Emulator

TABLE = {"CatalogId": "123456789012", "DatabaseName": "shop", "TableName": "orders"}
OFF = {"roleArn": "arn:aws:iam::123456789012:role/optimizer", "enabled": False}
DAYS = {"icebergConfiguration": {"orphanFileRetentionPeriodInDays": 3}}


@pytest.fixture
def glue(emulator):
    """Glue with the table `shop.orders`."""
    glue = client("glue", emulator.url, secret=emulator.secret)
    glue.create_database(DatabaseInput={"Name": "shop"})
    glue.create_table(DatabaseName="shop", TableInput={"Name": "orders"})
    yield glue
    glue.delete_database(Name="shop")


def create(glue, kind="compaction", **configuration):
    glue.create_table_optimizer(
        **TABLE, Type=kind, TableOptimizerConfiguration={**OFF, **configuration}
    )


def refused(code, call, **asked):
    with pytest.raises(ClientError) as raised:
        call(**asked)
    error = raised.value.response["Error"]
    assert error["Code"] == code
    return error["Message"]


def test_an_optimizer_is_made_shown_changed_and_deleted(glue):
    create(glue)
    found = glue.get_table_optimizer(**TABLE, Type="compaction")
    assert {name: found[name] for name in TABLE} == TABLE
    shown = found["TableOptimizer"]
    # The boto3 of Airflow 3.0.6 does not know this member, and leaves it out.
    assert shown.pop("configurationSource", "table") == "table"
    assert shown == {"type": "compaction", "configuration": OFF}
    on = {**OFF, "enabled": True}
    glue.update_table_optimizer(
        **TABLE, Type="compaction", TableOptimizerConfiguration=on
    )
    found = glue.get_table_optimizer(**TABLE, Type="compaction")
    assert found["TableOptimizer"]["configuration"] == on
    glue.delete_table_optimizer(**TABLE, Type="compaction")
    message = refused(
        "EntityNotFoundException", glue.get_table_optimizer, **TABLE, Type="compaction"
    )
    assert message == "Table optimizer compaction of orders not found."


def test_each_type_is_one_of_its_own_and_has_its_own_settings(glue):
    create(glue, "orphan_file_deletion", orphanFileDeletionConfiguration=DAYS)
    create(glue)
    asked = {**TABLE, "TableOptimizerConfiguration": OFF}
    call = glue.create_table_optimizer
    assert refused("AlreadyExistsException", call, **asked, Type="compaction") == (
        "Table optimizer compaction already exists."
    )
    assert refused("ValidationException", call, **asked, Type="retention") == (
        "An optimizer of type retention needs retentionConfiguration."
    )
    asked["TableOptimizerConfiguration"] = {
        **OFF,
        "orphanFileDeletionConfiguration": DAYS,
    }
    assert refused("ValidationException", call, **asked, Type="compaction") == (
        "An optimizer of type compaction cannot have orphanFileDeletionConfiguration."
    )
    assert refused("ValidationException", call, **asked, Type="orphans") == (
        "orphans is no type of compaction, retention, orphan_file_deletion."
    )


def test_many_are_shown_at_once_and_those_that_are_missing_are_named(glue):
    create(glue)
    entry = {"databaseName": "shop", "tableName": "orders"}
    reply = glue.batch_get_table_optimizer(
        Entries=[
            {**entry, "type": "compaction"},
            {**entry, "type": "retention"},
            {**entry, "tableName": "customers", "type": "compaction"},
        ]
    )
    (found,) = reply["TableOptimizers"]
    assert found["tableOptimizer"]["configuration"] == OFF
    missing = [each["error"]["ErrorMessage"] for each in reply["Failures"]]
    assert missing == [
        "Table optimizer retention of orders not found.",
        "Table customers not found.",
    ]


def test_an_optimizer_outlives_a_change_of_its_table_and_ends_with_it(glue):
    create(glue)
    glue.update_table(DatabaseName="shop", TableInput={"Name": "orders"})
    assert glue.get_table_optimizer(**TABLE, Type="compaction")
    glue.delete_table(DatabaseName="shop", Name="orders")
    assert "Table orders not found" in refused(
        "EntityNotFoundException", glue.get_table_optimizer, **TABLE, Type="compaction"
    )
    glue.create_table(DatabaseName="shop", TableInput={"Name": "orders"})
    refused(
        "EntityNotFoundException", glue.get_table_optimizer, **TABLE, Type="compaction"
    )


def test_an_optimizer_is_on_disk_when_its_call_was_answered(tmp_path):
    for is_first in (True, False):
        served = Emulator(tmp_path)
        served.start()
        try:
            glue = client("glue", served.url, secret=served.secret)
            if is_first:
                glue.create_database(DatabaseInput={"Name": "kept"})
                glue.create_table(DatabaseName="kept", TableInput={"Name": "orders"})
                glue.create_table_optimizer(
                    **{**TABLE, "DatabaseName": "kept"},
                    Type="compaction",
                    TableOptimizerConfiguration=OFF,
                )
            table = {**TABLE, "DatabaseName": "kept"}
            found = glue.get_table_optimizer(**table, Type="compaction")
            assert found["TableOptimizer"]["configuration"] == OFF
        finally:
            served.stop()
