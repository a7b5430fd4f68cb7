"""Checks before the cluster starts: account, names, rights, release, landing files."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import List

from botocore.exceptions import ClientError, WaiterError

from lake_acceptance import claim, storage
from lake_acceptance.check import Check, CheckFailed
from lake_acceptance.subject import DOMAIN, HERE, ROOTS, Subject
from lake_airflow.emr.steps import release_root
from lake_infra.domains import domains_template
from lake_infra.resource_names import Root, account_of, last_part
from lake_release.built import build_artifacts, hashes
from lake_release.errors import ReleaseError
from lake_spec.layout.release_files import sha256_argument


def caller(subject: Subject) -> str:
    """Compare the account of the caller with the one of the environment's roles."""
    found = subject.client("sts").get_caller_identity()
    role = subject.environment.runtime_role_of(DOMAIN)
    if role and account_of(role) != found["Account"]:
        raise CheckFailed(
            f"the caller {found['Arn']} is of the account {found['Account']}, the "
            f"environment {subject.deployed.name} of {role.split(':')[4]}.",
            "Sign in to that account, or name another environment.",
        )
    return f"{found['Arn']} in {subject.environment.region}"


def buckets(subject: Subject) -> str:
    """Look for the buckets of all roots."""
    s3, names = subject.client("s3"), _buckets(subject)
    for name in names:
        try:
            s3.head_bucket(Bucket=name)
        except ClientError as error:
            raise CheckFailed(
                f"bucket {name}: {error}.",
                "Deploy the layer data, or correct dags/environments/"
                f"{subject.deployed.name}.yml.",
            ) from error
    return ", ".join(names)


def roles(subject: Subject) -> str:
    """Look for the roles and the security configuration that the cluster will have."""
    environment, iam = subject.environment, subject.client("iam")
    role, profile = last_part(environment.service_role), environment.instance_profile
    configuration = environment.security_configuration
    try:
        iam.get_role(RoleName=role)
        iam.get_instance_profile(InstanceProfileName=profile)
        if configuration:
            subject.client("emr").describe_security_configuration(Name=configuration)
    except ClientError as error:
        raise CheckFailed(
            f"service_role {role}, instance_profile {profile} and "
            f"security_configuration {configuration}: {error}.",
            "Deploy the layer emr, or correct these names in the environment's file.",
        ) from error
    return f"{role}, {profile}, {configuration}"


def release(subject: Subject) -> str:
    """Build the release of this checkout with the acceptance domain, and upload it."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            id = build_artifacts([subject.domain], subject.environment, Path(folder))
        except ReleaseError as error:
            raise CheckFailed(str(error), "Run ./setup.sh.") from error
        root = release_root(subject.environment, id)
        count = storage.put_folder(subject.client("s3"), Path(folder), root)
        subject.sha256 = sha256_argument(hashes(Path(folder)), DOMAIN)
    subject.release = id
    return f"{count} files in {root}"


def stack(subject: Subject) -> str:
    """Create the role and the database of the acceptance domain."""
    if subject.environment.runtime_role_of(DOMAIN) is None:
        return "no runtime roles in this environment: steps run as the nodes' role"
    template = domains_template(subject.environment, [subject.domain])
    cloudformation = subject.client("cloudformation")
    cloudformation.create_stack(
        StackName=subject.stack,
        TemplateBody=json.dumps(template),
        Capabilities=["CAPABILITY_NAMED_IAM"],
        Parameters=[
            {"ParameterKey": "Environment", "ParameterValue": subject.deployed.name}
        ],
        Tags=[{"Key": claim.TAG, "Value": subject.key}],
        OnFailure="DELETE",
    )
    try:
        cloudformation.get_waiter("stack_create_complete").wait(StackName=subject.stack)
    except WaiterError as error:
        raise CheckFailed(
            f"stack {subject.stack}: {error}.",
            "Read its events in CloudFormation's console.",
        ) from error
    return subject.stack


def landing(subject: Subject) -> str:
    """Land the files of the first run."""
    return land(subject, "first")


def land(subject: Subject, folder: str) -> str:
    """Land the sample files of a folder; return how many."""
    s3, root = subject.client("s3"), subject.environment.landing
    count = storage.put_folder(s3, HERE / "landing" / folder, root)
    return f"{count} files in {root}"


def _buckets(subject: Subject) -> List[str]:
    roots = (Root.of(getattr(subject.deployed, name)) for name in ROOTS)
    return list(dict.fromkeys(root.bucket for root in roots))


CHECKS = (
    Check("caller", "Who runs this, in which account?", caller),
    Check("buckets", "Are the environment's buckets there?", buckets, ("caller",)),
    Check(
        "roles",
        "Are the roles of the cluster there?",
        roles,
        ("caller",),
        only_in_account="the emulator's clusters have no roles",
    ),
    Check("unused", "Is the prefix free, and ours?", claim.take, ("buckets",)),
    Check("release", "Can a release be uploaded?", release, ("unused",)),
    Check(
        "stack",
        "Can the role and the database of a domain be created?",
        stack,
        ("unused",),
        only_in_account="the emulator has no CloudFormation",
    ),
    Check("landing", "Can files be landed?", landing, ("unused",)),
)
