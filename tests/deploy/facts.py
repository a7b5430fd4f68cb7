"""What AWS asks of policies and networks, as its documentation has it, by the evaluator.

Each fact is a request that the policies of our templates must allow, or must deny. What
each of them rests on, and what nothing here can show, is in docs/proven.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Callable, Dict, Iterator, List, Mapping, NamedTuple, Tuple

from lake_check.parsing.loader import load_environment, load_lake
from lake_infra.domains import domains_template
from lake_infra.endpoints import endpoint_services
from lake_infra.parameters import known_values
from lake_infra.template import load_template
from lake_spec.model import DomainSpec, EnvironmentSpec, PostgreSql
from lake_spec.model.choices import SecretStore

from tests.deploy.allowed import (
    ACCOUNT,
    PSEUDO,
    REGION,
    Asked,
    Statement,
    allowing,
    conditions,
    resolved,
    statements,
)
from tests.deploy.granted import DAGS, with_pulled_table

BUCKET, KEY = "lake-prod-AirflowBucket", "lake-prod-KeyArn"  # as another layer exports
GITHUB = "token.actions.githubusercontent.com"
ROOT_OF_ROLES = f"arn:aws:iam::{ACCOUNT}:role/"
FLEET = (
    f"{ROOT_OF_ROLES}aws-service-role/ec2fleet.amazonaws.com/AWSServiceRoleForEC2Fleet"
)
SPOT = f"{ROOT_OF_ROLES}aws-service-role/spot.amazonaws.com/AWSServiceRoleForEC2Spot"
QUEUES = "999999999999"
"""The account of AWS that the queue of Airflow is in."""
OIDC = "sts:AssumeRoleWithWebIdentity"

Template = Mapping[str, Any]


class Fact(NamedTuple):
    """A request about a policy, and what the policy must say to it."""

    policy: str
    asked: Asked
    is_allowed: bool
    why: str


@dataclass(frozen=True)
class Templates:
    """The templates of the environment prod, with a database whose secrets are stored."""

    layers: Mapping[str, Template]
    environment: EnvironmentSpec
    domains: Tuple[DomainSpec, ...]

    @classmethod
    def of(cls, store: SecretStore = SecretStore.SECRETS_MANAGER) -> Templates:
        """Load them, for a table that is pulled by a secret of that store."""
        lake = load_lake(DAGS / "tables")
        shop = PostgreSql(
            "h", "d", "lake/shop", tuple(lake.domains), secret_store=store
        )
        environment = replace(
            load_environment("prod", DAGS / "environments"),
            connections=(("shop", shop),),
            erase_secret=None,
        )
        domains = tuple(with_pulled_table(d) for d in lake.domains.values())
        layers = {
            name: load_template(name)
            for name in ("network", "endpoints", "data", "mwaa", "deploy")
        }
        layers["domains"] = domains_template(environment, domains)
        return cls(layers, environment, domains)

    def policies(self) -> Dict[str, List[Statement]]:
        """Return the statements of each policy that a fact is about."""
        values = {
            **PSEUDO,
            **known_values(self.environment, self.domains),
            **{"Repository": "owner/name", "GitHubEnvironment": "production"},
            **{"SubjectPrefix": "repo:owner@123/name@456", "Branch": "main"},
            **{"ProviderArn": "provider", "PluginsVersion": ""},
            "AirflowQueueAccount": QUEUES,
        }
        deploy = self.layers["deploy"]
        of_deploy = {**values, **conditions(deploy, values)}
        (role,) = (
            name
            for name, each in self.layers["domains"]["Resources"].items()
            if each["Type"] == "AWS::IAM::Role"
        )
        return {
            "role of the deploy": statements(deploy, "DeployRole", of_deploy),
            "trust of the deploy": _document(
                deploy, "DeployRole", "AssumeRolePolicyDocument", of_deploy
            ),
            "role of Airflow": statements(self.layers["mwaa"], "ExecutionRole", values),
            "role of the steps": statements(self.layers["domains"], role, values),
            "key": _document(self.layers["data"], "Key", "KeyPolicy", values),
            "way to S3": _document(
                self.layers["network"], "S3Endpoint", "PolicyDocument", values
            ),
            "way to services": _of_endpoints(self.layers["endpoints"], values),
        }


def _document(
    template: Template, name: str, property: str, values: Mapping[str, str]
) -> List[Statement]:
    document = template["Resources"][name]["Properties"][property]
    found = resolved(document["Statement"], values)
    return [{"Sid": f"{name} {nth}", **each} for nth, each in enumerate(found)]


def _of_endpoints(template: Template, values: Mapping[str, str]) -> List[Statement]:
    """The policy that all interface endpoints have."""
    _, _, repeated = template["Resources"]["Fn::ForEach::Endpoints"]
    (endpoint,) = repeated.values()
    return resolved(endpoint["Properties"]["PolicyDocument"]["Statement"], values)


def _arn(service: str, thing: str) -> str:
    return f"arn:aws:{service}:{REGION}:{ACCOUNT}:{thing}"


def _via(service: str) -> Dict[str, str]:
    return {"kms:ViaService": f"{service}.{REGION}.amazonaws.com"}


def _update() -> Iterator[Fact]:
    """UpdateEnvironment, as AWS's policy AmazonMWAAFullApiAccess lists it."""
    airflow = {"iam:PassedToService": "airflow.amazonaws.com"}
    passed = Asked("iam:PassRole", f"{ROOT_OF_ROLES}lake-prod-airflow", airflow)
    asked = [
        passed,
        Asked("s3:GetEncryptionConfiguration", f"arn:aws:s3:::{BUCKET}"),
        *(
            Asked(f"ec2:Describe{things}", "*")
            for things in ("RouteTables", "SecurityGroups", "Subnets", "Vpcs")
        ),
        *(
            Asked("ec2:CreateVpcEndpoint", _arn("ec2", thing))
            for thing in (
                "vpc-endpoint/vpce-1",
                "vpc/lake-prod-Vpc",
                "subnet/lake-prod-SubnetA",
                "subnet/lake-prod-SubnetB",
                "security-group/lake-prod-AirflowGroup",
            )
        ),
        *(
            Asked(f"kms:{action}", KEY, _via("airflow"))
            for action in ("CreateGrant", "Decrypt", "DescribeKey", "GenerateDataKey")
        ),
    ]
    why = "UpdateEnvironment asks for it"
    yield from (Fact("role of the deploy", each, True, why) for each in asked)
    others = [
        replace(passed, arn=f"{ROOT_OF_ROLES}lake-prod-emr"),
        replace(passed, context={"iam:PassedToService": "ec2.amazonaws.com"}),
        Asked("kms:CreateGrant", KEY, _via("s3")),
        Asked("ec2:CreateVpcEndpoint", _arn("ec2", "vpc/vpc-other")),
    ]
    why = "no deploy needs it"
    yield from (Fact("role of the deploy", each, False, why) for each in others)


