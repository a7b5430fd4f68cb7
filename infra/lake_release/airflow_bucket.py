"""Owns what in Airflow's bucket is this deployment's: no other object is replaced or deleted.

Other teams' DAGs, requirements and releases may lie there too. An object is ours where it
says so (`MARK` among its metadata, which goes with each write), or where its bytes are
what an earlier version wrote, which had no marks: those that `dags/current.json` has
recorded, or that were the same in every release. `dags/current.json` is ours where it
names our artifacts or, without that name, a release whose manifest lies among them.

What is written has to be absent, or ours and unchanged since that was seen, or named by
`--take-over`. What is deleted has to be a file of a manifest among our artifacts.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any, Collection, Dict, Iterable, Iterator, List, Optional, Set

from botocore.exceptions import ClientError

from lake_release.airflow_files import EMPTY_ZIP, PLUGINS, REQUIREMENTS, STARTUP
from lake_release.built import MANIFEST, Built, hashes
from lake_release.checksums import digest, digest_of, put
from lake_release.errors import ReleaseError
from lake_release.pointer import AirflowFile, Pointer
from lake_release.store import MORE, Store, dag_files, listed
from lake_release.target import Target

SHIPPED = Path(__file__).resolve().parent / "shipped"
IGNORED = f"/releases/{'[0-9a-f]' * 16}/\n/lake_current.py\n"
"""What our releases are called, in this folder alone: all others' DAGs stay visible."""
INSTALLED = (REQUIREMENTS, STARTUP, PLUGINS)
MARK = "lake-artifacts"
"""Metadata of each object that a deploy writes: the root of its artifacts."""
UNMARKED = frozenset(
    (
        "8e2e4a168bb2b85a57060c6d5184b39c459291aaec5f809abf350b1f31aa9803",
        "48ad8ada7a612600a51eb92c25cb7e3f64ed0d549d870dff4fc1535b6e161b3d",
        "12f6c1988f40e4aef1458fa2c32d601376e4a9a6752c67e1f9e7b89e4beb7738",
        "16a74d768def24838c36a1e8b81b5d142f2336bc17de5c0082224038d722cb11",
        "7b06358da195c0380d812559f5eedafa38daf0c1d138598a539c48c5556fa538",
        "adadea46ac93caa6b5f94d8478e9a08b3929bde7fd2763c3af1bb956bccdbae6",
        "b6e0e94e3a7f4c323ce9cc1fd73dd7d194abc7f3023ca38668d260ed86233aa1",
        "cc9cfaa59e00728843e27a60d44e31f28458de9504bbd05b810763da93083a19",
        "d81600a373c81451e9e84ae23a3b1794621f97ae79273fd1f92d49300baa009c",
    )
)
"""SHA-256 of each `.airflowignore`, stub and loader that was written without a mark."""
KEPT = 5
"""Releases that stay in Airflow's folder, so that going back is one small write."""
UNDER_WAY = timedelta(days=1)
"""Age up to which files of a release that no deploy finished are kept."""


class NotOurs(ReleaseError):
    """Something that a deploy would replace was put there by somebody else.

    Fix: Deploy into a bucket of its own, or give over the named objects, each by its
    name, with `--take-over KEY`. Nothing was written.
    """


