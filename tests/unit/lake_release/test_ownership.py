"""A bucket that others use too: no deploy, rollback or prune changes a byte of theirs.

What a deploy would replace is refused by name before anything is written, or replaced
where it was given over by its name; what it deletes is its own.
"""

from __future__ import annotations

import json
import re
from datetime import timedelta

import pytest
from lake_release import pointer
from lake_release.airflow_bucket import (
    MARK,
    UNMARKED,
    AirflowBucket,
    NotOurs,
)
from lake_release.checksums import digest
from lake_release.errors import ReleaseError
from lake_release.store import Store, utc_now
from lake_spec.layout.dag_names import PROOF

from tests.unit.lake_release.buckets import BUCKET, IGNORE, LOADER, POINTER, WORK_BUCKET
from tests.unit.lake_release.conftest import write_dags
from tests.unit.lake_release.test_deploy import Dying, Killed, keys

OTHER = "00112233445566ff"
BESIDE = {
    "dags/other_team.py": b"theirs = 1\n",
    "dags/dbt/project.yml": b"name: theirs\n",
    "dags/dbt/.airflowignore": b"target\n",
    "dags/team/releases/moma.py": b"theirs = 2\n",
    "dags/releases/theirs/moma.py": b"theirs = 3\n",
    f"dags/releases/{OTHER}/moma.py": b"of another deployment\n",
    f"dags/releases/{OTHER}/manifest.json": b'{"moma.py": 22}',
    "other/dags/current.json": b'{"deploys": [{"release": "x", "at": "", "by": ""}]}',
    f"other/dags/releases/{OTHER}/moma.py": b"in another prefix\n",
    "team/requirements.txt": b"pandas\n",
}
"""What lies beside all that a deploy writes."""
IN_THE_WAY = {
    "requirements.txt": b"pandas\n",
    "startup.sh": b"export THEIRS=1\n",
    "plugins.zip": b"PK theirs",
    "dags/.airflowignore": b"drafts/\n",
    "dags/lake_current.py": b"theirs = 4\n",
    "dags/moma.py": b"theirs = 5\n",
}
"""What a deploy of a release with plugins would replace."""


@pytest.fixture
def plugin(lake):
    (lake.project / "plugins" / "lake_pages.py").write_text("PAGES = 1\n")


def put(lake, objects, **more):
    for key, body in objects.items():
        lake.s3.put_object(Bucket=BUCKET, Key=key, Body=body, **more)


def versions(buckets, of=None):
    """All versions of what is in the buckets, or of these keys of Airflow's."""
    return {
        place: [each and (each["Content"], each["Metadata"]) for each in kept]
        for place, kept in buckets.versions.items()
        if any(kept) and (of is None or place in {(BUCKET, key) for key in of})
    }


def refused(lake, buckets, *keys, words="of no deploy of ours", **more):
    """Deploy and plan refuse these keys by name, and write nothing."""
    before = versions(buckets)
    with pytest.raises(ReleaseError) as error:
        lake.deploy(**more)
    today = utc_now().date()
    named = "; ".join(
        f"{key} ({len(buckets.versions[BUCKET, key][-1]['Content'])} bytes of {today}, "
        f"{words})"
        for key in keys
    )
    options = " ".join(f"--take-over {key}" for key in keys)
    assert str(error.value) == (
        f"prod: s3://{BUCKET} has objects of others that this would replace: {named}. "
        "Nothing of them was changed. Deploy into a bucket that has none (--dags-bucket),"
        " or rename the DAG file; or, once whoever put them there agrees, replace each by"
        f" its name: {options}. Versions of the bucket keep what was there."
    )
    plan = list(lake.deployment(**more).plan(lake.built()))
    assert f"deploy would refuse this: {error.value}" in plan
    assert versions(buckets) == before


def deploy_another(lake, mwaa, version, *files, **more):
    write_dags(lake.project, version, *(files or ("moma.py",)))
    mwaa.shows = [lake.built().id]
    return lake.deploy(**more)