def _trust() -> Iterator[Fact]:
    """Tokens of this repository and GitHub environment, in both forms, and no others."""
    subjects = {
        "repo:owner/name:environment:production": True,
        "repo:owner@123/name@456:environment:production": True,
        "repo:owner@124/name@456:environment:production": False,
        "repo:owner@123/name@457:environment:production": False,
        "repo:owner/other:environment:production": False,
        "repo:owner@123/other@458:environment:production": False,
        "repo:owner/name:environment:development": False,
        "repo:owner@123/name@456:environment:development": False,
        "repo:owner/name:environment:production-2": False,
        "repo:owner/name:ref:refs/heads/main": False,
        "repo:owner-2/name:environment:production": False,
        "repo:owner-2@9/name@456:environment:production": False,
        "repo:owner/name-2:environment:production": False,
        "repo:owner@123/name@4567:environment:production": False,
    }
    for subject, is_allowed in subjects.items():
        why = (
            "it is a token of the repository" if is_allowed else "it is another's token"
        )
        yield Fact("trust of the deploy", _token(subject), is_allowed, why)
    ours = "repo:owner/name:environment:production"
    for key, value in {"aud": "other", "ref": "refs/heads/topic"}.items():
        why = f"its {key} is another's"
        yield Fact("trust of the deploy", _token(ours, **{key: value}), False, why)


def _token(subject: str, **claims: str) -> Asked:
    found = {"sub": subject, "aud": "sts.amazonaws.com", **claims}
    context = {f"{GITHUB}:{name}": value for name, value in found.items()}
    return Asked(OIDC, "", context, "provider")


