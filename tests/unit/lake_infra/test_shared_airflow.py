"""The templates of an environment whose Airflow is of others."""

from __future__ import annotations

import json

import pytest
from lake_infra.__main__ import main
from lake_infra.aws_limits import POLICY_CHARACTERS
from lake_infra.inline_policies import check_inline_policies
from lake_infra.packing import size
from lake_infra.parameters import parameters
from lake_infra.policies import resolved, values_of
from lake_infra.resource_names import NotDeployable
from lake_infra.shared_airflow import layer_template
from lake_infra.template import GENERATED, LAYERS, load_template
from lake_infra.terraform import terraform_files
from lake_spec.model.aws import SharedAirflow

from tests.deploy.allowed import Asked, allowing, statements
from tests.deploy.calls import NEEDS
from tests.deploy.granted import airflow, deploy
from tests.unit.lake_infra.lakes import ACCOUNT, domain, environment, role

AIRFLOW = SharedAirflow("team-airflow", "team-bucket", dags="team/dags")
SHARED = environment(airflow=AIRFLOW)
DOMAINS = [domain("sales", told="people"), domain("stock")]
HOME = "arn:aws:s3:::team-bucket/team/dags/lake"
OF_PEOPLE = {
    *("AlarmEmail", "MonthlyBudget", "LogDays", "ColdLandingDays", "OldTableFilesDays"),
    *("Repository", "SubjectPrefix", "GitHubEnvironment", "Branch", "ProviderArn"),
    *("AirflowRoleName", "AirflowKeyArn", "RequirementsKey"),
}
"""Parameters that people give by hand, or leave at their default."""


@pytest.mark.parametrize("layer", ["data", "alerts", "mwaa", "deploy"])
def test_what_is_of_an_airflow_of_its_own_is_left_out(layer):
    template = layer_template(SHARED, layer)
    text = json.dumps(template)
    assert "AirflowBucket" not in text
    assert "AWS::MWAA::Environment" not in text and 'LogGroupName"' not in text
    told = parameters(template, SHARED, DOMAINS)
    assert set(template["Parameters"]) - set(told) <= OF_PEOPLE
    assert set(told) <= set(template["Parameters"])
    if layer in ("data", "alerts"):
        left_out = set(load_template(layer)["Resources"]) - set(template["Resources"])
        assert (
            left_out
            == {
                "data": {"Airflow", "AirflowOverTlsOnly"},
                "alerts": {
                    *("TaskLogs", "SchedulerLogs", "DagProcessingLogs"),
                    *("WorkerLogs", "WebServerLogs"),
                },
            }[layer]
        )


@pytest.mark.parametrize("layer", [each for each in LAYERS if each not in GENERATED])
def test_an_airflow_of_its_own_has_the_templates_as_they_are(layer):
    assert layer_template(environment(), layer) == load_template(layer)
    if layer in ("network", "endpoints", "emr"):
        assert layer_template(SHARED, layer) == load_template(layer)


def deploy_role(**given: str):
    template = layer_template(SHARED, "deploy")
    values = {**values_of(SHARED, DOMAINS), "RequirementsKey": "requirements.txt"}
    values |= {"AirflowKeyArn": "", **given}
    values |= {"AWS::AccountId": ACCOUNT, "HasKey": values["AirflowKeyArn"]}
    found = statements(template, "DeployRole", values)
    return [each for each in found if each]


@pytest.mark.parametrize(
    "action, arn, is_allowed",
    [
        ("s3:PutObject", f"{HOME}/moma.py", True),
        ("s3:DeleteObject", f"{HOME}/moma.py", True),
        ("s3:GetObject", "arn:aws:s3:::team-bucket/requirements.txt", True),
        ("s3:GetObject", "arn:aws:s3:::team-bucket/team/dags/constraints.txt", True),
        ("s3:PutObject", "arn:aws:s3:::team-bucket/requirements.txt", False),
        ("s3:PutObject", "arn:aws:s3:::team-bucket/startup.sh", False),
        ("s3:PutObject", "arn:aws:s3:::team-bucket/plugins.zip", False),
        ("s3:PutObject", "arn:aws:s3:::team-bucket/team/dags/theirs.py", False),
        ("s3:PutObject", "arn:aws:s3:::team-bucket/team/dags/lake_of_theirs.py", False),
        ("s3:DeleteObject", "arn:aws:s3:::team-bucket/team/dags/theirs.py", False),
        ("airflow:GetEnvironment", "environment/team-airflow", True),
        ("airflow:UpdateEnvironment", "environment/team-airflow", False),
        ("airflow:InvokeRestApi", "role/team-airflow/User", True),
        ("airflow:InvokeRestApi", "role/team-airflow/Admin", False),
    ],
)
def test_the_deploy_role_writes_one_folder_and_updates_nothing(action, arn, is_allowed):
    if not arn.startswith("arn:"):
        arn = f"arn:aws:airflow:eu-central-1:{ACCOUNT}:{arn}"
    assert bool(allowing(Asked(action, arn), deploy_role())) == is_allowed


