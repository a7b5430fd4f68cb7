"""Continuous runs: what a domain may say of them, and with which tables and clusters."""

import pytest

from tests.unit.lake_check.spec_files import (
    CLUSTER,
    DOMAIN,
    ENVIRONMENT,
    FEED,
    SNAPSHOT,
    changed,
    diagnostics_of_file,
)

FILE = "tables/sales/_domain.yml"


def diagnostics(specs, changes):
    return diagnostics_of_file(specs, FILE, DOMAIN, changes)


@pytest.mark.parametrize(
    "said",
    [{}, {"every_seconds": 5, "hours": 0.01}, {"every_seconds": 3600, "hours": 20}],
    ids=["nothing", "the least", "the most"],
)
def test_continuous_runs_with_a_schedule_and_a_cluster_pass(specs, said):
    told = {"continuous": said, "schedules.continuous": "*/10 * * * *"}
    assert diagnostics(specs, {**told, "clusters.continuous": "standard"}) == []


@pytest.mark.parametrize(
    "changes, told",
    [
        (
            {"continuous.every_seconds": 4},
            "continuous.every_seconds: got 4. Choose a number from 5 to 3600.",
        ),
        (
            {"continuous.every_seconds": 3601},
            "continuous.every_seconds: got 3601. Choose a number from 5 to 3600.",
        ),
        (
            {"continuous.hours": 0},
            "continuous.hours: got 0.0. Choose a number from 0.01 to 20.",
        ),
        (
            {"continuous": {}, "schedules.continuous": "often"},
            "schedules.continuous: got 'often'. Write five fields",
        ),
        (
            {"continuous": {}, "concurrency": "refuse"},
            "concurrency: got 'refuse'. Every other run would be refused during a "
            "continuous run: write wait, then it starts after the current micro-batch.",
        ),
        (
            {"continuous": {}, "history_runs": "own_dag"},
            "history_runs: got 'own_dag'. Every micro-batch updates history: write "
            "same_cluster.",
        ),
        (
            {"schedules.continuous": "@hourly"},
            "schedules.continuous: got '@hourly'. The domain has no continuous runs: add"
            " `continuous: {}`, or remove it.",
        ),
        (
            {"clusters.continuous": "standard"},
            "clusters.continuous: got 'standard'. The domain has no continuous runs: add"
            " `continuous: {}`, or remove it.",
        ),
        (
            {
                "continuous": {},
                "schedules": {"continuous": "@hourly", "incremental": "@daily"},
            },
            "schedules.incremental: got '@daily'. The continuous run has a schedule "
            "too and does its work, and each of its runs would stop one: remove one "
            "of the two schedules.",
        ),
    ],
)
def test_what_a_domain_says_of_them_is_checked(specs, changes, told):
    (found,) = diagnostics(specs, changes)
    assert found.startswith(told)


def test_an_incremental_schedule_beside_runs_started_by_hand_passes(specs):
    changes = {"continuous": {}, "schedules.incremental": "@daily"}
    assert diagnostics(specs, changes) == []


def test_a_table_of_the_streamer_is_named(specs):
    specs.put("tables/sales/orders.yml", changed(FEED, {"engine": "streamer"}))
    assert diagnostics(specs, {"continuous": {}}) == [
        "continuous: table 'orders' has engine: streamer. A HoodieStreamer step is a "
        "separate application and cannot be part of a micro-batch: set engine: "
        "pyspark on the table, or remove `continuous`."
    ]
    assert diagnostics(specs, {}) == []


def test_a_table_that_is_pulled_whole_in_every_run_is_named(specs):
    pulled = {"connection": "shop", "table": "public.orders"}
    specs.put(
        "tables/sales/orders.yml", changed(SNAPSHOT, {"source.pulled_from": pulled})
    )
    found = [
        each for each in diagnostics(specs, {"continuous": {}}) if "contin" in each
    ]
    assert found == [
        "continuous: table 'orders' has source.pulled_from. Every micro-batch would pull"
        " the whole table: make it a feed with changes_from, move it to another domain,"
        " or remove `continuous`."
    ]


def test_the_cluster_must_live_two_hours_longer(specs):
    specs.put("clusters/standard.yml", changed(CLUSTER, {"max_hours": 14}))
    assert diagnostics(specs, {"continuous.hours": 12}) == []
    assert diagnostics(specs, {"continuous.hours": 12.5}) == [
        "continuous.hours: continuous runs of sales take 12.5 hours. The cluster "
        "'standard' is terminated after max_hours: 14, and needs a margin of 2 hours: "
        "choose up to 12 hours, or another cluster."
    ]


def test_it_is_the_cluster_of_continuous_runs_that_counts(specs):
    specs.put("clusters/short.yml", {"name": "short", "max_hours": 6})
    told = {"cluster": "short", "continuous": {}, "clusters.continuous": "standard"}
    assert diagnostics(specs, told) == []
    told = {"clusters": {"continuous": "short"}, "continuous": {}}
    (found,) = diagnostics(specs, told)
    assert "The cluster 'short' is terminated after max_hours: 6" in found


def test_the_one_cluster_of_an_environment_counts_too(specs):
    specs.put("clusters/short.yml", {"name": "short", "max_hours": 6})
    specs.put("environments/dev.yml", changed(ENVIRONMENT, {"cluster": "short"}))
    assert diagnostics(specs, {"continuous": {}}) == [
        "environments/dev.yml:1: cluster: continuous runs of sales take 12 hours. The "
        "cluster 'short' is terminated after max_hours: 6, and needs a margin of 2 "
        "hours: choose up to 4 hours, or another cluster."
    ]
    assert diagnostics(specs, {}) == []
