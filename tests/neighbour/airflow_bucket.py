"""The bucket that Airflow reads, with DAGs of other teams and of a second deployment."""

from __future__ import annotations

import atexit
import shutil
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import lru_cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Callable, Collection, Dict, Iterator, List

from lake_infra.resource_names import Root
from lake_release import mwaa as waiting
from lake_release import pointer
from lake_release.airflow_bucket import MARK, AirflowBucket
from lake_release.errors import ReleaseError
from lake_release.mwaa import Airflow
from lake_release.store import Store, utc_now

from tests.neighbour.scene import Beside, Seen
from tests.unit.lake_release.buckets import BUCKET, IGNORE, REGION
from tests.unit.lake_release.conftest import (
    Clock,
    Releases,
    made_project,
    pack_nothing,
    write_dags,
)
from tests.unit.lake_release.mwaa import Mwaa
from tests.unit.lake_release.s3 import S3, client_of
from tests.unit.lake_release.test_deploy import Dying, Killed
from tests.unit.lake_release.test_ownership import BESIDE, IN_THE_WAY, unmark

THEIR_DAG = "theirs_incremental"


@lru_cache(maxsize=None)
def _builds() -> tuple:
    """A folder for releases, and those that were built there, for all scenes."""
    folder = mkdtemp(prefix="lake-neighbour-releases-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder), {}


class Shared:
    """Our deployment, with an account in memory that others use too."""

    def __init__(self, beside: Beside, objects: Dict[str, bytes]) -> None:
        pack_nothing(beside.patch)
        beside.patch.setattr(waiting, "time", Clock())
        self.buckets = S3()
        self.s3 = client_of(self.buckets)
        self.mwaa = Mwaa(REGION)
        project = made_project(beside.folder / "project")
        self.lake = Releases(beside.folder, project, self.s3, _builds())
        for key, body in objects.items():
            self.s3.put_object(Bucket=BUCKET, Key=key, Body=body)

    def deploy(self, version: str, *files: str, **more: Any) -> str:
        """Deploy a release whose DAG files are these."""
        write_dags(self.lake.project, version, *(files or ("moma.py",)))
        self.mwaa.shows = [self.lake.built().id]
        return self.lake.deploy(airflow=self.airflow(), **more)

    def airflow(self) -> Airflow:
        return Airflow(self.mwaa.client, "lake-prod", say=self.lake.said.append)

    def prune_later(self) -> None:
        """What a deploy would remove in two days."""
        bucket = AirflowBucket(
            self.s3, self.lake.target, Store(self.s3, self.lake.target)
        )
        there = pointer.read(self.s3, self.lake.target)
        list(bucket.prune(there, now=utc_now() + timedelta(days=2)))

    def keys(self) -> List[str]:
        """All objects of the bucket."""
        found = self.buckets.versions.items()
        return sorted(key for (bucket, key), v in found if bucket == BUCKET and v[-1])

    def seen(self, keys: Collection[str]) -> Seen:
        """All versions of these objects."""
        return {
            key: [
                each and (each["Content"], each["Metadata"])
                for each in self.buckets.versions[BUCKET, key]
            ]
            for key in keys
        }

    def marked(self) -> Dict[str, int]:
        """Our objects that say so, out of releases' folders, with the count of writes."""
        return {
            key: len(kept)
            for (bucket, key), kept in self.buckets.versions.items()
            if bucket == BUCKET and kept[-1] and MARK in kept[-1]["Metadata"]
        }

    def runs_of_theirs(self) -> list:
        """What was asked of the DAG of others, but questions."""
        return [
            each
            for each in self.mwaa.asked
            if each[0] != "GET" and THEIR_DAG in each[1]
        ]


def beside_a_deployment(beside: Beside) -> Iterator:
    """DAGs, folders, releases and requirements that no deploy has to touch."""
    world = Shared(beside, BESIDE)
    yield lambda: {**world.seen(BESIDE), "runs of a DAG": world.runs_of_theirs()}
    first = beside.does("deploy", world.deploy, "one")
    beside.does("a second DAG file", world.deploy, "two", "moma.py", "shop.py")
    world.mwaa.run_state = "failed"
    beside.refuses("a failed deploy", ReleaseError, world.deploy, "three", "shop.py")
    world.mwaa.run_state, world.mwaa.shows = "success", [first]
    ours = world.lake.deployment(airflow=world.airflow())
    beside.does("rollback", ours.rollback)
    write_dags(world.lake.project, "four", "zeta.py")
    for _ in range(200):  # a deploy that dies before each of its writes
        try:
            beside.does("retry", world.lake.deploy, s3=Dying(world.s3, 1))
            break
        except Killed:
            pass
    world.mwaa.paused = True  # nothing of ours can be tried
    beside.does("a trial without a DAG of ours", world.deploy, "five")
    for version in map(str, range(6)):
        beside.does("deploy again", world.deploy, version)
    beside.does("prune", world.prune_later)
    yield None


def in_the_way(beside: Beside) -> Iterator:
    """Objects of the very names that a deploy writes."""
    world = Shared(beside, IN_THE_WAY)
    (world.lake.project / "plugins" / "lake_pages.py").write_text("PAGES = 1\n")
    yield lambda: world.seen(IN_THE_WAY)
    beside.refuses("deploy", ReleaseError, world.deploy, "one")
    write_dags(world.lake.project, "one", "moma.py")
    ours = world.lake.deployment(airflow=world.airflow(), take_over=["dags/shop.py"])
    beside.does("plan", list, ours.plan(world.lake.built()))
    beside.refuses(
        "deploy, another key given over", ReleaseError, ours.deploy, world.lake.built()
    )
    beside.does("prune", world.prune_later)
    yield None


def of_a_second_deployment(beside: Beside) -> Iterator:
    """A deployment of ours whose artifacts lie elsewhere came first into the bucket."""
    world = Shared(beside, {})
    lake = world.lake
    ours = lake.target
    lake.target = replace(
        ours, artifacts=Root.of("s3://lake-prod-work-111122223333/other")
    )
    write_dags(lake.project, "theirs", "moma.py", "theirs.py")
    lake.deploy()
    lake.target = ours
    names = [
        key for key in world.keys() if "/releases/" not in key or key.endswith(".py")
    ]
    yield lambda: world.seen(names)
    beside.refuses("deploy", ReleaseError, world.deploy, "one")
    beside.refuses("rollback", ReleaseError, lake.deployment().rollback)
    beside.does("prune", world.prune_later)
    yield None


def of_another_airflow(beside: Beside) -> Iterator:
    """An Airflow of our name reads another bucket; another one may read ours."""
    world = Shared(beside, {"dags/theirs.py": b"theirs = 1\n"})
    world.mwaa.there.update(
        SourceBucketArn="arn:aws:s3:::theirs", DagS3Path="team/dags"
    )
    settings = ("SourceBucketArn", "DagS3Path", "RequirementsS3Path")
    yield lambda: {
        "an environment lake-prod": [world.mwaa.there.get(each) for each in settings],
        **world.seen(["dags/theirs.py"]),
        "what Airflow shows": world.keys(),
    }
    beside.refuses("deploy", ReleaseError, world.deploy, "one")
    there, world.mwaa.there = world.mwaa.there, None
    beside.refuses("deploy without an Airflow", ReleaseError, world.deploy, "one")
    world.mwaa.there = there
    yield None


def of_the_release_before(beside: Beside) -> Iterator:
    """Releases without a mark, beside things of others: deploys go on, and mark once."""
    world = Shared(beside, BESIDE)
    first = world.deploy("one")
    world.deploy("two", "moma.py", "shop.py")
    unmark(world.lake, world.buckets)
    yield lambda: world.seen(BESIDE)
    world.mwaa.shows = [first]
    beside.does("rollback", world.lake.deployment(airflow=world.airflow()).rollback)
    requirements = world.lake.project / "requirements" / "airflow.txt"
    requirements.write_text("newer\n")
    beside.does("deploy", world.deploy, "three")
    marked, there = world.marked(), pointer.read(world.s3, world.lake.target)
    beside.expects("current.json has no owner", there.owner == world.lake.target.owner)
    beside.expects(
        f"{IGNORE} and requirements.txt are not marked: {marked}",
        {IGNORE, "requirements.txt"} <= set(marked),
    )
    for version in map(str, range(6)):
        beside.does("deploy again", world.deploy, version)
    beside.does("prune", world.prune_later)
    again = {key: count for key, count in world.marked().items() if key in marked}
    beside.expects(f"marked again: {marked}, then {again}", again == marked)
    beside.expects("shop.py was not removed", "dags/shop.py" not in world.keys())
    yield None


class Overtaken:
    """A client of S3 before whose write of an object somebody else writes it."""

    def __init__(self, s3: Any, key: str, theirs: List[Any]) -> None:
        self._s3, self._key, self._theirs = s3, key, theirs

    def __getattr__(self, name: str) -> Any:
        return getattr(self._s3, name)

    def put_object(self, **asked: Any) -> Any:
        self._overtake(**asked)
        return self._s3.put_object(**asked)

    def delete_object(self, **asked: Any) -> Any:
        self._overtake(**asked)
        return self._s3.delete_object(**asked)

    def _overtake(self, *, Key: str, **_: Any) -> None:
        if Key == self._key and not self._theirs:
            where = {"Bucket": BUCKET, "Key": Key}
            self._s3.put_object(**where, Body=b"of somebody who was faster\n")
            self._theirs.append(self._s3.head_object(**where)["ETag"])


def _overtaken(world: Shared, key: str, act: Callable[[Any], Any]) -> Iterator:
    """Somebody else writes an object between our look at it and our write of it."""
    theirs: List[Any] = []

    def is_theirs() -> bool:
        there = world.buckets.versions[BUCKET, key][-1]
        return not theirs or (there or {}).get("ETag") == theirs[0]

    yield lambda: {key: is_theirs()}
    faster = Overtaken(world.s3, key, theirs)
    with suppress(ReleaseError):
        act(faster)
    assert theirs, f"{key} was not written by anybody"
    yield None


def overtaken_before_a_new_file(beside: Beside) -> Iterator:
    """A DAG file of a name that our next release has for the first time."""
    world = Shared(beside, {"dags/shop.py": b""})
    world.s3.delete_object(Bucket=BUCKET, Key="dags/shop.py")
    world.deploy("one")
    write_dags(world.lake.project, "two", "moma.py", "shop.py")
    return _overtaken(world, "dags/shop.py", lambda s3: world.lake.deploy(s3=s3))


def overtaken_before_a_changed_file(beside: Beside) -> Iterator:
    """Requirements where ours were a moment ago."""
    world = Shared(beside, {})
    world.deploy("one")
    requirements = world.lake.project / "requirements" / "airflow.txt"
    requirements.write_text("pandas\n")
    return _overtaken(world, "requirements.txt", lambda s3: world.lake.deploy(s3=s3))


def overtaken_before_a_delete(beside: Beside) -> Iterator:
    """A DAG file where one was that no release of ours has any more."""
    world = Shared(beside, {})
    world.deploy("one", "moma.py", "zeta.py")
    for version in map(str, range(4)):
        world.deploy(version)
    write_dags(world.lake.project, "the last", "moma.py")
    return _overtaken(world, "dags/zeta.py", lambda s3: world.lake.deploy(s3=s3))


SCENES = (
    beside_a_deployment,
    in_the_way,
    of_a_second_deployment,
    of_another_airflow,
    of_the_release_before,
    overtaken_before_a_new_file,
    overtaken_before_a_changed_file,
    overtaken_before_a_delete,
)