def prune_later(lake):
    bucket = AirflowBucket(lake.s3, lake.target, Store(lake.s3, lake.target))
    there = pointer.read(lake.s3, lake.target)
    return list(bucket.prune(there, now=utc_now() + timedelta(days=2)))


def test_what_lies_beside_a_deployment_outlives_all_that_becomes_of_it(
    lake, mwaa, airflow, buckets
):
    put(lake, BESIDE)
    theirs = versions(buckets, BESIDE)
    first = deploy_another(lake, mwaa, "one", "moma.py", airflow=airflow)
    deploy_another(lake, mwaa, "two", "moma.py", "shop.py", airflow=airflow)
    mwaa.run_state = "failed"
    with pytest.raises(ReleaseError, match="is the current release again"):
        deploy_another(lake, mwaa, "three", "shop.py", airflow=airflow)
    mwaa.run_state, mwaa.shows = "success", [first]
    lake.deployment(airflow=airflow).rollback()
    write_dags(lake.project, "four", "zeta.py")
    for _ in range(200):  # a deploy that dies before each of its writes
        try:
            lake.deploy(s3=Dying(lake.s3, 1))
            break
        except Killed:
            pass
    for version in map(str, range(6)):
        deploy_another(lake, mwaa, version, airflow=airflow)
    assert any(f"releases/{first}/" in key for key in prune_later(lake))
    assert versions(buckets, BESIDE) == theirs
    left = {key for key in keys(lake.s3) if key.count("/") == 1}
    assert left - set(BESIDE) == {
        *("dags/.airflowignore", "dags/current.json", "dags/lake_current.py"),
        *("dags/lake_proof.py", "dags/moma.py"),
    }


@pytest.mark.parametrize("key", IN_THE_WAY)
def test_what_is_in_the_way_is_refused_by_name_or_given_over(
    lake, plugin, airflow, buckets, key
):
    put(lake, {**BESIDE, key: IN_THE_WAY[key]})
    theirs = versions(buckets, BESIDE)
    refused(lake, buckets, key, airflow=airflow)
    lake.deploy(airflow=airflow, take_over=[key])
    assert versions(buckets, BESIDE) == theirs
    old, new = buckets.versions[BUCKET, key][1:]
    assert old["Content"] == IN_THE_WAY[key]
    assert new["Metadata"] == {MARK: lake.target.owner}
    write_dags(lake.project, "two", "moma.py")
    lake.deploy()  # from now on it is ours


def test_all_that_is_in_the_way_is_named_and_given_over_one_by_one(
    lake, plugin, mwaa, airflow, buckets
):
    put(lake, IN_THE_WAY)
    refused(lake, buckets, *sorted(IN_THE_WAY), airflow=airflow)
    some = ["requirements.txt", "dags/moma.py"]
    rest = sorted(set(IN_THE_WAY) - set(some))
    refused(lake, buckets, *rest, airflow=airflow, take_over=some)
    lake.deploy(airflow=airflow, take_over=list(IN_THE_WAY))


@pytest.mark.parametrize("key", IN_THE_WAY)
def test_what_says_that_it_is_of_another_deployment_is_refused(
    lake, plugin, buckets, key
):
    put(lake, {key: IN_THE_WAY[key]}, Metadata={MARK: "s3://other/artifacts/"})
    refused(lake, buckets, key, words="of the deployment with s3://other/artifacts/")


@pytest.mark.parametrize("key", IN_THE_WAY)
def test_what_others_put_over_ours_is_theirs(lake, plugin, buckets, key):
    lake.deploy()
    put(lake, {key: IN_THE_WAY[key]})
    (lake.project / "plugins" / "lake_pages.py").write_text("PAGES = 2\n")
    (lake.project / "requirements" / "airflow.txt").write_text("newer\n")
    write_dags(lake.project, "two", "moma.py")
    if key == "startup.sh":  # which did not change: its version is installed
        lake.deploy()
        assert buckets.versions[BUCKET, key][-1]["Content"] == IN_THE_WAY[key]
    else:
        refused(lake, buckets, key)


