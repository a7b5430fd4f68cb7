"""Rules on the form of AWS's ids, ARNs and tags, in any spec."""

from __future__ import annotations

import re
from typing import Iterator, Optional, Sequence, Tuple

from lake_spec.diagnostics.diagnostic import Path, Problem, got
from lake_spec.rules import names

MOST_TAGS = 20
"""Tags of one file: EMR allows 50 for environment, cluster and run together."""

PARAMETER = re.compile(r"(/[A-Za-z0-9_.-]+){1,15}|[A-Za-z0-9_.-]+")
"""Valid names of SSM parameters."""

_PARTITION = r"arn:aws(-[a-z]+){0,2}"
_REGION = r"[a-z]{2}(-[a-z]+){1,2}-\d"
_ROLE_NAME = r"[A-Za-z0-9_+=,.@-]{1,64}"
_ROLE_ARN = re.compile(
    rf"{_PARTITION}:iam::\d{{12}}:role/([A-Za-z0-9_+=,.@-]+/)*{_ROLE_NAME}", re.ASCII
)
_KEY_ARN = re.compile(
    rf"{_PARTITION}:kms:{_REGION}:\d{{12}}:key/(mrk-)?[0-9a-f-]{{32,36}}", re.ASCII
)
_ROLE = re.compile(_ROLE_NAME, re.ASCII)
_SUBNET = re.compile(r"subnet-[0-9a-f]{8,17}")
_SECURITY_GROUP = re.compile(r"sg-[0-9a-f]{8,17}")
_OURS = ("lake:", "for-use-with-amazon-emr-managed-policies")


def is_region(text: str) -> bool:
    """Return whether a text has the form of a region's name."""
    return re.fullmatch(_REGION, text, re.ASCII) is not None


def role_name(path: Path, value: str) -> Iterator[Problem]:
    """Require the name of an IAM role or instance profile."""
    if not _ROLE.fullmatch(value):
        hint = "Write the name of an IAM role: 1 to 64 of A-Z a-z 0-9 _ + = , . @ -."
        yield got(path, value, hint)


def role_arn(path: Path, value: str) -> Iterator[Problem]:
    """Require the ARN of an IAM role."""
    if not _ROLE_ARN.fullmatch(value):
        hint = (
            "Write the ARN of an IAM role, as in arn:aws:iam::111122223333:role/lake."
        )
        yield got(path, value, hint)


def role_name_or_arn(path: Path, value: str) -> Iterator[Problem]:
    """Require a role's name, or its ARN for a role with a path."""
    yield from (role_arn if value.startswith("arn:") else role_name)(path, value)


def kms_key(path: Path, value: Optional[str], region: str) -> Iterator[Problem]:
    """Require the ARN of a KMS key in the region, if there is one; not an alias."""
    if value is None:
        return
    if not _KEY_ARN.fullmatch(value) or value.split(":")[3] != region:
        hint = (
            "Write the ARN of a KMS key of the environment's region, no alias, as in"
            f" arn:aws:kms:{region}:111122223333:key/01234567-89ab-cdef-0123-456789abcdef."
        )
        yield got(path, value, hint)


def subnet(path: Path, value: str) -> Iterator[Problem]:
    """Require the id of a subnet."""
    if not _SUBNET.fullmatch(value):
        hint = "Write a subnet's id, as in subnet-0123456789abcdef0."
        yield got(path, value, hint)


def security_group(path: Path, value: str) -> Iterator[Problem]:
    """Require the id of a security group."""
    if not _SECURITY_GROUP.fullmatch(value):
        hint = "Write a security group's id, as in sg-0123456789abcdef0."
        yield got(path, value, hint)


def tags(pairs: Sequence[Tuple[str, str]]) -> Iterator[Problem]:
    """Require tags that AWS accepts and the project does not reserve."""
    if len(pairs) > MOST_TAGS:
        hint = f"Keep at most {MOST_TAGS}: EMR allows 50, and a run adds its own."
        message = f"got {len(pairs)} tags"
        yield Problem(("tags",), len(pairs), message, hint)
    for key, value in pairs:
        path = ("tags", key)
        yield from names.label(path, key, 128)
        yield from names.label(path, value, 256)
        if key.lower().startswith("aws:"):
            hint = "AWS reserves keys that begin with aws: - choose another key."
            yield got(path, key, hint)
        if key.lower().startswith(_OURS):
            hint = "The project sets this tag on every cluster: choose another key."
            yield got(path, key, hint)
