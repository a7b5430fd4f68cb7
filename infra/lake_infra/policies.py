"""The policies that a deployment gives, as plain data: what the emulator judges calls by."""

from __future__ import annotations

import re
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping

from lake_infra.domains import domains_template
from lake_infra.parameters import known_values
from lake_infra.resource_names import (
    account_of,
    check_runtime_roles,
    last_part,
    runtime_roles,
)
from lake_infra.shared_airflow import layer_template
from lake_infra.template import load_template
from lake_spec.model import DomainSpec, EnvironmentSpec

Template = Mapping[str, Any]
Values = Mapping[str, str]


def policies(
    environment: EnvironmentSpec, domains: Iterable[DomainSpec]
) -> Dict[str, Any]:
    """Return the policies of roles, buckets, the key and the endpoints, as JSON data.

    Raises NotDeployable if a domain has no runtime role.
    """
    domains = list(domains)
    check_runtime_roles(environment, domains)
    values = values_of(environment, domains)
    templates = {name: load_template(name) for name in ("data", "emr", "mwaa")}
    of_domains = domains_template(environment, domains)
    roles = {
        **_roles(templates["mwaa"], values),
        **_roles(templates["emr"], values, but="ServiceRole"),
        **_roles(of_domains, values),
    }
    return {
        "account": values["AWS::AccountId"],
        "region": environment.region,
        "airflow": f"lake-{environment.name}-airflow",
        "roles": roles,
        "arns": {last_part(arn): arn for arn in runtime_roles(environment, domains)},
        "resources": _of_resources(templates["data"], values),
        "endpoints": _endpoints(environment, values),
        "encryption": {
            **_of_buckets(templates["data"], values),
            **{arn: values["Key.Arn"] for arn in _topics(values)},
        },
    }


def values_of(
    environment: EnvironmentSpec, domains: Iterable[DomainSpec]
) -> Dict[str, str]:
    """Return what functions of the templates refer to: parameters, and resources by
    names that stand for those that AWS chooses."""
    domains = list(domains)
    arns = list(runtime_roles(environment, domains))
    account = account_of(arns[0]) if arns else "123456789012"
    name, region = environment.name, environment.region
    values = {
        "AWS::Partition": "aws",
        "AWS::Region": region,
        "AWS::AccountId": account,
        **known_values(environment, domains),
        "S3Endpoint": f"vpce-lake-{name}-s3",
        "AirflowQueueAccount": "*",
        "Airflow": f"lake-{name}-airflow-{account}",
    }
    key = environment.s3_encryption_kms_key_id
    values["Key.Arn"] = key or f"arn:aws:kms:{region}:{account}:key/lake-{name}"
    for bucket in ("Landing", "Warehouse", "Work"):
        values[bucket] = values[f"{bucket}Bucket"]
    for bucket in ("Airflow", "Landing", "Warehouse", "Work"):
        values[f"{bucket}.Arn"] = f"arn:aws:s3:::{values[bucket]}"
    instances = (
        f"arn:aws:iam::{account}:role{environment.role_path}"
        f"{environment.instance_profile}"
    )
    values["InstanceRole.Arn"] = instances
    values[f"lake-{name}-KeyArn"] = values["Key.Arn"]
    values[f"lake-{name}-AirflowBucket"] = values["Airflow"]
    values[f"lake-{name}-InstanceRoleArn"] = instances
    return values


def documents(template: Template, role: str) -> Iterator[Mapping[str, Any]]:
    """Yield the policies of a role, and those that are attached to it."""
    for name, each in template["Resources"].items():
        properties = each.get("Properties", {})
        if name == role:
            yield from (p["PolicyDocument"] for p in properties.get("Policies", ()))
        elif {"Ref": role} in properties.get("Roles", ()) and "Policy" in each["Type"]:
            yield properties["PolicyDocument"]


def resolved(value: Any, values: Values) -> Any:
    """Return plain data, without CloudFormation's functions.

    What AWS chooses and is not known is its name; of a list, all of it. A condition is a
    value too, empty where it is false. Raises KeyError for other names that are not
    known, and ValueError for functions.
    """
    if isinstance(value, list):
        found = (resolved(each, values) for each in value)
        return [each for each in found if each is not None]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        ((name, argument),) = value.items()
        if name in _FUNCTIONS:
            return _FUNCTIONS[name](argument, values)
    if unknown := [name for name in value if name.startswith("Fn::")]:
        raise ValueError(
            f"{unknown[0]} in a policy: read it in lake_infra/policies.py."
        )
    return {name: resolved(each, values) for name, each in value.items()}