class AirflowBucket:
    """The bucket that Airflow reads, as one deployment may change it."""

    def __init__(
        self, s3: Any, target: Target, store: Store, take_over: Collection[str] = ()
    ) -> None:
        self._s3 = s3
        self._target = target
        self._bucket = target.dags_bucket
        self._home = target.home
        self._store = store
        self._take_over = frozenset(take_over)

    def writes(self, built: Built, there: Pointer) -> Set[str]:
        """Return the keys, out of the release's own folder, that its deploy writes."""
        before = there.current.airflow if there.current else {}
        files = hashes(built.folder / "airflow").items()
        changed = {n for n, sha in files if n not in before or before[n].sha256 != sha}
        return {*changed, *self._stubs(dag_files(built.files("dags")))}

    def check(self, keys: Iterable[str], there: Pointer) -> None:
        """Raise NotOurs where somebody else wrote one of these, or `current.json`."""
        self._check_take_over()
        foreign = {}
        for key in sorted({self._target.pointer, *keys} - self._take_over):
            seen = self._head(key)
            if seen is not None and not self._is_ours(key, seen, there):
                foreign[key] = self._words(key, seen, there)
        if foreign:
            raise self._refusal(foreign)

    def check_free(self, airflow: str, there: Pointer) -> None:
        """Raise NotOurs where the bucket holds anything of others, although our Airflow
        does not exist: then another one reads it."""
        found = list(islice(self._strangers(there), MORE + 1))
        if not found:
            return
        more = " and more" if len(found) > MORE else ""
        raise NotOurs(
            f"{self._target.environment}: {airflow} does not exist, and s3://"
            f"{self._bucket} has objects that no deploy of it put there: "
            f"{', '.join(found[:MORE])}{more}. Another Airflow may read them; nothing "
            "was written. Deploy into an empty bucket (--dags-bucket), or create "
            f"{airflow} on this one first, if it is to have both."
        )

    def put_airflow_file(
        self, name: str, content: bytes, there: Pointer
    ) -> AirflowFile:
        """Return the file of the current release; upload it if that has none such."""
        sha256 = digest(content)
        before = there.current.airflow.get(name) if there.current else None
        if before and before.sha256 == sha256:
            return before
        self._put(name, content, there)
        return AirflowFile(sha256, (self._head(name) or {}).get("VersionId"))

    def put_airflow_files(self, built: Built, there: Pointer) -> Dict[str, AirflowFile]:
        """Upload what MWAA installs, unless the current release has it already."""
        files = built.files("airflow").items()
        return {
            name: self.put_airflow_file(name, file.read_bytes(), there)
            for name, file in files
        }

    def put_stubs(self, names: Set[str], there: Pointer) -> None:
        """Upload a file per DAG file, the same in every release; only what differs."""
        for key, content in self._stubs(names).items():
            self._put(key, content, there)

    def prune(self, there: Pointer, *, now: datetime) -> Iterator[str]:
        """Delete our DAG files and releases that are no longer shown; return their
        keys."""
        kept = list(dict.fromkeys(each.release for each in there.deploys))[:KEPT]
        found = {
            each["Key"]: each for each in listed(self._s3, self._bucket, self._home)
        }
        ids = {each.release for each in there.deploys} | set(self._releases(found))
        own = {id: files for id in ids if (files := self._own_files(id))}
        names = {id: dag_files(files) for id, files in own.items()}
        shown = {name for id in kept for name in names.get(id, ())}
        for name in sorted(set().union(*names.values()) - shown):
            key = self._home + name
            seen = self._head(key) if key in found else None
            if seen and self._is_ours(key, seen, there):
                yield from self._delete(key, seen["ETag"])
        for id in sorted(set(own) - set(kept)):
            for key in sorted(self._target.dag_file(id, name) for name in own[id]):
                each = found.get(key)
                if each and now - each["LastModified"] >= UNDER_WAY:
                    yield from self._delete(key, each["ETag"])

    def take_out(self, there: Pointer) -> Iterator[str]:
        """Delete all that is ours; yield the keys.

        What Airflow looks into goes first; what says which of it is ours goes last, so
        that a removal that dies can be repeated.
        """
        found = {each["Key"] for each in listed(self._s3, self._bucket, self._home)}
        ids = {each.release for each in there.deploys} | set(self._releases(found))
        own = {id: files for id in sorted(ids) if (files := self._own_files(id))}
        names = set().union(*map(dag_files, own.values()))
        releases = [self._target.dag_file(id, n) for id in own for n in sorted(own[id])]
        of_releases = set(releases)
        ends = (self._target.loader, self._target.ignore, self._target.pointer)
        for key in (*(self._home + name for name in sorted(names)), *releases, *ends):
            seen = self._head(key) if key in found else None
            if seen and (key in of_releases or self._is_ours(key, seen, there)):
                yield from self._delete(key, seen["ETag"])

    def left(self) -> List[str]:
        """Return the keys of our folder."""
        return [each["Key"] for each in listed(self._s3, self._bucket, self._home)]

    def _put(self, key: str, content: bytes, there: Pointer) -> None:
        """Write one object onto nothing, onto ours, or onto what is taken over; not at
        all if ours has this content."""
        seen = self._head(key)
        if seen and self._is_ours(key, seen, there):
            if digest_of(self._s3, self._bucket, key) == digest(content):
                return
        elif seen and key not in self._take_over:
            raise self._refusal({key: self._words(key, seen, there)})
        put(
            *(self._s3, self._bucket, key, content),
            etag=seen["ETag"] if seen else None,
            Metadata={MARK: self._target.owner},
        )

    def _delete(self, key: str, etag: str) -> Iterator[str]:
        """Delete what is as it was seen; yield its key if it was."""
        where = {"Bucket": self._bucket, "Key": key}
        try:
            self._s3.delete_object(**where, IfMatch=etag)
        except ClientError as error:
            if error.response["Error"]["Code"] not in ("PreconditionFailed", "404"):
                raise
        else:
            yield key

    def _is_ours(self, key: str, seen: Dict[str, Any], there: Pointer) -> bool:
        if key == self._target.pointer:
            return self._owns(there)
        if mark := seen["Metadata"].get(MARK):
            taken = {there.owner} if self._target.pointer in self._take_over else set()
            return mark in {self._target.owner, *taken}
        recorded = (
            UNMARKED if key.startswith(self._home) else set(_recorded(key, there))
        )
        return digest_of(self._s3, self._bucket, key) in recorded

    def _owns(self, there: Pointer) -> bool:
        """Return whether `current.json` is of this deployment."""
        if there.owner:
            return there.owner == self._target.owner
        releases = dict.fromkeys(each.release for each in there.deploys)
        return any(self._store.parts(each) for each in releases)

    def _own_files(self, release: str) -> Collection[str]:
        """Return the files of the folder of a release; none if it is not ours."""
        parts = self._store.parts(release)
        return {*parts["dags"], MANIFEST} if parts else ()

    def _strangers(self, there: Pointer) -> Iterator[str]:
        """Yield the keys of the bucket that are not ours, nor taken over."""
        own: Dict[str, Collection[str]] = {}
        for each in listed(self._s3, self._bucket, ""):
            key = each["Key"]
            if key in self._take_over or (key.endswith("/") and not each["Size"]):
                continue  # the latter is how consoles make a folder
            if key.startswith(self._target.releases):
                id, _, name = key[len(self._target.releases) :].partition("/")
                if id not in own:
                    own[id] = self._own_files(id)
                if name not in own[id]:
                    yield key
            elif (seen := self._head(key)) and not self._is_ours(key, seen, there):
                yield key

    def _may_be_ours(self, key: str) -> bool:
        """Return whether a deploy may write this key, for some release."""
        name = key[len(self._home) :] if key.startswith(self._home) else ""
        installed = () if self._target.is_shared else INSTALLED
        known = key in (*installed, self._target.pointer, self._target.ignore)
        return known or name in dag_files([name])

    def _check_take_over(self) -> None:
        """Raise ReleaseError for a key that no deploy writes."""
        for key in sorted(self._take_over):
            if not self._may_be_ours(key):
                raise ReleaseError(
                    f"--take-over {key}: no deploy writes this key. Give one that a "
                    "refusal named, such as requirements.txt or dags/shop.py."
                )

    def _refusal(self, foreign: Dict[str, str]) -> NotOurs:
        named = "; ".join(f"{key} ({words})" for key, words in foreign.items())
        options = " ".join(f"--take-over {key}" for key in foreign)
        return NotOurs(
            f"{self._target.environment}: s3://{self._bucket} has objects of others "
            f"that this would replace: {named}. Nothing of them was changed. Deploy into "
            "a bucket that has none (--dags-bucket), or rename the DAG file; or, once "
            "whoever put them there agrees, replace each by its name: "
            f"{options}. Versions of the bucket keep what was there."
        )

    def _words(self, key: str, seen: Dict[str, Any], there: Pointer) -> str:
        """Say what is there, of when, and whose it may be."""
        of_pointer = key == self._target.pointer
        mark = there.owner if of_pointer else seen["Metadata"].get(MARK)
        whose = f"of the deployment with {mark}" if mark else "of no deploy of ours"
        at = seen["LastModified"].date().isoformat()
        return f"{seen['ContentLength']} bytes of {at}, {whose}"

    def _stubs(self, names: Iterable[str]) -> Dict[str, bytes]:
        """Return what lies in our folder next to the releases, by key."""
        stub = (SHIPPED / "stub.py").read_bytes()
        loader = (SHIPPED / "lake_current.py").read_bytes()
        found = {self._target.loader: loader, self._target.ignore: IGNORED.encode()}
        return {**found, **{f"{self._home}{name}": stub for name in names}}

    def _releases(self, keys: Iterable[str]) -> Iterator[str]:
        """Yield the ids of the folders of releases."""
        prefix = self._target.releases
        for key in keys:
            if key.startswith(prefix):
                yield key[len(prefix) :].split("/")[0]

    def _head(self, key: str) -> Optional[Dict[str, Any]]:
        """Describe an object; None where there is none."""
        try:
            seen = self._s3.head_object(Bucket=self._bucket, Key=key)
        except ClientError as error:
            if error.response["Error"]["Code"] != "404":
                raise
            return None
        return {"Metadata": {}, **seen}


def is_empty_plugins(file: Optional[AirflowFile]) -> bool:
    """Return whether it is the plugins.zip without files."""
    return file is not None and file.sha256 == digest(EMPTY_ZIP)


def _recorded(name: str, there: Pointer) -> Iterator[str]:
    """Yield the SHA-256 of each version of a file that deploys recorded."""
    for each in there.deploys:
        if name in each.airflow:
            yield each.airflow[name].sha256
