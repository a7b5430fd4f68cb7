"""The files of releases on S3: put, looked for, taken away."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import (
    Any,
    Dict,
    Iterator,
    List,
    Mapping,
    Optional,
    Sequence,
    Set,
    Tuple,
)

from lake_release.built import MANIFEST, Built, Manifest
from lake_release.checksums import digest, digest_of, put
from lake_release.errors import ReleaseError
from lake_release.target import Target

STORED = ("artifacts", "dags")
"""The parts of a release that lie on S3 under its id."""
MORE = 5
"""Number of files that a refusal names; the rest are counted."""


class Store:
    """The buckets of an environment, through one client of S3."""

    def __init__(self, s3: Any, target: Target) -> None:
        self._s3 = s3
        self._target = target

    def put(self, built: Built) -> Dict[str, int]:
        """Upload what is missing of a release, which nothing reads before the pointer
        names it; return how many files of each part.

        The manifest of what steps read marks that as complete, and the release as ours.
        Raises ReleaseError for replaced files, before anything is written.
        """
        parts = {part: _uploads(built, part) for part in STORED}
        missing = {
            part: self._missing(built.id, part, _digests(files))
            for part, files in parts.items()
        }
        for part, names in missing.items():
            for name in names:
                place = self._place(built.id, part, name)
                put(self._s3, *place, parts[part][name], etag=None)
        return {part: len(names) for part, names in missing.items()}

    def check_built(self, built: Built) -> None:
        """Raise ReleaseError where the buckets have something else under this
        release's id."""
        for part in STORED:
            self._missing(built.id, part, _digests(_uploads(built, part)))

    def check(self, release: str, manifest: Optional[str]) -> str:
        """Compare every file of a release with its manifest, and that with its SHA-256.

        Without a SHA-256, as of a deploy that noted none, the manifest counts as it
        is. Return its SHA-256. Raises ReleaseError unless all is as it was built.
        """
        text = self._get(*self._place(release, "artifacts", MANIFEST)) or b""
        files = _parts(text) if manifest in (None, digest(text)) else None
        if files is None:
            raise self._refusal(release, "artifacts", [MANIFEST])
        for part in STORED:
            if missing := self._missing(release, part, files[part]):
                raise self._refusal(release, part, missing)
        return digest(text)

    def _missing(self, release: str, part: str, files: Mapping[str, str]) -> List[str]:
        """Return which files, given by SHA-256, the bucket does not have.

        Raises ReleaseError for those that it has with another content, and for others.
        """
        bucket, folder = self._place(release, part, "")
        there = {
            each["Key"][len(folder) :] for each in listed(self._s3, bucket, folder)
        }
        wrong = there - {*files, MANIFEST, ""}
        for name in there & set(files):
            if digest_of(self._s3, bucket, folder + name) != files[name]:
                wrong.add(name)
        if wrong:
            raise self._refusal(release, part, sorted(wrong))
        return [name for name in files if name not in there]

    def _refusal(self, release: str, part: str, wrong: Sequence[str]) -> ReleaseError:
        """Name the files of a part that are not as they were built."""
        bucket, folder = self._place(release, part, "")
        named = ", ".join(f"s3://{bucket}/{folder}{name}" for name in wrong[:MORE])
        more = f" and {len(wrong) - MORE} more" if len(wrong) > MORE else ""
        return ReleaseError(
            f"{self._target.environment}: release {release} is not as it was built. "
            f"Missing, replaced or added: {named}{more}. Find out who did it, delete "
            "these objects, and deploy the commit of that release, which puts them "
            "again."
        )

    def _place(self, release: str, part: str, name: str) -> Tuple[str, str]:
        """Return bucket and key of a file of a release."""
        if part == "artifacts":
            return self._target.artifacts.bucket, self._target.artifact(release, name)
        return self._target.dags_bucket, self._target.dag_file(release, name)

    def manifest(self, release: str) -> Optional[Manifest]:
        """Return the manifest of a release, if all of its artifacts exist."""
        text = self._get(*self._place(release, "artifacts", MANIFEST))
        return None if text is None else json.loads(text)

    def parts(self, release: str) -> Optional[Manifest]:
        """Return the files of a release of this deployment, by part; None for others,
        whose manifest does not lie among its artifacts."""
        text = self._get(*self._place(release, "artifacts", MANIFEST))
        return None if text is None else _parts(text)

    def specs(self, release: str, manifest: Manifest) -> Dict[str, Any]:
        """Return the specs that a release's steps read, by domain; none that is missing
        or was replaced, so that a release with such ones can be left."""
        found = {}
        for name, sha256 in manifest.get("artifacts", {}).items():
            if name.startswith("specs/"):
                text = self._get(*self._place(release, "artifacts", name)) or b""
                if digest(text) == sha256:
                    found[name[len("specs/") : -len(".json")]] = json.loads(text)
        return found

    def has_dags(self, release: str) -> bool:
        """Return whether a release can be shown as it is."""
        key = self._target.dag_file(release, MANIFEST)
        return self._get(self._target.dags_bucket, key) is not None

    def _get(self, bucket: str, key: str) -> Optional[bytes]:
        try:
            body: bytes = self._s3.get_object(Bucket=bucket, Key=key)["Body"].read()
            return body
        except self._s3.exceptions.NoSuchKey:
            return None


def listed(s3: Any, bucket: str, prefix: str) -> Iterator[Dict[str, Any]]:
    """Yield what S3 lists below a prefix."""
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
    for page in pages:
        yield from page.get("Contents", ())


def _uploads(built: Built, part: str) -> Dict[str, bytes]:
    """Return the files of a part, the one that marks it as complete last."""
    files = {name: file.read_bytes() for name, file in built.files(part).items()}
    own = built.manifest_text() if part == "artifacts" else files.pop(MANIFEST)
    return {**files, MANIFEST: own}


def _digests(files: Mapping[str, bytes]) -> Dict[str, str]:
    return {name: digest(content) for name, content in files.items()}


def _parts(text: bytes) -> Optional[Manifest]:
    """Parse a manifest; None for what is none."""
    try:
        files = json.loads(text)
        return {part: dict(files[part]) for part in STORED}
    except (ValueError, KeyError, TypeError):
        return None


def dag_files(names: Any) -> Set[str]:
    """Return the DAG files among the paths of a dags folder."""
    return {each for each in names if each.endswith(".py") and "/" not in each}


def utc_now() -> datetime:
    """Return the time in UTC, to the second."""
    return datetime.now(timezone.utc).replace(microsecond=0)
