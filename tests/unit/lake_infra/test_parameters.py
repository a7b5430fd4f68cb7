"""The values of parameters, and that every template can be told what it asks for."""

from __future__ import annotations

import pytest
from lake_infra.__main__ import main
from lake_infra.parameters import parameters
from lake_infra.resource_names import NotDeployable
from lake_infra.template import GENERATED, LAYERS, load_template

from tests.unit.lake_infra.lakes import domain, environment, role, topic

DOMAINS = [domain("sales", told="people"), domain("stock")]
TEMPLATE = {
    "Parameters": {
        name: {"Type": "String"}
        for name in ("ServiceRoleName", "RuntimeRoleArns", "LogsPrefix", "LogDays")
    }
}


def test_a_template_is_told_what_it_asks_for_and_the_files_know():
    assert parameters(TEMPLATE, environment(), DOMAINS) == {
        "ServiceRoleName": "emr",
        "RuntimeRoleArns": f"{role('lake/steps-sales')},{role('steps')}",
        "LogsPrefix": "logs/",
    }


def test_what_the_files_leave_out_is_told_where_its_default_is_empty():
    """And nothing where a template has another default, or the files never know it."""
    boundary = {"Default": ""}
    for asked, told in (
        ({"PermissionsBoundaryArn": boundary}, {"PermissionsBoundaryArn": ""}),
        ({"PermissionsBoundaryArn": {"Default": "x"}}, {}),
        ({"ZoneA": {"Default": ""}}, {}),
    ):
        assert parameters({"Parameters": asked}, environment(), DOMAINS) == told


def test_the_deployment_is_told_as_its_clusters_are_tagged():
    asked = {"Parameters": {"Deployment": {}}}
    told = [
        parameters(asked, environment(runs=runs), DOMAINS)["Deployment"]
        for runs in ("s3://lake/runs", "s3://neighbour/runs")
    ]
    assert told[0] == "838da9417255941c" != told[1]


def test_topics_are_those_of_alarms_and_of_domains():
    asked = {"Parameters": {"AlarmTopicName": {}, "TopicArns": {}}}
    assert parameters(asked, environment(), DOMAINS) == {
        "AlarmTopicName": "alarms",
        "TopicArns": f"{topic('alarms')},{topic('people')}",
    }
    assert parameters(asked, environment(alarm_topic=None), []) == {}


def test_tables_are_written_by_the_roles_of_steps_and_by_the_one_for_emergencies():
    asked = {"Parameters": {"TableWriterArns": {}, "BreakGlassRoleArn": {}}}
    steps = f"{role('lake/steps-sales')},{role('steps')}"
    assert parameters(asked, environment(), DOMAINS) == {
        "TableWriterArns": f"{steps},{role('lake-test-break-glass')}",
        "BreakGlassRoleArn": role("lake-test-break-glass"),
    }
    named = environment(break_glass_role=role("sso/Emergency"))
    assert parameters(asked, named, DOMAINS) == {
        "TableWriterArns": f"{steps},{role('sso/Emergency')}",
        "BreakGlassRoleArn": role("sso/Emergency"),
    }


def lake_of(count: int, letters: int):
    names = [f"d{number:0{letters - 1}}" for number in range(count)]
    roles = tuple((name, role(f"lake-prod-steps-{name}")) for name in names)
    return environment(runtime_roles=roles), [domain(name) for name in names]


def test_fifty_domains_with_roles_of_their_own_fit():
    for layer in ("data", "emr", "mwaa"):
        told = parameters(load_template(layer), *lake_of(50, letters=20))
        assert max(map(len, told.values())) > 3000


def test_more_roles_than_a_parameter_takes_are_refused_by_name():
    with pytest.raises(NotDeployable) as error:
        parameters(load_template("data"), *lake_of(70, letters=20))
    assert str(error.value) == (
        "environments/test.yml: the parameter TableWriterArns would have 4812 "
        "characters; CloudFormation takes 4096. Let several domains share a runtime "
        "role or topic, or give these shorter names."
    )


@pytest.mark.parametrize("layer", [n for n in LAYERS if n not in GENERATED])
@pytest.mark.parametrize("name", ["dev", "prod"])
def test_our_environments_give_every_value_that_has_no_default(capsys, layer, name):
    assert main(["parameters", name, layer]) == 0
    told = dict(word.split("=", 1) for word in capsys.readouterr().out.split())
    asked = load_template(layer)["Parameters"]
    missing = {n for n, each in asked.items() if "Default" not in each} - set(told)
    assert missing - ASKED_OF_PEOPLE == set()


ASKED_OF_PEOPLE = {
    "MonthlyBudget",
    "Repository",
    "RequirementsVersion",
    "StartupVersion",
}


def test_what_cannot_be_made_is_told_and_ends_with_1(capsys, tmp_path):
    assert main(["parameters", "local", "network"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "environments/local.yml: alarm_topic: missing." in err
