"""Which releases were deployed, the current one first: `dags/current.json`.

It is written only if nobody wrote it since it was read, so that of two deployments at
once one is refused, whenever they began.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any, Dict, Optional, Tuple

from botocore.exceptions import ClientError

from lake_release.errors import ReleaseError
from lake_release.target import POINTER, Target

REMEMBERED = 20
_LOST = ("PreconditionFailed", "ConditionalRequestConflict", "NoSuchKey")


@dataclass(frozen=True)
class AirflowFile:
    """A file that MWAA installs, as it lies in the bucket."""

    sha256: str
    version: Optional[str] = None


@dataclass(frozen=True)
class Deploy:
    """A release that became the current one; `at` is a time in UTC."""

    release: str
    at: str
    by: str
    airflow: Dict[str, AirflowFile] = field(default_factory=dict)

    @classmethod
    def of(cls, data: Dict[str, Any]) -> Deploy:
        """Of what the pointer holds."""
        files = {name: AirflowFile(**each) for name, each in data["airflow"].items()}
        return cls(data["release"], data["at"], data["by"], files)


@dataclass(frozen=True)
class Pointer:
    """The deploys of an environment, the newest first, and the ETag of their object."""

    deploys: Tuple[Deploy, ...] = ()
    etag: Optional[str] = None

    @property
    def current(self) -> Optional[Deploy]:
        """The release that Airflow shows."""
        return self.deploys[0] if self.deploys else None

    def earlier(self, release: Optional[str] = None) -> Deploy:
        """The newest deploy of that release, or of any other than the current one."""
        for each in self.deploys[1:]:
            if each.release == release or (
                release is None and each.release != self.deploys[0].release
            ):
                return each
        known = dict.fromkeys(each.release for each in self.deploys[1:])
        raise ReleaseError(
            f"release {release}: not among the deploys that are remembered. Choose from:"
            f" {', '.join(known) or 'none'}."
            if release
            else "There is no release before the current one."
        )


def read(s3: Any, target: Target) -> Pointer:
    """The pointer of an environment; an empty one before the first deploy."""
    try:
        found = s3.get_object(Bucket=target.dags_bucket, Key=POINTER)
    except s3.exceptions.NoSuchKey:
        return Pointer()
    content = json.loads(found["Body"].read())
    deploys = tuple(Deploy.of(each) for each in content["deploys"])
    return Pointer(deploys, found["ETag"])


def write(s3: Any, target: Target, deploy: Deploy, *, before: Pointer) -> Pointer:
    """Make a release the current one. ReleaseError if somebody deployed meanwhile."""
    deploys = (deploy, *before.deploys)[:REMEMBERED]
    text = json.dumps({"deploys": [asdict(each) for each in deploys]}, indent=1)
    condition = {"IfMatch": before.etag} if before.etag else {"IfNoneMatch": "*"}
    try:
        done = s3.put_object(
            Bucket=target.dags_bucket, Key=POINTER, Body=text.encode(), **condition
        )
    except ClientError as error:
        if error.response["Error"]["Code"] not in _LOST:
            raise
        raise ReleaseError(
            f"{target.environment} got another release while this one was on its way;"
            " that one stays. Plan again."
        ) from None
    return Pointer(deploys, done["ETag"])
