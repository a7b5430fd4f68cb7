"""Rules on environments: roles, keys and networks are shaped as AWS's are."""

import pytest

from tests.unit.lake_check.spec_files import ENVIRONMENT, diagnostics_of_file

ROLE = "arn:aws:iam::111122223333:role/lake"
KEY = "arn:aws:kms:eu-central-1:111122223333:key/01234567-89ab-cdef-0123-456789abcdef"
NETWORK = {
    "vpc": "vpc-01234567",
    "cidr": "10.20.0.0/16",
    "subnet_a": "subnet-01234567",
    "subnet_b": "subnet-89abcdef",
}
GROUPS = {"primary": "sg-01234567", "core_and_task": "sg-89abcdef"}


def root(name, uri, *used_by, key=None):
    more = {"kms_key_id": key} if key else {}
    return {"landing_roots": {name: {"uri": uri, "used_by": list(used_by), **more}}}


def diagnostics(specs, changes):
    return diagnostics_of_file(specs, "environments/dev.yml", ENVIRONMENT, changes)


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"name": "prod"}, "name: got 'prod'. Its file or folder is named 'dev'"),
        ({"region": "Frankfurt"}, "region: got 'Frankfurt'. Write an AWS region"),
        ({"clusters_at_once": 0}, "clusters_at_once: got 0. Write 1 or more"),
        (
            {"landing": "/data"},
            "landing: got '/data'. Write s3://bucket/folder of A-Z a-z 0-9 _ . = +",
        ),
        (
            {"landing": "s3://lake/landing/"},
            "without a trailing slash.",
        ),
        (
            {"landing": "s3://lake/../x"},
            "landing: got 's3://lake/../x'. Write s3://bucket/folder of A-Z a-z 0-9 _ "
            ". = +",
        ),
        (
            {"landing": "s3://La ke/x"},
            "landing: got 's3://La ke/x'. Write s3://bucket/folder of A-Z a-z 0-9 _ . "
            "= +",
        ),
        (
            {"logs": "s3://lake/runs"},
            "logs: got 's3://lake/runs'. It overlaps with `",
        ),
        (
            {"runs": "s3://lake/landing/runs"},
            "It overlaps with `landing` (s3://la",
        ),
        (
            {"landing": "s3://lake"},
            "warehouse: got 's3://lake/warehouse'. It overlaps with `",
        ),
        (
            {"readable_as": ["delta", "delta"]},
            "readable_as: got ['delta', 'delta']. Name each format once.",
        ),
        ({"cluster": "../x"}, "cluster: got '../x'. Write 1 to 63 of a-z"),
        (
            {"cluster": "standart"},
            "cluster: unknown cluster 'standart'. Did you mean 'standard'?",
        ),
        (
            {"erase_secret": "a secret!"},
            "erase_secret: got 'a secret!'. Write the name of an SSM parameter, as in",
        ),
        (
            root("p", "s3://lake/runs/x", "sales"),
            "landing_roots.p.uri: got 's3://lake/runs/x'. It overlaps with `runs`",
        ),
        (root("p", "s3://p"), "landing_roots.p.used_by: got []. Name a domain, or"),
        (root("p", "s3://p", "sales", "sales"), "landing_roots.p names it too"),
        (root("p", "s3://p", "salse"), "unknown domain 'salse'. Did you mean 'sales'?"),
        (root("p", "s3://p", "sales.x"), "unknown table 'sales.x'"),
        (root("p", "s3://p", "a/b"), "got 'a/b'. Write a domain, or a table as"),
        (
            root("p", "s3://p", "sales", key=KEY.replace("eu-central", "eu-west")),
            "landing_roots.p.kms_key_id: got 'arn:aws:kms:eu-west-1:",
        ),
        ({"service_role": "a b"}, "service_role: got 'a b'. Write the name of an IAM"),
        (
            {"service_role": "arn:aws:iam::1:role/x"},
            "service_role: got 'arn:aws:iam::1:role/x'. Write the name of an IAM role, 1 to 64",
        ),
        ({"instance_profile": ROLE}, "instance_profile: got 'arn:aws:iam::1111"),
        ({"runtime_role": "lake"}, "runtime_role: got 'lake'. Write the ARN of an IAM"),
        (
            {"break_glass_role": "lake"},
            "break_glass_role: got 'lake'. Write the ARN of an IAM role",
        ),
        (
            {"runtime_role": ROLE},
            "security_configuration: missing. A runtime role requires a security "
            "configuration with EnableApplicationScopedIAMRole: write its name.",
        ),
        (
            {"runtime_roles": {"sales": ROLE}, "security_configuration": "roles"},
            "runtime_role: missing. EMR refuses steps without a role on such",
        ),
        (
            {"runtime_roles": {"Sales": ROLE}},
            "runtime_roles.Sales: got 'Sales'. Write 1 to 63 of a-z",
        ),
        (
            {"runtime_roles": {"sales": "lake"}},
            "runtime_roles.sales: got 'lake'. Write the ARN of an IAM role",
        ),
        (
            {"security_configuration": "';"},
            'security_configuration: got "\';". Write 1 to',
        ),
        (
            {"runtime_roles": {"slaes": ROLE}},
            "runtime_roles.slaes: unknown domain 'slaes'. Did you mean 'sales'?",
        ),
        ({"subnets": ["subnet-x"]}, "subnets[0]: got 'subnet-x'. Write a subnet's id"),
        (
            {"network": {**NETWORK, "subnet_b": "subnet-01234567"}},
            "network.subnet_b: got 'subnet-01234567'. Name a subnet in another zone",
        ),
        (
            {"network": {"vpc": "vpc-01234567", "cidr": "10.20.0.0/16"}},
            "network.subnet_a: missing",
        ),
        (
            {"network": {**NETWORK, "vpc": "mine"}},
            "network.vpc: got 'mine'. Write a VPC's id",
        ),
        (
            {"network": {**NETWORK, "cidr": "10.0.0.0/8"}},
            "network.cidr: got '10.0.0.0/8'. Write the addresses of a VPC",
        ),
        ({"custom_ami": "mine"}, "custom_ami: got 'mine'. Write an AMI's id"),
        ({"role_path": "lake"}, "role_path: got 'lake'. Write a path of IAM"),
        (
            {"permissions_boundary": "boundary"},
            "permissions_boundary: got 'boundary'. Write the ARN of a managed policy",
        ),
        (
            {"subnets": ["subnet-01234567"] * 2},
            "subnets[1]: got 'subnet-01234567'. Name each subnet once.",
        ),
        (
            {"security_groups": {"primary": "sg-01234567"}},
            "security_groups.core_and_task: missing.",
        ),
        (
            {"security_groups": {**GROUPS, "service_access": "default"}},
            "security_groups.service_access: got 'default'. Write a security group's id",
        ),
        (
            {"security_groups": {**GROUPS, "additional_primary": ["sg-1"]}},
            "security_groups.additional_primary[0]: got 'sg-1'. Write a security group's",
        ),
        (
            {"log_encryption_kms_key_id": KEY.replace("key/", "alias/")},
            "Write the ARN of a KMS key, no alias, as in",
        ),
        (
            {"s3_encryption_kms_key_id": KEY.replace("eu-central-1", "eu-west-1")},
            "s3_encryption_kms_key_id: got 'arn:aws:kms:eu-west-1:",
        ),
        (
            {"tags": {"lake:x": "y"}},
            "tags.lake:x: got 'lake:x'. The project sets this tag on every cluster:",
        ),
    ],
)
def test_an_environment_that_aws_would_refuse_is_refused(specs, changes, message):
    assert any(message in each for each in diagnostics(specs, changes))


