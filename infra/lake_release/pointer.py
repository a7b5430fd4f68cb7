"""The releases that were deployed, the current one first: `dags/current.json`.

It is written only if it is unchanged since it was read, so that of two deployments at
once one is refused, whenever they began.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, Mapping, Optional, Tuple

from botocore.exceptions import BotoCoreError, ClientError

from lake_release.commits import Commit
from lake_release.errors import ReleaseError
from lake_release.target import Target
from lake_spec.state.conditional_write import write_if_unchanged
from lake_spec.state.state_format import (
    UnreadableState,
    from_fields,
    parse_state,
    state_text,
    to_fields,
)

REMEMBERED = 20


class Overtaken(ReleaseError):
    """Another release became the current one during the deploy.

    Fix: Check with `status` which release is current; deploy again if it must be this
    one.
    """


@dataclass(frozen=True)
class AirflowFile:
    """A file that MWAA installs, as it lies in the bucket."""

    sha256: str
    version: Optional[str] = None
    unknown: Mapping[str, Any] = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class Deploy:
    """A release that became the current one; `at` is a time in UTC.

    `manifest` is the SHA-256 of its manifest, which has that of every file; None for
    deploys of before it was noted. `commit` is what it was built of, None if unknown.
    `proven` is False until a run that only plans was green; deploys of before that was
    noted count as proven.
    """

    release: str
    at: str
    by: str
    airflow: Dict[str, AirflowFile] = field(default_factory=dict)
    manifest: Optional[str] = None
    commit: Optional[Commit] = None
    proven: bool = True
    unknown: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Deploy:
        """Parse the content of the pointer."""
        found = data.get("airflow", {}).items()
        files = {name: from_fields(AirflowFile, each) for name, each in found}
        commit_data = data.get("commit")
        commit = Commit(commit_data["id"], commit_data["at"]) if commit_data else None
        return from_fields(cls, {**data, "airflow": files, "commit": commit})


@dataclass(frozen=True)
class Pointer:
    """The deploys of an environment, the newest first, and the ETag of their object.

    `owner` is the root of the artifacts of the deployment that wrote it; None of before
    that was noted.
    """

    deploys: Tuple[Deploy, ...] = ()
    etag: Optional[str] = None
    owner: Optional[str] = None
    unknown: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def current(self) -> Optional[Deploy]:
        """The release that Airflow shows."""
        return self.deploys[0] if self.deploys else None

    def earlier(self, release: Optional[str] = None) -> Deploy:
        """Return the newest deploy of that release, or of any other than the current
        one."""
        for each in self.deploys[1:]:
            if each.release == release or (
                release is None and each.release != self.deploys[0].release
            ):
                return each
        known = dict.fromkeys(each.release for each in self.deploys[1:])
        raise ReleaseError(
            f"release {release}: not among the recorded deploys. Choose from: "
            f"{', '.join(known) or 'none'}."
            if release
            else "There is no release before the current one."
        )


def read(s3: Any, target: Target) -> Pointer:
    """Read the pointer of an environment; an empty one before the first deploy.

    ReleaseError where only a newer release understands it.
    """
    body, etag = _content(s3, target)
    if body is None:
        return Pointer()
    what = f"the list of deploys of {target.environment}"
    where = f"s3://{target.dags_bucket}/{target.pointer}"
    try:
        content = parse_state(body, what=what, where=where)
        deploys = tuple(Deploy.of(each) for each in content.pop("deploys"))
    except UnreadableState as error:
        raise ReleaseError(str(error)) from None
    except (AttributeError, KeyError, TypeError) as error:
        raise ReleaseError(
            f"{what} cannot be read: {error!r}. Location: {where}. Restore an older "
            "version of the object."
        ) from None
    owner = content.pop("owner", None)
    unknown = from_fields(Pointer, content).unknown
    return Pointer(deploys, etag, owner, unknown)


def write(s3: Any, target: Target, deploy: Deploy, *, before: Pointer) -> Pointer:
    """Make a release the current one. Raises ReleaseError after a concurrent deploy."""
    deploys = (deploy, *before.deploys)[:REMEMBERED]
    head = {**before.unknown, "owner": target.owner}
    content = {**head, "deploys": to_fields(deploys)}
    text = state_text(content, release=deploy.release, indent=1)
    body = text.encode()

    def put(**condition: str) -> str:
        where = {"Bucket": target.dags_bucket, "Key": target.pointer}
        etag: str = s3.put_object(**where, Body=body, **condition)["ETag"]
        return etag

    etag = write_if_unchanged(
        body,
        before.etag,
        put=put,
        read=lambda: _content(s3, target),
        errors=(BotoCoreError, ClientError),
    )
    if etag is None:
        raise Overtaken(
            f"{target.environment} got another release during this deploy; that one "
            "is the current one. Plan again."
        )
    return Pointer(deploys, etag, target.owner, before.unknown)


def _content(s3: Any, target: Target) -> Tuple[Optional[bytes], Optional[str]]:
    """Return the object and its ETag; None for both before the first deploy."""
    try:
        found = s3.get_object(Bucket=target.dags_bucket, Key=target.pointer)
    except s3.exceptions.NoSuchKey:
        return None, None
    return found["Body"].read(), found["ETag"]
