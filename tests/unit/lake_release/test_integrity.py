"""What lies in the buckets under a release's id is what was built, or is not used.

The commit that a desk or GitHub builds is what a deploy compares with; a rollback, which
builds nothing, goes by the SHA-256 of the manifest that `current.json` has noted.
"""

from __future__ import annotations

import json

import pytest
from lake_release.errors import ReleaseError

from tests.unit.lake_release.buckets import BUCKET, POINTER, WORK_BUCKET
from tests.unit.lake_release.conftest import write_dags


class Two:
    """Two releases, the second one current, and whoever may write the buckets."""

    def __init__(self, lake) -> None:
        self.lake, self.s3 = lake, lake.s3
        self.first = lake.deploy()
        write_dags(lake.project, "two", "moma.py")
        self.second = lake.deploy()

    def artifact(self, name: str, release: str = "") -> tuple:
        return WORK_BUCKET, f"artifacts/releases/{release or self.first}/{name}"

    def dag_file(self, name: str) -> tuple:
        return BUCKET, f"dags/releases/{self.first}/{name}"

    def get(self, bucket: str, key: str) -> bytes:
        return self.s3.get_object(Bucket=bucket, Key=key)["Body"].read()

    def put(self, bucket: str, key: str, body: bytes) -> None:
        self.s3.put_object(Bucket=bucket, Key=key, Body=body)

    def replace(self, place: tuple) -> None:
        """Put other bytes of the same number."""
        self.put(*place, bytes(each ^ 1 for each in self.get(*place)))

    def record(self, change) -> None:
        """Change the record of the first release in current.json."""
        content = json.loads(self.get(BUCKET, POINTER))
        change(content["deploys"][1])
        self.put(BUCKET, POINTER, json.dumps(content).encode())

    def refused(self, *places: tuple) -> None:
        """A rollback refuses these files by name and changes nothing."""
        with pytest.raises(ReleaseError) as refused:
            self.lake.deployment().rollback()
        assert str(refused.value) == self.words(*places)
        assert self.lake.current() == self.second

    def words(self, *places: tuple) -> str:
        named = ", ".join(f"s3://{bucket}/{key}" for bucket, key in places)
        return (
            f"prod: release {self.first} is not as it was built. Missing, replaced or "
            f"added: {named}. Find out who did it, delete these objects, and deploy the "
            "commit of that release, which puts them again."
        )


@pytest.fixture
def two(lake):
    return Two(lake)


STEPS = ("main.py", "specs/moma.json")
DAGS = ("moma.py", "lake_airflow/__init__.py", "tables/moma/artists.yml")


@pytest.mark.parametrize("name", STEPS)
def test_a_file_of_steps_with_another_content_is_not_rolled_back_to(two, name):
    two.replace(two.artifact(name))
    two.refused(two.artifact(name))


@pytest.mark.parametrize("name", [*DAGS, "release.json", "manifest.json"])
def test_a_dag_file_with_another_content_is_not_rolled_back_to(two, name):
    two.replace(two.dag_file(name))
    two.refused(two.dag_file(name))


def test_what_another_release_has_under_this_name_is_not_rolled_back_to(two):
    other = two.get(*two.artifact("specs/moma.json", two.second))
    two.put(*two.artifact("specs/moma.json"), other)
    two.refused(two.artifact("specs/moma.json"))


def test_files_that_are_missing_are_named(two):
    for name in DAGS[:2]:
        bucket, key = two.dag_file(name)
        two.s3.delete_object(Bucket=bucket, Key=key)
    two.refused(*map(two.dag_file, sorted(DAGS[:2])))


def test_a_file_that_was_added_is_named(two):
    """A module there would be imported in the place of Python's own."""
    two.put(*two.dag_file("json.py"), b"import os")
    two.refused(two.dag_file("json.py"))


def test_a_file_that_is_replaced_with_its_manifest_is_not_rolled_back_to(two):
    """What stops it is the manifest's SHA-256 in another bucket."""
    two.put(*two.artifact("main.py"), b"evil()")
    manifest = json.loads(two.get(*two.artifact("manifest.json")))
    sha256 = "0d2e3dd2dd06b4ea4b0a67ff3ab38ff2e02a4fbdd1b3e6b40a3d2ba5f2a6b8a1"
    manifest["artifacts"]["main.py"] = sha256
    two.put(*two.artifact("manifest.json"), json.dumps(manifest, indent=1).encode())
    two.refused(two.artifact("manifest.json"))


def test_a_record_with_another_manifest_is_not_rolled_back_to(two):
    two.record(lambda deploy: deploy.update(manifest="0" * 64))
    two.refused(two.artifact("manifest.json"))


def test_a_record_of_another_id_finds_no_release(two):
    two.record(lambda deploy: deploy.update(release="deadbeefdeadbeef"))
    with pytest.raises(ReleaseError, match="deadbeefdeadbeef are no longer kept"):
        two.lake.deployment().rollback()
    assert two.lake.current() == two.second