def test_roots_with_a_common_beginning_lie_apart(specs):
    assert diagnostics(specs, {"runs": "s3://lake/landing-runs"}) == []


def test_an_environment_with_everything_passes(specs):
    changes = {
        "cluster": "standard",
        "service_role": "arn:aws:iam::111122223333:role/emr/service",
        "runtime_role": ROLE,
        "runtime_roles": {
            # A domain of another tables folder is none of this one's faults.
            "human_resources": ROLE,
            "sales": "arn:aws-us-gov:iam::111122223333:role/a/lake-sales",
        },
        "security_configuration": "runtime-roles",
        "network": NETWORK,
        **root("partner", "s3://partner", "sales", key=KEY),
        "airflow": {
            "name": "Team-1",
            "bucket": "team",
            "dags": "a/b",
            "folder": "lake",
        },
        "permissions_boundary": "arn:aws:iam::111122223333:policy/lake/boundary",
        "role_path": "/lake/",
        "custom_ami": "ami-01234567",
        "subnets": ["subnet-01234567", "subnet-0123456789abcdef0"],
        "security_groups": {**GROUPS, "additional_core_and_task": ["sg-00000000"]},
        "log_encryption_kms_key_id": KEY,
        "s3_encryption_kms_key_id": KEY,
        "tags": {"team": "lake"},
    }
    assert diagnostics(specs, changes) == []


@pytest.mark.parametrize(
    "of_prod, is_refused",
    [
        ({}, True),
        ({"region": "eu-west-1"}, False),
        ({"runtime_role": ROLE.replace("111122223333", "444455556666")}, False),
    ],
    ids=["same-place", "other-region", "other-account"],
)
def test_two_environments_have_no_databases_in_common(specs, of_prod, is_refused):
    common = {"runtime_role": ROLE, "security_configuration": "lake"}
    prod = {**ENVIRONMENT, **common, "name": "prod", **of_prod}
    specs.put("environments/prod.yml", prod)
    said = [each for each in diagnostics(specs, common) if "region: got" in each]
    assert len(said) == (2 if is_refused else 0)
    assert not said or "of the account 111122223333 is prod too" in said[0]
