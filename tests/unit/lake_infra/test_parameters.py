"""The values of parameters, and that every template can be told what it asks for."""

from __future__ import annotations

import pytest
from lake_infra.__main__ import main
from lake_infra.parameters import parameters
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


def test_topics_are_those_of_alarms_and_of_domains():
    asked = {"Parameters": {"AlarmTopicName": {}, "TopicArns": {}}}
    assert parameters(asked, environment(), DOMAINS) == {
        "AlarmTopicName": "alarms",
        "TopicArns": f"{topic('alarms')},{topic('people')}",
    }
    assert parameters(asked, environment(alarm_topic=None), []) == {}


@pytest.mark.parametrize("layer", [n for n in LAYERS if n not in GENERATED])
@pytest.mark.parametrize("name", ["dev", "prod"])
def test_our_environments_give_every_value_that_has_no_default(capsys, layer, name):
    assert main(["parameters", name, layer]) == 0
    told = dict(word.split("=", 1) for word in capsys.readouterr().out.split())
    asked = load_template(layer)["Parameters"]
    missing = {n for n, each in asked.items() if "Default" not in each} - set(told)
    assert missing - ASKED_OF_PEOPLE == set()


ASKED_OF_PEOPLE = {"Repository", "RequirementsVersion", "StartupVersion"}


def test_what_cannot_be_made_is_told_and_ends_with_1(capsys, tmp_path):
    assert main(["parameters", "local", "network"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "environments/local.yml: alarm_topic: missing." in err