@pytest.mark.parametrize("text", [b"{", b"[]", b"{}", b'{"artifacts": 1, "dags": {}}'])
def test_what_is_no_manifest_is_refused_also_without_its_digest(two, text):
    two.record(lambda deploy: deploy.pop("manifest"))
    two.put(*two.artifact("manifest.json"), text)
    two.refused(two.artifact("manifest.json"))


@pytest.mark.parametrize("place", ["artifact", "dag_file"])
def test_a_new_deploy_of_the_commit_refuses_and_puts_again_what_was_deleted(two, place):
    place = getattr(two, place)("specs/moma.json" if place == "artifact" else "moma.py")
    write_dags(two.lake.project, "one", "moma.py")
    built = two.get(*place)
    two.replace(place)
    with pytest.raises(ReleaseError) as refused:
        two.lake.deploy()
    assert str(refused.value) == two.words(place)
    assert two.lake.current() == two.second
    told = list(two.lake.deployment().plan(two.lake.built()))
    assert f"deploy would refuse this: {refused.value}" in told
    two.s3.delete_object(Bucket=place[0], Key=place[1])
    assert two.lake.deploy() == two.first
    assert two.get(*place) == built


def test_a_new_deploy_of_the_current_release_compares_it_too(two):
    two.lake.deployment().rollback()
    write_dags(two.lake.project, "one", "moma.py")
    place = two.artifact("specs/moma.json")
    two.replace(place)
    with pytest.raises(ReleaseError) as refused:
        two.lake.deploy()
    assert str(refused.value) == two.words(place)
    told = list(two.lake.deployment().plan(two.lake.built()))
    assert told[1:] == [f"deploy would refuse this: {refused.value}"]
    two.s3.delete_object(Bucket=place[0], Key=place[1])
    two.lake.deploy()
    assert "1 files for steps" in two.lake.said
    assert list(two.lake.deployment().plan(two.lake.built()))[1:] == ["nothing to do"]


def test_a_release_that_fails_is_not_taken_back_to_one_that_was_replaced(
    lake, mwaa, airflow
):
    two = Two(lake)
    write_dags(lake.project, "three", "moma.py")
    two.first, place = two.second, (BUCKET, f"dags/releases/{two.second}/moma.py")
    two.replace(place)
    mwaa.run_state = "failed"
    third = lake.built().id
    mwaa.shows = [third]
    with pytest.raises(ReleaseError) as failed:
        lake.deploy(airflow=airflow)
    assert (
        f"{third} is still the current release, as it could not be rolled back: "
        f"{two.words(place)}"
    ) in str(failed.value)


@pytest.mark.parametrize("is_there", [True, False])
def test_a_current_release_that_was_replaced_can_be_left(two, is_there):
    place = two.artifact("specs/moma.json", two.second)
    if is_there:
        two.replace(place)
    else:
        two.s3.delete_object(Bucket=place[0], Key=place[1])
    two.lake.deployment().rollback()
    assert two.lake.current() == two.first


def test_s3_keeps_the_checksum_so_that_nothing_is_read_to_compare(two, buckets):
    buckets.read.clear()
    two.lake.deployment().rollback()
    read = {key for key in buckets.read if "/releases/" in key}
    ours = ("/manifest.json", "/specs/moma.json")  # what a plan compares
    assert {key for key in read if not key.endswith(ours)} == set()


def test_a_release_of_before_checksums_is_compared_by_content(two, buckets):
    """Its deploy noted no manifest, and S3 keeps no SHA-256 of its files."""
    for versions in buckets.versions.values():
        for each in filter(None, versions):
            each["Checksum"] = None
    two.record(lambda deploy: deploy.pop("manifest"))
    two.replace(two.dag_file("moma.py"))
    two.refused(two.dag_file("moma.py"))
    two.replace(two.dag_file("moma.py"))
    two.lake.deployment().rollback()
    assert two.lake.current() == two.first
    manifest = json.loads(two.get(BUCKET, POINTER))["deploys"][0]["manifest"]
    assert len(manifest) == 64  # from now on the manifest cannot be replaced either


def test_a_new_deploy_notes_the_manifest_of_a_release_of_before(two):
    two.record(lambda deploy: None)
    content = json.loads(two.get(BUCKET, POINTER))
    noted = content["deploys"][0].pop("manifest")
    two.put(BUCKET, POINTER, json.dumps(content).encode())
    two.lake.deploy()
    deploys = json.loads(two.get(BUCKET, POINTER))["deploys"]
    assert [each["release"] for each in deploys] == [two.second, two.first]
    assert deploys[0]["manifest"] == noted


def test_s3_refuses_bytes_that_changed_on_the_way(lake, monkeypatch):
    """The checksum is of what was built, not of what arrives."""
    put = lake.s3.put_object

    def changed(**asked):
        return put(**{**asked, "Body": asked["Body"] + b" "})

    monkeypatch.setattr(lake.s3, "put_object", changed)
    with pytest.raises(Exception, match="BadDigest"):
        lake.deploy()