@pytest.mark.parametrize(
    "prefix, is_allowed",
    [
        ("team/dags/lake/releases/", True),
        ("team/dags/lake_spec", True),
        ("team/dags/", False),
        ("", False),
    ],
)
def test_the_deploy_role_lists_its_folder_and_looks_for_modules(prefix, is_allowed):
    asked = Asked("s3:ListBucket", "arn:aws:s3:::team-bucket", {"s3:prefix": prefix})
    assert bool(allowing(asked, deploy_role())) == is_allowed


def actions(found) -> set:
    texts = (each["Action"] for each in found)
    return {a for each in texts for a in ([each] if isinstance(each, str) else each)}


def test_the_roles_may_do_what_the_code_calls():
    """But for the update of an environment, which a guest never asks for."""
    update = "airflow:UpdateEnvironment"
    lacking = set(deploy().calls) - actions(deploy_role())
    assert update in lacking <= {update, *NEEDS[update]}
    template = layer_template(SHARED, "mwaa")
    policy = template["Resources"]["Dags"]["Properties"]["PolicyDocument"]
    assert set(airflow().calls) <= actions(policy["Statement"])
    own = load_template("mwaa")["Resources"]["ExecutionRole"]["Properties"]["Policies"]
    of_dags = {each["PolicyName"]: each for each in own}["clusters"]["PolicyDocument"]
    assert policy["Statement"][:-1] == of_dags["Statement"]


def test_the_policy_hangs_on_their_role_only_where_it_is_named():
    properties = layer_template(SHARED, "mwaa")["Resources"]["Dags"]["Properties"]
    values = {"AirflowRoleName": "theirs", "HasRole": "yes"}
    assert resolved(properties["Roles"], values) == ["theirs"]
    assert resolved(properties["Roles"], {**values, "HasRole": ""}) is None


def test_their_key_is_asked_for_only_where_it_is_named():
    key = f"arn:aws:kms:eu-central-1:{ACCOUNT}:key/{'0' * 8}"
    sids = [[e["Sid"] for e in deploy_role(AirflowKeyArn=k)] for k in ("", key)]
    assert set(sids[1]) - set(sids[0]) == {"KeyOfTheirBucket"}


@pytest.mark.parametrize("count", [1, 5, 10, 20, 40])
def test_the_policy_fits_into_iam_or_is_refused_with_what_to_do(count):
    domains = [domain(f"domain_{number}", told=f"t{number}") for number in range(count)]
    roles = tuple((each.name, role(f"lake-test-{each.name}")) for each in domains)
    place = environment(airflow=AIRFLOW, runtime_roles=roles)
    policy = layer_template(place, "mwaa")["Resources"]["Dags"]["Properties"]
    document = resolved(policy["PolicyDocument"], values_of(place, domains))
    if size(document) <= POLICY_CHARACTERS:
        check_inline_policies(place, domains)
    else:
        with pytest.raises(NotDeployable, match="the policy for the role of team-airf"):
            check_inline_policies(place, domains)
    assert (size(document) <= POLICY_CHARACTERS) == (count <= 20)


def test_terraform_is_refused_with_what_to_do_instead():
    with pytest.raises(NotDeployable, match="an Airflow of its own"):
        terraform_files(SHARED, DOMAINS)


def test_the_command_prints_them(capsys):
    assert main(["template", "prod", "data"]) == 0
    assert "AirflowOverTlsOnly" in json.loads(capsys.readouterr().out)["Resources"]