def _key_policy() -> Iterator[Fact]:
    """CloudWatch Logs, and the roles by which EC2 starts Spot instances and fleets."""
    groups = "log-group:airflow-lake-prod-Task"
    context = {"kms:EncryptionContext:aws:logs:arn": _arn("logs", groups)}
    logs = f"logs.{REGION}.amazonaws.com"
    needed = ("Decrypt", "DescribeKey", "Encrypt", "GenerateDataKey")
    needed += ("GenerateDataKeyWithoutPlaintext", "ReEncryptFrom", "ReEncryptTo")
    for action in needed:
        asked = Asked(f"kms:{action}", "", context, logs)
        yield Fact("key", asked, True, "CloudWatch Logs asks for it")
        for role in (FLEET, SPOT):
            asked = Asked(f"kms:{action}", "", {}, role)
            yield Fact("key", asked, True, "disks of Spot instances are under the key")
    other = {"kms:EncryptionContext:aws:logs:arn": _arn("logs", "log-group:other")}
    asked = Asked("kms:Decrypt", "", other, logs)
    yield Fact("key", asked, False, "it is another's log group")
    for role in (FLEET, SPOT):
        for of_aws in ("true", "false"):
            lent = {"kms:GrantIsForAWSResource": of_aws}
            asked = Asked("kms:CreateGrant", "", lent, role)
            yield Fact("key", asked, of_aws == "true", "EC2 lends the key to volumes")


def _way_to_s3() -> Iterator[Fact]:
    """Buckets of this account, and those of AWS that EMR's page on private subnets lists."""
    ours = {"aws:ResourceAccount": ACCOUNT}
    put, get = "s3:PutObject", "s3:GetObject"
    logs, history = f"aws157-logs-prod-{REGION}", f"prod.{REGION}.appinfo.src"
    allowed = [
        (put, "lake-prod-work", ours),
        (put, "aws157-logs-prod", {}),
        (put, logs, {}),
        *((f"s3:{a}", history, {}) for a in ("PutObject", "GetObject")),
        *(
            (get, bucket, {})
            for bucket in (
                f"al2023-repos-{REGION}-de612dc2",
                f"repo.{REGION}.emr.amazonaws.com",
                f"aws157-instance-data-0-prod-{REGION}",
                f"aws157-instance-data-bucket-1-prod-{REGION}",
            )
        ),
    ]
    denied = [
        (put, "somebodys-bucket", {"aws:ResourceAccount": "999999999999"}),
        (get, "somebodys-bucket", {"aws:ResourceAccount": "999999999999"}),
        (get, logs, {}),
        (put, f"repo.{REGION}.emr.amazonaws.com", {}),
        (put, f"aws157-logs-prod-{REGION}-2", {}),
    ]
    for is_allowed, rows in ((True, allowed), (False, denied)):
        why = "EMR and the lake need it" if is_allowed else "data could leave by it"
        for action, bucket, context in rows:
            asked = Asked(action, f"arn:aws:s3:::{bucket}/a/b", context)
            yield Fact("way to S3", asked, is_allowed, why)


def _way_to_services() -> Iterator[Fact]:
    """Roles of this account on what is theirs, MWAA's queue, and AWS's own services."""
    ours, other = {"aws:PrincipalAccount": ACCOUNT}, "999999999999"
    own = {**ours, "aws:ResourceAccount": ACCOUNT}
    foreign = {**ours, "aws:ResourceAccount": other}
    queue, foreign_queue = (
        f"arn:aws:sqs:{REGION}:{account}" for account in (QUEUES, "888888888888")
    )
    topic = f"arn:aws:sns:{REGION}:{other}:topic"
    allowed = [
        ("sns:Publish", _arn("sns", "lake-prod-alarms"), own),
        ("sts:GetCallerIdentity", "*", ours),
        ("sqs:SendMessage", f"{queue}:airflow-celery-1", foreign),
        ("logs:PutLogEvents", "*", {"aws:PrincipalIsAWSService": "true"}),
    ]
    stranger = {"aws:PrincipalAccount": other, "aws:ResourceAccount": ACCOUNT}
    denied = [
        ("sns:Publish", topic, foreign),
        ("sqs:SendMessage", f"{queue}:any", foreign),
        ("sqs:SendMessage", f"{foreign_queue}:airflow-celery-1", foreign),
        ("sqs:DeleteQueue", f"{queue}:airflow-celery-1", foreign),
        ("sqs:SendMessage", f"{queue}:airflow-celery-1", {**foreign, **stranger}),
        ("secretsmanager:GetSecretValue", _arn("secretsmanager", "secret:a"), stranger),
        ("secretsmanager:GetSecretValue", _arn("secretsmanager", "secret:a"), {}),
        ("logs:PutLogEvents", "*", {"aws:PrincipalIsAWSService": "false"}),
    ]
    for is_allowed, rows in ((True, allowed), (False, denied)):
        why = "the lake or MWAA needs it" if is_allowed else "it is another account's"
        for action, arn, context in rows:
            yield Fact("way to services", Asked(action, arn, context), is_allowed, why)


