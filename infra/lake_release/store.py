"""The files of releases on S3: put, looked for, taken away."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, Optional, Set

from lake_release.airflow_files import EMPTY_ZIP, PLUGINS
from lake_release.built import MANIFEST, Built, Manifest, hashes
from lake_release.pointer import AirflowFile, Deploy, Pointer
from lake_release.target import DAGS, Target

SHIPPED = Path(__file__).resolve().parent / "shipped"
IGNORED = "releases\nlake_current.py\n"
KEPT = 5
"""Releases that stay in Airflow's folder, so that going back is one small write."""
UNDER_WAY = timedelta(days=1)
"""Age up to which files of a release that no deploy finished are kept."""


class Store:
    """The buckets of an environment, through one client of S3."""

    def __init__(self, s3: Any, target: Target) -> None:
        self._s3 = s3
        self._target = target

    def put_artifacts(self, built: Built) -> int:
        """Upload what steps read; the manifest is last and marks it as complete."""
        key = self._target.artifact(built.id, MANIFEST)
        if self.manifest(built.id) is not None:
            return 0
        for name, file in built.files("artifacts").items():
            self._put_artifact(self._target.artifact(built.id, name), file.read_bytes())
        self._put_artifact(key, json.dumps(built.manifest(), indent=1).encode())
        return len(built.files("artifacts"))

    def put_dags(self, built: Built) -> int:
        """Upload the release's dags folder, which nothing reads before the pointer
        names it."""
        files = built.files("dags")
        for name, file in files.items():
            self._put(self._target.dag_file(built.id, name), file.read_bytes())
        sizes = json.dumps(built.sizes()).encode()
        self._put(self._target.dag_file(built.id, MANIFEST), sizes)
        return len(files)

    def put_airflow_files(
        self, built: Built, current: Optional[Deploy]
    ) -> Dict[str, AirflowFile]:
        """Upload what MWAA installs, unless the current release has it already."""
        files = hashes(built.folder / "airflow")
        return {
            name: self._airflow_file(
                name, sha256, (built.folder / "airflow" / name).read_bytes, current
            )
            for name, sha256 in files.items()
        }

    def put_empty_plugins(self, current: Optional[Deploy]) -> AirflowFile:
        """Upload a plugins.zip without files, for an Airflow that has one; only
        once."""
        sha256 = hashlib.sha256(EMPTY_ZIP).hexdigest()
        return self._airflow_file(PLUGINS, sha256, lambda: EMPTY_ZIP, current)

    def _airflow_file(
        self,
        name: str,
        sha256: str,
        content: Callable[[], bytes],
        current: Optional[Deploy],
    ) -> AirflowFile:
        """Return the file of the current release; upload it if it has none."""
        there = current.airflow.get(name) if current else None
        if there and there.sha256 == sha256:
            return there
        return AirflowFile(sha256, self._put(name, content()).get("VersionId"))

    def put_stubs(self, names: Set[str]) -> None:
        """Upload a file per DAG file, the same in every release; only what differs."""
        stub = (SHIPPED / "stub.py").read_bytes()
        loader = (SHIPPED / "lake_current.py").read_bytes()
        wanted = {"lake_current.py": loader, ".airflowignore": IGNORED.encode()}
        wanted.update({name: stub for name in names})
        for name, text in wanted.items():
            if self._get(self._target.dags_bucket, DAGS + name) != text:
                self._put(DAGS + name, text)

    def prune(self, pointer: Pointer, *, now: datetime) -> Iterator[str]:
        """Delete DAG files and releases that are no longer shown; return their keys."""
        kept = list(dict.fromkeys(each.release for each in pointer.deploys))[:KEPT]
        stubs = {"lake_current.py", ".airflowignore", "current.json"}
        stubs |= {name for id in kept for name in self._dag_files(id)}
        for each in self._listed(DAGS):
            name = each["Key"][len(DAGS) :]
            top, _, rest = name.partition("/")
            if top == "releases":
                stays = (
                    rest.split("/")[0] in kept or now - each["LastModified"] < UNDER_WAY
                )
            else:
                stays = name in stubs
            if not stays:
                self._s3.delete_object(Bucket=self._target.dags_bucket, Key=each["Key"])
                yield each["Key"]

    def manifest(self, release: str) -> Optional[Manifest]:
        """Return the manifest of a release, if all of its artifacts exist."""
        key = self._target.artifact(release, MANIFEST)
        text = self._get(self._target.artifacts.bucket, key)
        return None if text is None else json.loads(text)

    def specs(self, release: str, manifest: Manifest) -> Dict[str, Any]:
        """Return the specs that a release's steps read, by domain."""
        found = {}
        for name in manifest.get("artifacts", ()):
            if name.startswith("specs/"):
                key = self._target.artifact(release, name)
                text = self._get(self._target.artifacts.bucket, key)
                found[name[len("specs/") : -len(".json")]] = json.loads(text)
        return found

    def has_dags(self, release: str) -> bool:
        """Return whether a release can be shown as it is."""
        key = self._target.dag_file(release, MANIFEST)
        return self._get(self._target.dags_bucket, key) is not None

    def _dag_files(self, release: str) -> Set[str]:
        text = self._get(
            self._target.dags_bucket, self._target.dag_file(release, MANIFEST)
        )
        return dag_files(json.loads(text)) if text else set()

    def _put(self, key: str, body: bytes) -> Dict[str, Any]:
        return self._s3.put_object(Bucket=self._target.dags_bucket, Key=key, Body=body)

    def _put_artifact(self, key: str, body: bytes) -> None:
        bucket = self._target.artifacts.bucket
        self._s3.put_object(Bucket=bucket, Key=key, Body=body)

    def _get(self, bucket: str, key: str) -> Optional[bytes]:
        try:
            return self._s3.get_object(Bucket=bucket, Key=key)["Body"].read()
        except self._s3.exceptions.NoSuchKey:
            return None

    def _listed(self, prefix: str) -> Iterator[Dict[str, Any]]:
        pages = self._s3.get_paginator("list_objects_v2")
        listed = pages.paginate(Bucket=self._target.dags_bucket, Prefix=prefix)
        for page in listed:
            yield from page.get("Contents", ())


def dag_files(names: Any) -> Set[str]:
    """Return the DAG files among the paths of a dags folder."""
    return {each for each in names if each.endswith(".py") and "/" not in each}


def utc_now() -> datetime:
    """Return the time in UTC, to the second."""
    return datetime.now(timezone.utc).replace(microsecond=0)
