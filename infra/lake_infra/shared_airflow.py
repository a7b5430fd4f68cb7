"""The templates of an environment whose Airflow is of others: what they leave out.

Such an environment has no bucket, log groups and role of an Airflow of its own. Its layer
`mwaa` is a policy for the role that the other Airflow has; its deploy role writes one folder
of their bucket, updates no environment and passes no role.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Mapping

from lake_infra.landing_roots import open_endpoint
from lake_infra.template import load_template
from lake_spec.model import EnvironmentSpec
from lake_spec.model.aws import SharedAirflow

Template = Dict[str, Any]

_BUCKET = ("Airflow", "AirflowOverTlsOnly")
_LOG_GROUPS = (
    *("TaskLogs", "SchedulerLogs", "DagProcessingLogs", "WorkerLogs", "WebServerLogs"),
)
_OF_OWN_AIRFLOW = (
    *("GiveAirflowItsRole", "HowTheBucketIsEncrypted", "NetworkOfTheEnvironment"),
    *("EndpointsOfTheEnvironment", "KeyOfTheEnvironment"),
)
"""Statements of the deploy role that UpdateEnvironment asks for."""
_KEY = {"Type": "String", "Default": "", "AllowedPattern": "|arn:.+:kms:.+:key/.+"}


def layer_template(environment: EnvironmentSpec, layer: str) -> Template:
    """Return the template of a layer that has a file, as the environment takes it."""
    template: Template = load_template(layer)
    if layer == "network":
        open_endpoint(template, environment)
    if environment.airflow is not None and layer in _CHANGED:
        _CHANGED[layer](template, environment.airflow)
    return template


def _data(template: Template, airflow: SharedAirflow) -> None:
    for name in _BUCKET:
        del template["Resources"][name]
    del template["Outputs"]["AirflowBucket"]


def _alerts(template: Template, airflow: SharedAirflow) -> None:
    tasks = f"airflow-{airflow.name}-Task"
    for name in _LOG_GROUPS:
        del template["Resources"][name]
    del template["Parameters"]["LogGroupDays"]
    for each in template["Resources"].values():
        if each["Type"] == "AWS::Logs::QueryDefinition":
            each["Properties"]["LogGroupNames"] = [tasks]


def _mwaa(template: Template, airflow: SharedAirflow) -> None:
    role = template["Resources"]["ExecutionRole"]["Properties"]
    policies = {each["PolicyName"]: each["PolicyDocument"] for each in role["Policies"]}
    (key,) = _statements(policies["airflow"], "KeyOfTheEnvironment")
    key["Action"] = ["kms:Decrypt", "kms:GenerateDataKey"]  # of runs, and of topics
    document = policies["clusters"]
    document["Statement"].append(key)
    policy = {
        "Type": "AWS::IAM::ManagedPolicy",
        "Properties": {
            "Description": "What the DAGs of a lake call as the role of an Airflow",
            "Path": {"Ref": "RolePath"},
            "PolicyDocument": document,
            "Roles": _if("HasRole", [{"Ref": "AirflowRoleName"}]),
        },
    }
    alarm = template["Resources"]["SchedulerStandsStill"]
    alarm["Properties"]["Dimensions"][1]["Value"] = airflow.name
    named = {
        "Type": "String",
        "Default": "",
        "AllowedPattern": "[A-Za-z0-9_+=,.@-]{0,64}",
        "Description": "The role of that Airflow, by its name; without it attach the policy",
    }
    kept = (
        *("Environment", "Deployment", "ServiceRoleName", "InstanceProfileName"),
        *("RuntimeRoleArns", "TopicArns", "WorkBucket", "LogsPrefix", "RunsPrefix"),
        *("AlarmTopicName", "RolePath"),
    )
    template["Parameters"] = {
        **{name: template["Parameters"][name] for name in kept},
        "AirflowRoleName": named,
    }
    template["Description"] = "What the DAGs may do in an Airflow that is of others"
    template["Conditions"] = {"HasRole": _is_given("AirflowRoleName")}
    template["Resources"] = {"Dags": policy, "SchedulerStandsStill": alarm}
    template["Outputs"] = {"PolicyArn": {"Value": {"Ref": "Dags"}}}


def _deploy(template: Template, airflow: SharedAirflow) -> None:
    bucket = {"Fn::Sub": f"arn:${{AWS::Partition}}:s3:::{airflow.bucket}"}
    home = f"{airflow.dags}/{airflow.folder}/"
    ours = {"Fn::Sub": f"{bucket['Fn::Sub']}/{home}*"}
    (policy,) = template["Resources"]["DeployRole"]["Properties"]["Policies"]
    document = policy["PolicyDocument"]
    document["Statement"] = [
        each for each in document["Statement"] if each["Sid"] not in _OF_OWN_AIRFLOW
    ]
    _one(document, "RequirementsPluginsAndDags").update(Sid="OurDags", Resource=ours)
    _one(document, "DagsThatAreNoMore").update(Resource=ours)
    # Modules of theirs with a name of ours are looked for beside our folder.
    _one(document, "WhatIsThereAndWhetherOthersUseIt").update(
        Sid="OurFolderAndModulesBesideIt",
        Resource=bucket,
        Condition={"StringLike": {"s3:prefix": [f"{home}*", f"{airflow.dags}/lake_*"]}},
    )
    what = {
        "Fn::Sub": "arn:${AWS::Partition}:airflow:${AWS::Region}:${AWS::AccountId}:"
        f"environment/{airflow.name}"
    }
    _one(document, "WhatAirflowInstalls").update(
        Action="airflow:GetEnvironment", Resource=what
    )
    rest = "arn:${AWS::Partition}:airflow:${AWS::Region}:${AWS::AccountId}:role/"
    _one(document, "RunsThatProveIt").update(
        Resource={"Fn::Sub": f"{rest}{airflow.name}/User"}
    )
    document["Statement"] += [
        {
            "Sid": "TheirRequirements",
            "Effect": "Allow",
            "Action": ["s3:GetObject", "s3:GetObjectVersion"],
            "Resource": [
                {"Fn::Sub": f"{bucket['Fn::Sub']}/${{RequirementsKey}}"},
                {"Fn::Sub": f"{bucket['Fn::Sub']}/{airflow.dags}/*.txt"},
            ],
        },
        _if(
            "HasKey",
            {
                "Sid": "KeyOfTheirBucket",
                "Effect": "Allow",
                "Action": ["kms:Decrypt", "kms:GenerateDataKey"],
                "Resource": {"Ref": "AirflowKeyArn"},
                "Condition": {
                    "StringEquals": {
                        "kms:ViaService": {"Fn::Sub": "s3.${AWS::Region}.amazonaws.com"}
                    }
                },
            },
        ),
    ]
    template["Parameters"] |= {
        "RequirementsKey": {"Type": "String", "Default": "requirements.txt"},
        "AirflowKeyArn": {
            **_KEY,
            "Description": "The key of their bucket, if it has one",
        },
    }
    template["Conditions"]["HasKey"] = _is_given("AirflowKeyArn")


def _statements(document: Mapping[str, Any], sid: str) -> List[Dict[str, Any]]:
    return [each for each in document["Statement"] if each["Sid"] == sid]


def _one(document: Mapping[str, Any], sid: str) -> Dict[str, Any]:
    (found,) = _statements(document, sid)
    return found


def _if(condition: str, value: Any) -> Dict[str, Any]:
    return {"Fn::If": [condition, value, {"Ref": "AWS::NoValue"}]}


def _is_given(parameter: str) -> Dict[str, Any]:
    return {"Fn::Not": [{"Fn::Equals": [{"Ref": parameter}, ""]}]}


_CHANGED: Dict[str, Callable[[Template, SharedAirflow], None]] = {
    "data": _data,
    "alerts": _alerts,
    "mwaa": _mwaa,
    "deploy": _deploy,
}
