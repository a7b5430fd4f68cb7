"""Whatever somebody writes into a form: refused by name before there is a cluster, or,
where any text may stand, one argument of a step, letter by letter."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from lake_airflow.compat import AirflowFailException
from lake_airflow.operators.preview import RunPlan
from lake_airflow.planning.form import params
from lake_airflow.planning.plan import plan
from lake_airflow.runs.run import RunRefused, check_run
from lake_spec.model import Scope
from tests.unit.lake_airflow.first_task import create_cluster
from tests.unit.lake_airflow.specs import (
    CLUSTER,
    ENVIRONMENT,
    RELEASE,
    domain,
    snapshot,
    table,
)

DOMAIN = domain(table("orders"), snapshot("stock", Scope("region")))
PLANS = {each.kind: each for each in plan(DOMAIN)}
HOSTILE = (
    "{{ ti.xcom_pull('create_cluster') }}",
    "' OR 1=1 --",
    '"; rm -rf / #',
    "$(reboot) `id` | tee ~/.ssh/authorized_keys",
    "--packages com.example:evil:1",
    "../../other/landing",
    "a\nb",
    "\u202etxt.exe",
    "x" * 20_000,
)
ANY_TEXT = {"files": "--file={}".format, "empty_scopes": lambda t: json.dumps([t])}
"""Params that take texts of any letters, and the argument that each becomes."""

PARAMS = [(kind, name) for kind, each in PLANS.items() for name in params(each)]


def asked(kind, name, value):
    """The run's Params: what its form gives, and one hostile value."""
    given = {key: each.value for key, each in params(PLANS[kind]).items()}
    if kind == "reprocess":
        given["quarantined"] = True
    if kind == "erase":
        given["request"] = "gdpr-7"
    return {**given, name: value}


def argv_of(run):
    """The arguments of the run's first step."""
    dag = next(each for each in PLANS.values() if each.dag_id == run.dag_id)
    told = RunPlan.of(dag, run=run, cluster=CLUSTER, environment=ENVIRONMENT)
    return told.steps[dag.stages[0].name][0]["HadoopJarStep"]["Args"]


def check_refusal(name, words):
    """It names the param in one short line."""
    assert name in words or (name.startswith("window") and "window" in words)
    assert len(words) < 600 and "\n" not in words


def check_argument(run, name, text):
    """The text is one argument, all others are what they would be without it."""
    assert name in ANY_TEXT, "nothing else takes any text"
    told, instead = ANY_TEXT[name](text), ANY_TEXT[name]("a")
    beside = argv_of(replace(run, **{name: ("a",)}))
    assert beside.count(instead) == 1
    assert argv_of(run) == [told if each == instead else each for each in beside]


@pytest.mark.parametrize("kind, name", PARAMS)
def test_it_is_refused_by_name_or_one_argument_letter_by_letter(kind, name):
    for text in HOSTILE:
        for value in (text, [text], {text: text}):
            given = asked(kind, name, value)
            try:
                run = check_run(PLANS[kind], run_id="r1", params=given, release=RELEASE)
            except RunRefused as refused:
                check_refusal(name, str(refused))
            else:
                check_argument(run, name, text)


@pytest.mark.parametrize("text", HOSTILE)
def test_what_is_refused_never_had_a_cluster(emr, runner, text):
    task = create_cluster(PLANS["incremental"])
    runner.params = {"tables": [text]}
    with pytest.raises(AirflowFailException, match="The run is refused: tables: "):
        runner.execute(task)
    assert not emr.clusters
