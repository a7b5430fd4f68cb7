"""The numbers that Spark's shuffle brings to each task, by Spark's `hash` of an integer."""

from __future__ import annotations

import pytest

from lake_spark.storage.shuffle_hash import numbers_of_tasks, spark_hash


@pytest.mark.parametrize(
    "number, hashed",
    [(0, 933211791), (1, -559580957), (2, 1765031574), (1000, -14577491)],
)
def test_the_hash_is_what_spark_sql_says(number, hashed):
    assert spark_hash(number) == hashed


@pytest.mark.parametrize("tasks", [1, 2, 3, 64, 1000])
def test_each_task_has_a_number_of_its_own(tasks):
    found = numbers_of_tasks(tasks)
    assert [spark_hash(number) % tasks for number in found] == list(range(tasks))