def test_a_dag_file_that_others_put_over_ours_outlives_the_domain(lake, buckets):
    lake.deploy()
    put(lake, {"dags/moma.py": b"theirs = 5\n"})
    for version in map(str, range(6)):
        write_dags(lake.project, version, "shop.py")
        lake.deploy()
    prune_later(lake)
    assert buckets.versions[BUCKET, "dags/moma.py"][-1]["Content"] == b"theirs = 5\n"


def test_a_copy_of_a_dag_file_of_ours_under_another_name_stays(lake, buckets):
    lake.deploy()
    there = buckets.versions[BUCKET, "dags/moma.py"][-1]
    put(lake, {"dags/copied.py": there["Content"]}, Metadata={MARK: lake.target.owner})
    write_dags(lake.project, "two", "shop.py")
    lake.deploy()
    prune_later(lake)
    assert "dags/copied.py" in keys(lake.s3)


@pytest.mark.parametrize("key", ["requirements.txt", "dags/moma.py", IGNORE])
def test_what_comes_between_the_look_and_the_write_stays(
    lake, buckets, monkeypatch, key
):
    """The look finds nothing; S3 refuses the write."""
    send = lake.s3.put_object

    def overtaken(**asked):
        if asked["Key"] == key and "Metadata" in asked:
            monkeypatch.setattr(lake.s3, "put_object", send)
            put(lake, {key: b"theirs"})
        return send(**asked)

    monkeypatch.setattr(lake.s3, "put_object", overtaken)
    with pytest.raises(ReleaseError) as error:
        lake.deploy()
    assert str(error.value) == (
        f"s3://{BUCKET}/{key} was written by somebody else at the same time, and stays "
        "as it is. Look who writes there; then run the command again."
    )
    assert buckets.versions[BUCKET, key][-1]["Content"] == b"theirs"
    assert POINTER not in keys(lake.s3)


def test_what_comes_between_the_look_and_the_delete_stays(lake, buckets, monkeypatch):
    lake.deploy()
    for version in map(str, range(5)):
        write_dags(lake.project, version, "shop.py")
        last = lake.built()
        if version != "4":
            lake.deploy()
    delete = lake.s3.delete_object

    def overtaken(**asked):
        put(lake, {asked["Key"]: b"theirs"})
        return delete(**asked)

    monkeypatch.setattr(lake.s3, "delete_object", overtaken)
    lake.deployment().deploy(last)
    assert buckets.versions[BUCKET, "dags/moma.py"][-1]["Content"] == b"theirs"
    assert "removed dags/moma.py" not in lake.said


def test_a_file_of_a_release_that_comes_meanwhile_stays(lake, buckets, monkeypatch):
    send = lake.s3.put_object

    def overtaken(**asked):
        monkeypatch.setattr(lake.s3, "put_object", send)
        send(Bucket=asked["Bucket"], Key=asked["Key"], Body=b"theirs")
        return send(**asked)

    monkeypatch.setattr(lake.s3, "put_object", overtaken)
    with pytest.raises(ReleaseError, match="written by somebody else"):
        lake.deploy()
    assert [v[-1]["Content"] for v in buckets.versions.values() if v[-1]] == [b"theirs"]


def other_pointer(**more):
    deploys = [{"release": OTHER, "at": "2026-01-01", "by": "them"}]
    return json.dumps({"format": 1, "deploys": deploys, **more}).encode()


def test_the_releases_of_another_deployment_are_not_replaced(lake, buckets):
    """Of this version, which says whose they are, and of the one before."""
    of_them = "of the deployment with s3://other/artifacts/"
    put(lake, {POINTER: other_pointer(owner="s3://other/artifacts/")})
    refused(lake, buckets, POINTER, words=of_them)
    put(lake, {POINTER: other_pointer()})
    refused(lake, buckets, POINTER)


