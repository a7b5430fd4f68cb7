"""Releases come and go; what Airflow's folder shows is one of them, whole, at any time."""

from __future__ import annotations

import json
import re
from datetime import timedelta

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError
from lake_release import pointer
from lake_release.airflow_bucket import AirflowBucket
from lake_release.errors import ReleaseError
from lake_release.shipped import lake_current
from lake_release.store import Store, utc_now

from tests.unit.lake_release.buckets import BUCKET, POINTER, WORK_BUCKET
from tests.unit.lake_release.conftest import write_dags


def keys(s3, prefix="dags/"):
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix=prefix)
    return {each["Key"] for page in pages for each in page.get("Contents", ())}


def test_what_is_deployed_is_shown(lake):
    release = lake.deploy()
    assert lake.shown() == {"moma.py": f"one {release}"}


def test_steps_find_what_they_read(lake):
    release = lake.deploy()
    found = lake.s3.get_object(
        Bucket=WORK_BUCKET,
        Key=f"artifacts/releases/{release}/specs/moma.json",
    )
    assert json.load(found["Body"])["release"] == release


def test_the_same_tree_is_the_same_release_and_is_not_deployed_again(lake):
    release = lake.deploy()
    before = keys(lake.s3)
    assert lake.deploy() == release
    assert lake.said[-3:] == [
        f"{release} is the current release already",
        "0 files for steps",
        "0 files for Airflow",
    ]
    assert keys(lake.s3) == before


def test_a_second_release_takes_over_and_its_dag_files_come_and_go(lake):
    lake.deploy()
    write_dags(lake.project, "two", "shop.py")
    release = lake.deploy()
    assert lake.shown() == {"shop.py": f"two {release}"}


def test_a_rollback_shows_the_release_before(lake):
    first = lake.deploy()
    write_dags(lake.project, "two", "moma.py", "shop.py")
    second = lake.deploy()
    lake.deployment().rollback()
    assert lake.shown() == {"moma.py": f"one {first}"}
    lake.deployment().rollback(second)
    assert lake.shown() == {"moma.py": f"two {second}", "shop.py": f"two {second}"}


def test_what_a_later_release_says_of_deploys_outlives_a_rollback(lake):
    """Nested fields too: they are written back by a release that does not know them."""
    first = lake.deploy()
    write_dags(lake.project, "two", "moma.py")
    lake.deploy()
    text = json.loads(lake.s3.get_object(Bucket=BUCKET, Key=POINTER)["Body"].read())
    assert (text["format"], text["written_by"]) == (1, text["deploys"][0]["release"])
    text["later"] = {"deep": [1]}
    for each in text["deploys"]:
        each["approved"] = {"by": "a"}
        each["airflow"] = {
            "requirements.txt": {"sha256": "0", "version": None, "size": {"b": 7}}
        }
    put(lake, text)
    lake.deployment().rollback()
    after = json.loads(lake.s3.get_object(Bucket=BUCKET, Key=POINTER)["Body"].read())
    assert after["deploys"][0]["release"] == first
    assert after["later"] == {"deep": [1]}
    assert after["deploys"][1:] == text["deploys"]
    file = after["deploys"][0]["airflow"]["requirements.txt"]
    assert file == {"sha256": "0", "version": None, "size": {"b": 7}}


def test_deploys_that_only_a_newer_release_understands_are_refused_and_stay(lake):
    lake.deploy()
    put(lake, {"format": 2, "written_by": "r9", "history": []})
    with pytest.raises(ReleaseError) as refused:
        lake.deployment().rollback()
    assert str(refused.value) == (
        f"the list of deploys of {lake.target.environment} has format 2 (written by "
        f"release r9), this release reads 1. Location: s3://{BUCKET}/dags/current.json. "
        "Deploy a release that reads format 2, such as r9."
    )
    put(lake, {"format": 1})
    with pytest.raises(ReleaseError, match="cannot be read: KeyError..deploys"):
        lake.deployment().rollback()


def put(lake, text):
    lake.s3.put_object(Bucket=BUCKET, Key=POINTER, Body=json.dumps(text).encode())


def test_a_rollback_to_what_is_not_remembered_is_refused_with_the_choices(lake):
    with pytest.raises(ReleaseError, match="no release before"):
        lake.deployment().rollback()
    first = lake.deploy()
    write_dags(lake.project, "two", "moma.py")
    lake.deploy()
    with pytest.raises(ReleaseError, match=f"release x: .* Choose from: {first}"):
        lake.deployment().rollback("x")


class Killed(BaseException):
    """As kill -9: nothing of ours handles it."""


class Dying:
    """A client of S3 that dies before its n-th writing call."""

    def __init__(self, s3, calls: int) -> None:
        self._s3 = s3
        self._left = calls

    def __getattr__(self, name):
        return getattr(self._s3, name)

    def _write(self, name, arguments):
        if not self._left:
            raise Killed
        self._left -= 1
        return getattr(self._s3, name)(**arguments)

    def put_object(self, **arguments):
        return self._write("put_object", arguments)

    def delete_object(self, **arguments):
        return self._write("delete_object", arguments)


def test_a_deploy_that_dies_anywhere_leaves_one_whole_release_and_is_repeated(lake):
    first = lake.deploy()
    write_dags(lake.project, "two", "shop.py")
    second = lake.built().id
    seen = []
    for _ in range(200):  # each goes on where the one before died
        try:
            lake.deploy(s3=Dying(lake.s3, 1))
            break
        except Killed:
            seen.append(lake.current())
    assert seen.count(first) > 10
    assert seen == [first] * seen.count(first) + [second] * seen.count(second)
    assert lake.shown() == {"shop.py": f"two {second}"}


