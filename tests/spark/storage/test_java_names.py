"""What PySpark uses of Java for each column is not looked up for each column."""

import pytest
from lake_spark.storage.session import LOOKED_UP_ONCE
from py4j import protocol
from pyspark.sql import Window
from pyspark.sql import functions as F

LOOK_UP = protocol.REFLECTION_COMMAND_NAME + protocol.REFL_GET_UNKNOWN_SUB_COMMAND_NAME


@pytest.fixture
def looked_up(spark, monkeypatch):
    """The names that the JVM is asked for from here on."""
    client = spark._jvm._gateway_client
    send, asked = client.send_command, []

    def listening(command, *others, **more):
        if command.startswith(LOOK_UP):
            asked.append(command[len(LOOK_UP) :].split("\n")[0])
        return send(command, *others, **more)

    monkeypatch.setattr(client, "send_command", listening)
    return asked


def test_columns_and_windows_look_no_name_up(spark, looked_up):
    latest = Window.partitionBy("key").orderBy(F.col("at").desc())
    rows = spark.createDataFrame([(1, 1), (1, 2)], "key int, at int")
    rows = rows.withColumn("n", F.row_number().over(latest)).persist()
    assert rows.where(F.col("n") == 1).select("at").first().at == 2
    assert not {"functions", "org", *LOOKED_UP_ONCE}.intersection(looked_up)


def test_names_that_are_not_remembered_are_looked_up(spark, looked_up):
    spark._jvm.java.util.UUID.randomUUID()
    assert looked_up == ["java", "java.util", "java.util.UUID"]


def test_each_name_is_one_that_java_has(spark):
    classes = [_at(spark._jvm, name) for name in LOOKED_UP_ONCE]
    assert [type(found).__name__ for found in classes] == ["JavaClass"] * len(
        LOOKED_UP_ONCE
    )


def _at(place, name):
    for part in name.split("."):
        place = getattr(place, part)
    return place