def _airflow() -> Iterator[Fact]:
    """What MWAA's page on execution roles lists, and tags of clusters."""
    bucket = f"arn:aws:s3:::{BUCKET}"
    yield Fact(
        "role of Airflow",
        Asked("s3:GetBucketLocation", bucket),
        True,
        "MWAA asks for it",
    )
    for account in (QUEUES, "888888888888"):
        queue = f"arn:aws:sqs:{REGION}:{account}:airflow-celery-1"
        is_ours = account == QUEUES
        why = "it is Airflow's queue" if is_ours else "data could leave by it"
        yield Fact("role of Airflow", Asked("sqs:SendMessage", queue), is_ours, why)
    action, arn = "elasticmapreduce:AddTags", _arn("elasticmapreduce", "cluster/j-1")
    ask, has = (
        f"elasticmapreduce:{k}Tag/lake:environment" for k in ("Request", "Resource")
    )
    for context in ({ask: "prod"}, {has: "prod"}, {ask: "prod", has: "dev"}, {}):
        why = "it makes a foreign cluster one of ours"
        yield Fact("role of Airflow", Asked(action, arn, context), False, why)
    made = Asked(action, arn, {ask: "prod", has: "prod"})
    yield Fact("role of Airflow", made, True, "RunJobFlow asks for it")


def _steps() -> Iterator[Fact]:
    """Partitions of tables, and secrets that are under the key."""
    for action in ("BatchCreatePartition", "BatchDeletePartition", "GetPartitions"):
        for thing in ("catalog", "database/moma", "table/moma/artists"):
            asked = Asked(f"glue:{action}", _arn("glue", thing))
            yield Fact("role of the steps", asked, True, "tables register partitions")
        other = Asked(f"glue:{action}", _arn("glue", "table/sales/orders"))
        yield Fact("role of the steps", other, False, "it is another domain's table")
    for service, is_allowed in {
        "s3": True,
        "secretsmanager": True,
        "ssm": False,
    }.items():
        why = "it is used" if is_allowed else "no secret is there"
        asked = Asked("kms:Decrypt", KEY, _via(service))
        yield Fact("role of the steps", asked, is_allowed, why)


FACTS: Dict[str, Callable[[], Iterator[Fact]]] = {
    "a deploy may update Airflow's environment": _update,
    "tokens of the repository and no others deploy": _trust,
    "the key serves logs, Spot and fleets": _key_policy,
    "EMR reaches AWS's buckets and data none of others": _way_to_s3,
    "endpoints of services are for this account": _way_to_services,
    "Airflow reads its bucket and tags its clusters alone": _airflow,
    "steps register partitions and read secrets under the key": _steps,
}


def wrong(
    facts: Callable[[], Iterator[Fact]], templates: Templates | None = None
) -> List[str]:
    """List the facts that the policies contradict."""
    policies = (templates or Templates.of()).policies()
    return [
        f"{fact.policy}: {fact.asked.action} on {fact.asked.arn or 'itself'}"
        f" {dict(fact.asked.context)} {fact.asked.principal}".rstrip()
        + f" is {'denied' if fact.is_allowed else 'allowed'}, but {fact.why}"
        for fact in facts()
        if bool(allowing(fact.asked, policies[fact.policy])) != fact.is_allowed
    ]


PRIVATE_AIRFLOW = {
    *("airflow.api", "airflow.env", "airflow.ops"),
    *("kms", "logs", "monitoring", "sqs"),
}
"""AWS's list for MWAA without the internet; S3 has its gateway."""


def endpoint_faults(
    services: Callable[..., List[str]] = endpoint_services,
) -> List[str]:
    """Services without the endpoint that they need, and endpoints that nobody needs."""
    faults = []
    of_all = {*PRIVATE_AIRFLOW, "elasticmapreduce", "glue", "sns", "sts"}
    stores = {SecretStore.SECRETS_MANAGER: "secretsmanager", SecretStore.SSM: "ssm"}
    for store, service in stores.items():
        templates = Templates.of(store)
        found = set(services(templates.environment, templates.domains))
        wanted = {*of_all, service}
        faults += [f"{each}: no endpoint" for each in sorted(wanted - found)]
        faults += [
            f"{each}: an endpoint for nothing" for each in sorted(found - wanted)
        ]
    return faults
