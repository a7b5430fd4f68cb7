"""Glue's own optimizers of published tables: off for each table, whatever the catalogue says."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from botocore.exceptions import ClientError

from lake_spark.publish import glue_optimizers

PLACE = {"CatalogId": "123456789012", "DatabaseName": "moma_iceberg", "TableName": "t"}


class Glue:
    """A catalogue with one table, and which of its optimizers are on."""

    exceptions = SimpleNamespace(ClientError=ClientError)

    def __init__(self, **on: bool) -> None:
        self.on, self.puts, self.refusal = on, [], None

    def get_table(self, *, DatabaseName, Name):
        return {"Table": {"CatalogId": PLACE["CatalogId"]}}

    def batch_get_table_optimizer(self, *, Entries):
        if self.refusal:
            raise ClientError({"Error": {"Code": self.refusal}}, "BatchGet")
        found = [
            {"tableOptimizer": {"type": e["type"], "configuration": {"enabled": is_on}}}
            for e in Entries
            for is_on in [self.on.get(e["type"])]
            if is_on is not None
        ]
        return {"TableOptimizers": found}

    def create_table_optimizer(self, **asked):
        assert asked["Type"] not in self.on
        self._put(asked)

    def update_table_optimizer(self, **asked):
        assert asked["Type"] in self.on
        self._put(asked)

    def _put(self, asked):
        self.puts.append(asked)
        self.on[asked["Type"]] = asked["TableOptimizerConfiguration"]["enabled"]


def switched_off(glue: Glue) -> list:
    """Switch them off; return the run's warnings."""
    warnings: list = []
    run = SimpleNamespace(
        warn=lambda id, words: warnings.append(f"{id.value}: {words}")
    )
    glue_optimizers.switch_off(run, glue, PLACE["DatabaseName"], PLACE["TableName"])
    return warnings


OFF = {"compaction": False, "retention": False, "orphan_file_deletion": False}


@pytest.mark.parametrize(
    "before, puts",
    [
        ({}, 3),
        ({"compaction": True}, 3),
        ({"orphan_file_deletion": False}, 2),
        (OFF, 0),
    ],
)
def test_each_optimizer_is_off_after_it_and_only_what_is_on_or_missing_is_put(
    before, puts
):
    glue = Glue(**before)
    assert switched_off(glue) == []
    assert glue.on == OFF
    assert len(glue.puts) == puts
    assert all(PLACE.items() <= each.items() for each in glue.puts)
    passed = [each["TableOptimizerConfiguration"] for each in glue.puts]
    assert [
        each for each in passed if "roleArn" in each
    ] == [], "nobody is given a role"


def test_a_catalogue_that_refuses_it_is_a_warning_that_names_the_table():
    glue = Glue()
    glue.refusal = "AccessDeniedException"
    assert switched_off(glue) == [
        "OptimizersNotOff: moma_iceberg.t in the Glue catalogue: its table optimizers "
        "could not be switched off (AccessDeniedException). They must not run on it."
    ]
