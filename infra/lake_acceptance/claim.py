"""Owns the claim of an acceptance run: only what is claimed is written and removed.

In each root one object says whose run the folder is. It is put where nothing is, before
anything else, only if it is not there (`If-None-Match`), and goes last. The run's stack
has the run's key as a tag.
"""

from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from botocore.exceptions import BotoCoreError, ClientError

from lake_acceptance import storage
from lake_acceptance.check import CheckFailed
from lake_acceptance.subject import DATABASES, PREFIX, ROOTS, Subject
from lake_infra.resource_names import Root
from lake_spec.state.conditional_write import write_if_unchanged

NAME = "_acceptance.json"
TAG = "lake:acceptance"
"""Of a stack: the key of the run that created it."""
_WAYS = (
    "Move or delete it if nobody needs it, or give the environment other roots "
    "(dags/environments/); nothing was written."
)


class Claim(NamedTuple):
    """Whose run a folder is, and since when."""

    run: str
    at: str


def take(subject: Subject) -> str:
    """Claim the folder of each root. Raises CheckFailed where anything is in use."""
    _refuse_used(subject)
    made: List[str] = []
    at = datetime.now(timezone.utc).isoformat(timespec="seconds")
    body = json.dumps(Claim(subject.key, at)._asdict()).encode()
    for root in roots(subject):
        if not put(subject.client("s3"), root, body):
            for each in made:
                storage.delete(subject.client("s3"), each, NAME)
            raise CheckFailed(
                f"another acceptance run claimed {root}/ at the same moment.",
                "Wait for its end, then start again; nothing was written.",
            )
        made.append(root)
    return f"run {subject.key} claims {PREFIX}/ in {len(made)} roots"


def of_earlier(subject: Subject) -> Optional[Claim]:
    """Return the claim of an earlier run; None without any."""
    found = (_read(subject.client("s3"), root) for root in roots(subject))
    return next(filter(None, found), None)


def claimed_roots(subject: Subject) -> List[str]:
    """Return the roots that this run claims."""
    s3 = subject.client("s3")
    claims = {root: _read(s3, root) for root in roots(subject)}
    return [root for root, each in claims.items() if each and each.run == subject.key]


def roots(subject: Subject) -> List[str]:
    """Return the folder of acceptance runs in each root."""
    return [getattr(subject.environment, name) for name in ROOTS]


def stack_of(subject: Subject) -> Optional[Dict[str, str]]:
    """Return the tags of the stack; None if it does not exist."""
    cloudformation = subject.client("cloudformation")
    try:
        [found] = cloudformation.describe_stacks(StackName=subject.stack)["Stacks"]
    except ClientError as error:
        if "does not exist" not in str(error):
            raise
        return None
    return {each["Key"]: each["Value"] for each in found.get("Tags", ())}


def _refuse_used(subject: Subject) -> None:
    s3 = subject.client("s3")
    if earlier := of_earlier(subject):
        raise CheckFailed(
            f"the acceptance run {earlier.run} of {earlier.at} claims {PREFIX}/.",
            "If it is under way, wait for its end; if not, remove what it left with "
            "--remove.",
        )
    for root in roots(subject):
        if found := storage.stored(s3, root):
            raise CheckFailed(
                f"{root}/ has {len(found)} objects that no acceptance run claims, the "
                f"first is {found[0]['Key']}.",
                _WAYS,
            )
    for name in DATABASES:
        if _database(subject, name):
            raise CheckFailed(f"the database {name} exists in Glue.", _WAYS)
    if not subject.emulated and stack_of(subject) is not None:
        raise CheckFailed(f"the stack {subject.stack} exists.", _WAYS)


def _database(subject: Subject, name: str) -> bool:
    glue = subject.client("glue")
    try:
        glue.get_database(Name=name)
    except glue.exceptions.EntityNotFoundException:
        return False
    return True


def _read(s3: Any, uri: str) -> Optional[Claim]:
    body, _ = _content(s3, uri)
    try:
        return Claim(**json.loads(body)) if body else None
    except (ValueError, TypeError):
        return None  # an object of somebody else by that name


def put(s3: Any, uri: str, body: bytes) -> bool:
    """Write a claim; return False where there is another one."""
    root = Root.of(uri)

    def send(**condition: str) -> str:
        where = {"Bucket": root.bucket, "Key": f"{root.prefix}{NAME}"}
        etag: str = s3.put_object(**where, Body=body, **condition)["ETag"]
        return etag

    errors = (BotoCoreError, ClientError)
    etag = write_if_unchanged(
        body, None, put=send, read=lambda: _content(s3, uri), errors=errors
    )
    return etag is not None


def _content(s3: Any, uri: str) -> Tuple[Optional[bytes], Optional[str]]:
    root = Root.of(uri)
    try:
        found = s3.get_object(Bucket=root.bucket, Key=f"{root.prefix}{NAME}")
    except s3.exceptions.NoSuchKey:
        return None, None
    return found["Body"].read(), found["ETag"]