def test_the_records_of_another_deployment_are_given_over_with_its_files(lake, buckets):
    """As after the root of the artifacts was moved."""
    owner = "s3://other/artifacts/"
    put(lake, {POINTER: other_pointer(owner=owner)})
    put(lake, {"dags/moma.py": b"stub of them"}, Metadata={MARK: owner})
    put(lake, {"startup.sh": b"theirs"})
    refused(lake, buckets, "startup.sh", take_over=[POINTER])
    release = lake.deploy(take_over=[POINTER, "startup.sh"])
    assert lake.shown() == {"moma.py": f"one {release}"}
    assert pointer.read(lake.s3, lake.target).owner == lake.target.owner


def test_a_rollback_and_a_repeat_ask_whose_the_records_are(lake, airflow, buckets):
    first = lake.deploy()
    write_dags(lake.project, "two", "moma.py")
    second = lake.deploy()
    body = json.loads(buckets.versions[BUCKET, POINTER][-1]["Content"])
    put(
        lake, {POINTER: json.dumps({**body, "owner": "s3://other/artifacts/"}).encode()}
    )
    before = versions(buckets)
    for again in (
        lambda: lake.deployment(airflow=airflow).rollback(),
        lambda: lake.deployment(airflow=airflow).rollback(first),
        lambda: lake.deployment(airflow=airflow).rollback(second),
        lambda: lake.deploy(airflow=airflow),
    ):
        with pytest.raises(NotOurs, match=re.escape(f"{POINTER} (")):
            again()
    assert versions(buckets) == before


@pytest.mark.parametrize("key", ["dags/dbt/project.yml", "plugins", "dags/releases/x"])
def test_a_key_that_no_deploy_writes_cannot_be_taken_over(lake, key):
    with pytest.raises(ReleaseError) as error:
        lake.deploy(take_over=[key])
    assert str(error.value) == (
        f"--take-over {key}: no deploy writes this key. Give one that a refusal named, "
        "such as requirements.txt or dags/shop.py."
    )


def test_plugins_of_others_are_not_replaced_by_none(lake, mwaa, airflow, buckets):
    """The environment installs a plugins.zip, and the release has none."""
    put(lake, {"plugins.zip": b"PK theirs"})
    mwaa.there.update(PluginsS3Path="plugins.zip", PluginsS3ObjectVersion="v1")
    refused(lake, buckets, "plugins.zip", airflow=airflow)
    first = lake.deploy()
    write_dags(lake.project, "two", "moma.py")
    lake.deploy()
    with pytest.raises(NotOurs, match="plugins.zip"):
        lake.deployment(airflow=airflow).rollback(first)
    assert len(buckets.versions[BUCKET, "plugins.zip"][1:]) == 1
    assert mwaa.updates == []


ELSEWHERE = {
    "SourceBucketArn": ("arn:aws:s3:::theirs", f"arn:aws:s3:::{BUCKET}"),
    "DagS3Path": ("team/dags", "dags"),
    "RequirementsS3Path": ("team/requirements.txt", "requirements.txt"),
    "StartupScriptS3Path": ("team/startup.sh", "startup.sh"),
    "PluginsS3Path": ("team/plugins.zip", "plugins.zip"),
}