def test_of_two_deploys_at_once_one_is_refused(lake):
    lake.deploy()
    write_dags(lake.project, "two", "moma.py")
    late = lake.deployment()
    built = lake.built()

    def meanwhile(line):
        if line.endswith("files for Airflow") and not lake.said:
            write_dags(lake.project, "three", "moma.py")
            lake.deploy()

    lake.said.clear()
    late._say = meanwhile
    with pytest.raises(ReleaseError, match="another release during this deploy"):
        late.deploy(built)
    assert lake.shown()["moma.py"].startswith("three ")


@pytest.fixture
def without_replies(lake, monkeypatch):
    """S3 does what it is asked, and its reply to the pointer is lost in this way."""

    def lose(ends):
        put = lake.s3.put_object

        def lost(**asked):
            done = put(**asked)
            if asked["Key"] != POINTER:
                return done
            if ends == "sent again":
                return put(**asked)
            raise ends

        monkeypatch.setattr(lake.s3, "put_object", lost)

    return lose


@pytest.mark.parametrize(
    "ends",
    [
        "sent again",
        ReadTimeoutError(endpoint_url="s3"),
        ClientError({"Error": {"Code": "InternalError"}}, "PutObject"),
        ClientError({"Error": {"Code": "ConditionalRequestConflict"}}, "PutObject"),
    ],
    ids=["again", "timeout", "500", "409"],
)
def test_a_switch_whose_reply_was_lost_is_ours(lake, without_replies, ends):
    lake.deploy()
    without_replies(ends)
    write_dags(lake.project, "two", "moma.py")
    second = lake.deploy()
    assert f"{second} is the current release" in lake.said
    assert lake.shown() == {"moma.py": f"two {second}"}
    write_dags(lake.project, "three", "moma.py")
    lake.deploy()  # the ETag that was found is the one that is there


def test_a_first_release_whose_reply_was_lost_is_ours(lake, without_replies):
    without_replies("sent again")
    release = lake.deploy()
    assert lake.shown() == {"moma.py": f"one {release}"}


def test_a_switch_that_s3_refuses_is_an_error(lake, monkeypatch):
    put = lake.s3.put_object

    def denied(**asked):
        if asked["Key"] == POINTER:
            raise ClientError({"Error": {"Code": "AccessDenied"}}, "PutObject")
        return put(**asked)

    monkeypatch.setattr(lake.s3, "put_object", denied)
    with pytest.raises(ClientError, match="AccessDenied"):
        lake.deploy()


def test_a_release_whose_files_are_still_on_their_way_is_not_shown(lake):
    first = lake.deploy()
    write_dags(lake.project, "two", "moma.py")
    second = lake.deploy()
    key = f"dags/releases/{second}/lake_airflow/__init__.py"
    whole = lake.s3.get_object(Bucket=BUCKET, Key=key)["Body"].read()
    for part in (whole[:3], None):
        if part is None:
            lake.s3.delete_object(Bucket=BUCKET, Key=key)
        else:
            lake.s3.put_object(Bucket=BUCKET, Key=key, Body=part)
        assert lake.shown() == {"moma.py": f"one {first}"}


def test_old_releases_go_and_so_do_those_that_no_deploy_finished(lake):
    releases = []
    for version in map(str, range(7)):
        write_dags(lake.project, version, "moma.py")
        releases.append(lake.deploy())
    write_dags(lake.project, "unfinished", "moma.py")
    store = Store(lake.s3, lake.target)
    unfinished = store.put(lake.built()) and lake.built().id
    bucket = AirflowBucket(lake.s3, lake.target, store)
    there = pointer.read(lake.s3, lake.target)
    assert list(bucket.prune(there, now=utc_now())) == []
    gone = list(bucket.prune(there, now=utc_now() + timedelta(days=2)))
    assert f"dags/releases/{unfinished}/moma.py" in gone
    left = {key.split("/")[2] for key in keys(lake.s3, "dags/releases/")}
    assert left == set(releases[-5:])
    with pytest.raises(ReleaseError, match=f"{releases[0]} are no longer kept"):
        lake.deployment().rollback(releases[0])


def test_status_tells_the_deploys_the_newest_first(lake):
    assert list(lake.deployment().status()) == ["prod: no release yet"]
    first = lake.deploy()
    write_dags(lake.project, "two", "moma.py")
    second = lake.deploy()
    head, words, *deploys = lake.deployment().status()
    assert head == f"prod: {second}"
    names = [word.split("=")[0] for word in words.split()]
    assert names == ["RequirementsVersion", "StartupVersion"]
    assert [line.split()[1] for line in deploys] == [second, first]


@pytest.mark.parametrize(
    "text, words",
    [
        (
            '{"format": 2, "written_by": "r9", "deploys": [{"release": "r9"}]}',
            "has format 2 (written by release r9), lake_current.py reads 1. Deploy that"
            " release again",
        ),
        ('{"deploys": 7}', "cannot be read: TypeError"),
        ("[]", "cannot be read: AttributeError"),
        ("{", "cannot be read: JSONDecodeError"),
    ],
)
def test_airflow_says_why_it_shows_no_release(tmp_path, text, words):
    (tmp_path / "current.json").write_text(text)
    with pytest.raises(lake_current.NoRelease, match=re.escape(words)):
        lake_current.current(tmp_path)