def _ref(name: str, values: Values) -> Any:
    """Return a value; a list where it has commas, an empty one where it is empty."""
    if name == "AWS::NoValue":
        return None
    value = values[name]
    return value.split(",") if "," in value else value or []


def _attribute(path: List[str], values: Values) -> str:
    name = ".".join(path)
    return values.get(name, name)


def _import(name: Any, values: Values) -> str:
    export = resolved(name, values)
    return values.get(export, export)


def _if(arguments: List[Any], values: Values) -> Any:
    name, where_true, otherwise = arguments
    return resolved(where_true if values[name] else otherwise, values)


def _sub(argument: Any, values: Values) -> str:
    text, more = argument if isinstance(argument, list) else (argument, {})
    known = {**values, **{name: resolved(each, values) for name, each in more.items()}}
    return re.sub(r"\$\{([^}]*)\}", lambda found: known[found[1]], text)


_FUNCTIONS: Dict[str, Callable[[Any, Values], Any]] = {
    "Ref": _ref,
    "Fn::GetAtt": _attribute,
    "Fn::If": _if,
    "Fn::ImportValue": _import,
    "Fn::Sub": _sub,
}


def _roles(
    template: Template, values: Values, but: str = ""
) -> Dict[str, List[Mapping[str, Any]]]:
    """Return the documents of each role by its name."""
    return {
        resolved(each["Properties"]["RoleName"], values): [
            _without_nothing(resolved(document, values))
            for document in documents(template, name)
        ]
        for name, each in template["Resources"].items()
        if each["Type"] == "AWS::IAM::Role" and name != but
    }


def _without_nothing(document: Dict[str, Any]) -> Dict[str, Any]:
    """Return the document without statements on an empty list, such as of no topics."""
    kept = [each for each in document["Statement"] if each.get("Resource") != []]
    return {**document, "Statement": kept}


def _of_resources(data: Template, values: Values) -> Dict[str, Dict[str, Any]]:
    """Return the policies of buckets and of the key by their ARNs."""
    found: Dict[str, Dict[str, Any]] = {}
    for name, each in data["Resources"].items():
        properties = each["Properties"]
        if each["Type"] == "AWS::S3::BucketPolicy":
            arn = values[f"{properties['Bucket']['Ref']}.Arn"]
            document = resolved(properties["PolicyDocument"], values)
        elif each["Type"] == "AWS::KMS::Key":
            arn = values[f"{name}.Arn"]
            document = resolved(properties["KeyPolicy"], values)
        else:
            continue
        # A bucket that is landing and warehouse, as on one machine, has both policies.
        same = found.setdefault(arn, {**document, "Statement": []})
        same["Statement"] = [*same["Statement"], *document["Statement"]]
    return found


def _of_buckets(data: Template, values: Values) -> Dict[str, str]:
    """Return the key that encrypts each bucket, by the bucket's ARN."""
    found = {}
    for name, each in data["Resources"].items():
        if each["Type"] == "AWS::S3::Bucket":
            (rule,) = each["Properties"]["BucketEncryption"][
                "ServerSideEncryptionConfiguration"
            ]
            by_default = rule["ServerSideEncryptionByDefault"]
            key = resolved(by_default["KMSMasterKeyID"], values)
            found[values[f"{name}.Arn"]] = key
    return found


def _topics(values: Values) -> List[str]:
    """Return the ARNs of the topics of alarms and of domains, which the key encrypts."""
    return [arn for arn in values["TopicArns"].split(",") if arn]


def _endpoints(
    environment: EnvironmentSpec, values: Values
) -> Dict[str, Dict[str, Any]]:
    """Return the endpoints of the network by the service: each with its id and its policy."""
    network = layer_template(environment, "network")
    gateway = network["Resources"]["S3Endpoint"]["Properties"]
    found = {
        "s3": {
            "id": values["S3Endpoint"],
            "policy": resolved(gateway["PolicyDocument"], values),
        }
    }
    _, services, repeated = load_template("endpoints")["Resources"][
        "Fn::ForEach::Endpoints"
    ]
    services = resolved(services, values)
    (interface,) = repeated.values()
    policy = resolved(interface["Properties"]["PolicyDocument"], values)
    for service in services:
        name = f"vpce-lake-{values['Environment']}-{service}"
        found[service] = {"id": name, "policy": policy}
    return found