@pytest.mark.parametrize("setting", ELSEWHERE)
def test_an_airflow_that_reads_elsewhere_is_not_pointed_here(
    lake, mwaa, airflow, buckets, setting
):
    lake.deploy()
    write_dags(lake.project, "two", "moma.py")
    second = lake.deploy()
    write_dags(lake.project, "three", "moma.py")
    theirs, ours = ELSEWHERE[setting]
    mwaa.there[setting] = theirs
    before = versions(buckets)
    for again in (
        lambda: lake.deploy(airflow=airflow),
        lambda: lake.deployment(airflow=airflow).rollback(),
        lambda: lake.deployment(airflow=airflow).rollback(second),
    ):
        with pytest.raises(ReleaseError) as error:
            again()
        assert str(error.value) == (
            f"lake-prod reads other places than this deploy writes: {setting} is "
            f"{theirs}, not {ours}. It may be another team's, whose DAGs would stop; "
            "nothing was written. Name the bucket that it reads by --dags-bucket, or "
            "give the environment of this deploy another name, whose Airflow is "
            "lake-<name>."
        )
    assert (mwaa.updates, versions(buckets)) == ([], before)
    plan = list(lake.deployment(airflow=airflow).plan(lake.built()))
    assert f"deploy would refuse this: {error.value}" in plan


def test_paths_and_partitions_are_compared_as_mwaa_may_write_them(lake, mwaa, airflow):
    mwaa.there.update(
        SourceBucketArn=f"arn:aws-us-gov:s3:::{BUCKET}", DagS3Path="dags/"
    )
    lake.deploy(airflow=airflow)


def test_the_bucket_of_another_airflow_is_not_taken_for_one_to_be(
    lake, mwaa, airflow, buckets
):
    mwaa.there = None
    put(lake, BESIDE)
    before = versions(buckets)
    with pytest.raises(NotOurs) as error:
        lake.deploy(airflow=airflow)
    first = ", ".join(sorted(BESIDE)[:5])
    assert str(error.value) == (
        f"prod: lake-prod does not exist, and s3://{BUCKET} has objects that no deploy of "
        f"it put there: {first} and more. Another Airflow may read them; nothing was "
        "written. Deploy into an empty bucket (--dags-bucket), or create lake-prod on "
        "this one first, if it is to have both."
    )
    assert versions(buckets) == before


@pytest.mark.parametrize("key", [*BESIDE, *IN_THE_WAY])
def test_one_object_of_others_is_enough_where_there_is_no_airflow(
    lake, plugin, mwaa, airflow, buckets, key
):
    mwaa.there = None
    put(lake, {key: {**BESIDE, **IN_THE_WAY}[key]})
    before = versions(buckets)
    with pytest.raises(NotOurs, match=re.escape(key)):
        lake.deploy(airflow=airflow)
    assert versions(buckets) == before


def test_a_first_deploy_that_died_anywhere_goes_on_where_there_is_no_airflow(
    lake, plugin, mwaa, airflow
):
    """Its own files do not make the bucket another's, nor does an empty folder."""
    mwaa.there = None
    put(lake, {"dags/": b""})
    for _ in range(200):
        try:
            lake.deploy(s3=Dying(lake.s3, 1), airflow=airflow)
            break
        except Killed:
            pass
    else:
        pytest.fail("it did not come to its end")
    (lake.project / "plugins" / "lake_pages.py").write_text("PAGES = 2\n")
    write_dags(lake.project, "two", "moma.py")
    release = lake.deploy(airflow=airflow)
    assert pointer.read(lake.s3, lake.target).current.release == release


def test_a_deploy_that_died_with_other_packages_is_followed_by_a_third(lake, buckets):
    """What it left is ours by its mark alone: no record has it."""
    lake.deploy()
    requirements = lake.project / "requirements" / "airflow.txt"
    requirements.write_text("second\n")
    write_dags(lake.project, "two", "shop.py")
    built, before = lake.built(), pointer.read(lake.s3, lake.target)
    store = Store(lake.s3, lake.target)
    store.put(built)
    bucket = AirflowBucket(lake.s3, lake.target, store)
    bucket.put_airflow_files(built, before)
    bucket.put_stubs({"shop.py"}, before)
    requirements.write_text("third\n")
    write_dags(lake.project, "three", "moma.py")
    release = lake.deploy()
    assert lake.shown() == {"moma.py": f"three {release}"}
    assert "dags/shop.py" not in keys(lake.s3)


def test_a_trial_starts_no_dag_of_others(lake, mwaa, airflow):
    lake.deploy(airflow=airflow)
    assert {path for method, path in mwaa.asked if method == "POST"} == {
        f"/dags/{PROOF}/dagRuns"
    }


@pytest.fixture
def of_before(lake, plugin, buckets):
    """Two releases as the version before left them."""
    lake.deploy()
    write_dags(lake.project, "two", "moma.py", "shop.py")
    lake.deploy()
    unmark(lake, buckets)
    return lake


LOADER_BEFORE = (
    (b'"lake_check", "lake_site", ', b""),
    (
        b"""

    It is the last place that Python looks in: what other DAG files import stays theirs.
    \"\"\"
""",
        b'"""\n',
    ),
    (
        b"""    sys.path[:] = [each for each in sys.path if Path(each).parent != folder.parent]
    sys.path.append(str(folder))
""",
        b"""    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
""",
    ),
)
"""What the loader has had changed since, and what was there."""
STUB_BEFORE = (
    b'"""The Airflow DAGs of the file of this name in the current release: '
    b'see current.json."""'
    b"""

from lake_current import dags_of

globals().update(dags_of(__file__))
"""
)


def is_stub(key):
    return key.count("/") == 1 and key.endswith(".py") and key != LOADER


def unmark(lake, buckets):
    """Leave what was deployed as the version before wrote it: no marks, no owner, its
    patterns."""
    put(lake, {IGNORE: b"releases\nlake_current.py\n"})
    loader = buckets.versions[BUCKET, LOADER][-1]["Content"]
    for now, then in LOADER_BEFORE:
        assert now in loader
        loader = loader.replace(now, then)
    stubs = {key: STUB_BEFORE for key in keys(lake.s3) if is_stub(key)}
    before = {LOADER: loader, **stubs}
    assert {digest(each) for each in before.values()} <= UNMARKED
    put(lake, before)
    for kept in buckets.versions.values():
        for each in filter(None, kept):
            each["Metadata"] = {}
    body = json.loads(buckets.versions[BUCKET, POINTER][-1]["Content"])
    del body["owner"]
    put(lake, {POINTER: json.dumps(body).encode()})


def test_what_the_version_before_deployed_goes_on_by_itself(of_before, mwaa, airflow):
    lake = of_before
    put(lake, BESIDE)
    (lake.project / "plugins" / "lake_pages.py").write_text("PAGES = 2\n")
    (lake.project / "requirements" / "airflow.txt").write_text("newer\n")
    release = deploy_another(lake, mwaa, "three", airflow=airflow)
    assert lake.shown() == {"moma.py": f"three {release}"}
    assert "[0-9a-f]" in (lake.copied() / ".airflowignore").read_text()
    for version in map(str, range(6)):
        deploy_another(lake, mwaa, version, airflow=airflow)
    prune_later(lake)
    assert "dags/shop.py" not in keys(lake.s3)
    assert set(BESIDE) & keys(lake.s3) == {k for k in BESIDE if k.startswith("dags/")}


def test_what_the_version_before_deployed_is_rolled_back_first(of_before):
    of_before.deployment().rollback()
    assert pointer.read(of_before.s3, of_before.target).owner == of_before.target.owner
    assert of_before.shown()["moma.py"].startswith("one ")


def test_what_the_version_before_deployed_is_known_by_our_artifacts(of_before, buckets):
    for bucket, key in list(buckets.versions):
        if bucket == WORK_BUCKET and key.endswith("/manifest.json"):
            of_before.s3.delete_object(Bucket=bucket, Key=key)
    write_dags(of_before.project, "three", "moma.py")
    refused(of_before, buckets, POINTER)


def test_a_bucket_of_the_version_before_without_an_airflow_yet_goes_on(
    of_before, mwaa, airflow
):
    mwaa.there = None
    write_dags(of_before.project, "three", "moma.py")
    of_before.deploy(airflow=airflow)
