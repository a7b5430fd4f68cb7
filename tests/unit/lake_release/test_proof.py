"""What a deploy says of a release that no run has proven, and what a repeat then does.

Three results: nobody could try it, a run failed, the credentials ended. The first and the
last leave the release as the current one, marked as not proven.
"""

from __future__ import annotations

import json
import shutil

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from lake_release import mwaa as module
from lake_release.__main__ import main
from lake_release.built import PROJECT
from lake_release.errors import (
    CredentialsEnded,
    NotTried,
    ReleaseError,
    as_release_error,
)
from lake_release.mwaa import Airflow
from lake_release.target import POINTER

from tests.unit.lake_release.buckets import BUCKET
from tests.unit.lake_release.conftest import write_dags
from tests.unit.lake_release.mwaa import OTHERS

SHOP, MOMA = "zeta_incremental", "moma_incremental"


def proven(lake):
    body = lake.s3.get_object(Bucket=BUCKET, Key=POINTER)["Body"].read()
    return [each["proven"] for each in json.loads(body)["deploys"]]


def deploy_another(lake, mwaa, airflow):
    """Deploy a second release that Airflow shows; its id."""
    write_dags(lake.project, "two", "moma.py")
    mwaa.shows = [lake.built().id]
    return lake.deploy(airflow=airflow)


def unproven(release):
    return (
        f"{release} is the current release, and no run has proven it. Deploy it again, or"
        f" roll back --to {release}: that tries it again."
    )


def test_a_release_is_proven_by_its_run_and_not_tried_again(lake, mwaa, airflow):
    lake.deploy(airflow=airflow)
    assert proven(lake) == [True]
    lake.deploy(airflow=airflow)
    assert len(mwaa.runs) == 1
    assert "proven" not in list(lake.deployment().status())[-1]


def test_a_release_without_an_airflow_is_proven_by_the_first_deploy_with_one(
    lake, mwaa, airflow
):
    release = lake.deploy()
    assert proven(lake) == [False]
    assert list(lake.deployment().status())[-1].endswith("(no run has proven it)")
    plan = list(lake.deployment(airflow=airflow).plan(lake.built()))
    assert plan[1:] == ["nothing to do but a run that proves it"]
    lake.deploy(airflow=airflow)
    assert proven(lake) == [True]
    assert f"{MOMA} planned as release {release}" in lake.said


def test_a_run_that_stays_queued_leaves_the_release_and_goes(
    lake, mwaa, airflow, clock
):
    """A scheduled run of the DAG began between the look and the start of ours."""
    lake.deploy(airflow=airflow)
    mwaa.run_state, before = "queued", clock.slept

    def overtaken(method, path):
        if method == "POST":
            mwaa.busy[MOMA] = "running"

    mwaa.fails = overtaken
    second = deploy_another(lake, mwaa, airflow)
    assert clock.slept - before <= module.SMOKE_LIMIT + module.EVERY
    assert lake.shown() == {"moma.py": f"two {second}"}
    ours = mwaa.runs[-1]["dag_run_id"]
    assert mwaa.asked[-1] == ("DELETE", f"/dags/{MOMA}/dagRuns/{ours}")
    assert (
        f"{MOMA}: the run {ours} was still queued after 19 minutes behind {OTHERS} and was"
        " deleted, so nothing was proven"
    ) in lake.said
    assert unproven(second) in lake.said
    assert proven(lake) == [False, True]
    mwaa.run_state, mwaa.busy = "success", {}
    mwaa.fails = lambda method, path: None
    lake.deploy(airflow=airflow)
    assert proven(lake) == [True, True]
    assert len(mwaa.runs) == 3


@pytest.fixture
def two_domains(lake, mwaa):
    """A second domain, whose DAGs come behind those of moma in the alphabet."""
    tables = lake.project / "dags" / "tables"
    (tables / "moma").rename(tables / "zeta")
    for file in (tables / "zeta").glob("*.yml"):
        file.write_text(file.read_text().replace("moma", "zeta"))
    shutil.copytree(PROJECT / "dags" / "tables" / "moma", tables / "moma")
    mwaa.dags.append(SHOP)
    write_dags(lake.project, "one", "moma.py", "zeta.py")
    mwaa.shows = [lake.built().id]


def paths(mwaa, method):
    return [path.split("/dagRuns")[0] for m, path in mwaa.asked if m == method]


def test_where_a_run_stays_queued_another_idle_dag_is_tried(
    lake, mwaa, airflow, two_domains
):
    mwaa.run_states[MOMA] = "queued"
    release = lake.deploy(airflow=airflow)
    assert paths(mwaa, "POST") == [f"/dags/{MOMA}", f"/dags/{SHOP}"]
    assert paths(mwaa, "DELETE") == [f"/dags/{MOMA}"]
    assert f"{SHOP} planned as release {release}" in lake.said
    assert proven(lake) == [True]


def test_a_queued_run_that_began_when_it_was_to_go_is_waited_for(
    lake, mwaa, airflow, two_domains
):
    mwaa.run_states[MOMA] = "queued"

    def begins(method, path):
        if method != "DELETE":
            return None
        mwaa.run_states[MOMA] = "success"
        return 400, "RestApiClientException", 409

    mwaa.fails = begins
    release = lake.deploy(airflow=airflow)
    assert paths(mwaa, "POST") == [f"/dags/{MOMA}"]
    assert f"{MOMA} planned as release {release}" in lake.said


@pytest.mark.parametrize("state", ["running", "queued"])
def test_a_dag_with_a_run_under_way_is_passed_over(
    lake, mwaa, airflow, two_domains, state
):
    mwaa.busy[MOMA] = state
    lake.deploy(airflow=airflow)
    assert paths(mwaa, "POST") == [f"/dags/{SHOP}"]


def test_a_dag_that_the_release_does_not_have_proves_nothing(lake, mwaa, airflow):
    """Airflow lists it still, for it has not read the new files yet."""
    mwaa.dags = ["gone_incremental", MOMA]
    lake.deploy(airflow=airflow)
    assert paths(mwaa, "POST") == [f"/dags/{MOMA}"]


def test_a_dag_is_found_behind_a_hundred_others(lake, mwaa, airflow):
    mwaa.dags = [f"d{n:03}_rebuild" for n in range(150)] + [MOMA]
    release = lake.deploy(airflow=airflow)
    assert f"{MOMA} planned as release {release}" in lake.said


def test_a_run_that_is_still_running_is_no_failure(lake, mwaa, airflow):
    lake.deploy(airflow=airflow)
    mwaa.run_state = "running"
    second = deploy_another(lake, mwaa, airflow)
    assert lake.shown() == {"moma.py": f"two {second}"}
    assert paths(mwaa, "DELETE") == []
    assert unproven(second) in lake.said


def test_a_run_whose_start_got_no_reply_is_followed(lake, mwaa, airflow):
    mwaa.fails = lambda method, path: (0, "ReplyLost") if method == "POST" else None
    release = lake.deploy(airflow=airflow)
    assert len(mwaa.runs) == 1
    assert f"{MOMA} planned as release {release}" in lake.said


@pytest.mark.parametrize("after", ["", "GET", "POST"], ids=["at once", "looks", "run"])
def test_where_the_credentials_end_in_the_proof_a_repeat_tries_it(
    lake, mwaa, airflow, after
):
    lake.deploy(airflow=airflow)
    write_dags(lake.project, "two", "moma.py")
    second = lake.built().id
    say, mwaa.shows = lake.said.append, [second]

    def ends(line):
        say(line)
        if line == f"{second} is the current release":
            mwaa.asked.clear()
            mwaa.ends_credentials(after)

    deployment = lake.deployment(airflow=airflow)
    deployment._say = ends
    with pytest.raises(CredentialsEnded) as ended:
        deployment.deploy(lake.built())
    assert str(ended.value).startswith("The credentials expired during ")
    assert str(ended.value).endswith(f"\n{unproven(second)}")
    assert lake.shown() == {"moma.py": f"two {second}"}
    assert proven(lake) == [False, True]
    mwaa.fails = lambda method, path: None
    lake.deploy(airflow=airflow)
    assert f"{MOMA} planned as release {second}" in lake.said
    assert proven(lake) == [True, True]


@pytest.mark.parametrize(
    "error",
    [
        (403, "AccessDeniedException"),
        (400, "ThrottlingException"),
        (400, "ValidationException"),
        (400, "RestApiClientException", 403),
    ],
    ids=["denied", "throttled", "not valid", "no right in Airflow"],
)
def test_where_nobody_may_ask_airflow_the_release_stays(lake, mwaa, airflow, error):
    lake.deploy(airflow=airflow)
    mwaa.fails = lambda method, path: error if path else None
    second = deploy_another(lake, mwaa, airflow)
    assert error[1] in lake.said[-2]
    assert lake.said[-1] == unproven(second)
    assert lake.shown() == {"moma.py": f"two {second}"}
    mwaa.fails = lambda method, path: None
    lake.deployment(airflow=airflow).rollback(second)
    assert proven(lake) == [True, True]


def test_where_the_network_ends_the_release_stays(lake, mwaa, airflow, monkeypatch):
    def cut(**_):
        raise EndpointConnectionError(endpoint_url="airflow")

    monkeypatch.setattr(mwaa.client, "invoke_rest_api", cut)
    release = lake.deploy(airflow=airflow)
    assert lake.said[-1] == unproven(release)


def test_a_release_that_a_repeat_sees_fail_is_taken_back(lake, mwaa, airflow):
    first = lake.deploy(airflow=airflow)
    mwaa.run_state = "running"
    second = deploy_another(lake, mwaa, airflow)
    mwaa.run_state = "failed"
    with pytest.raises(ReleaseError, match=f"failed.\n{first} is the current release"):
        lake.deploy(airflow=airflow)
    assert lake.shown() == {"moma.py": f"one {first}"}
    assert second not in str(list(lake.deployment().status()))


def test_what_could_not_be_taken_back_is_told_and_taken_back_by_a_repeat(
    lake, mwaa, airflow
):
    """The credentials end while a run that failed is looked at for the last time."""
    first = lake.deploy(airflow=airflow)
    mwaa.run_state = "failed"

    def ends(method, path):
        if path.endswith("/xcomEntries/release"):
            mwaa.fails = lambda method, path: (
                None if path else (400, "ExpiredTokenException")
            )

    mwaa.fails = ends
    with pytest.raises(ReleaseError) as failed:
        deploy_another(lake, mwaa, airflow)
    still = f"{lake.built().id} is still the current release, as it could not be rolled"
    assert f"which only plans, failed.\n{still} back: The cred" in str(failed.value)
    assert str(failed.value).endswith(f"\nRoll back --to {first}.")
    mwaa.fails = lambda method, path: None
    with pytest.raises(ReleaseError, match=f"failed.\n{first} is the current release"):
        lake.deploy(airflow=airflow)


def test_all_waiting_together_ends_with_the_minutes_that_were_given(lake, mwaa, clock):
    mwaa.there["Status"] = "UPDATING_SOMETHING"
    airflow = Airflow(mwaa.client, "lake-prod", minutes=50, say=lake.said.append)
    words = "lake-prod is still UPDATING_SOMETHING after 50 minutes"
    with pytest.raises(ReleaseError, match=words):
        lake.deploy(airflow=airflow)
    assert clock.slept <= 50 * 60


def test_a_release_that_there_is_no_time_to_try_does_not_become_the_current_one(
    lake, mwaa, airflow, clock
):
    first = lake.deploy(airflow=airflow)
    write_dags(lake.project, "two", "moma.py")
    short = Airflow(mwaa.client, "lake-prod", minutes=19, say=lake.said.append)
    with pytest.raises(ReleaseError, match="^19 of 19 minutes are left, too few"):
        lake.deploy(airflow=short)
    assert lake.shown() == {"moma.py": f"one {first}"}


class NoMore:
    """A client whose credentials have ended."""

    def __getattr__(self, name):
        def call(**_):
            raise ClientError({"Error": {"Code": "ExpiredToken"}}, name)

        if name == "exceptions":
            return type("None", (), {"NoSuchKey": KeyError})
        return call


def test_credentials_that_end_at_s3_are_no_traceback(monkeypatch, capsys):
    monkeypatch.setattr("lake_release.__main__.client_of", lambda *_: NoMore())
    assert main(["status", "prod"]) == 1
    assert capsys.readouterr().err.startswith(
        "The credentials expired during a call of AWS: "
    )


@pytest.mark.parametrize(
    "error, kind",
    [
        (
            RuntimeError("Credentials were refreshed, but they expired"),
            CredentialsEnded,
        ),
        (EndpointConnectionError(endpoint_url="x"), NotTried),
    ],
    ids=["not renewed", "no network"],
)
def test_errors_of_the_client_itself_are_told(error, kind):
    assert type(as_release_error(error, "a call")) is kind


def test_an_error_of_our_own_is_no_error_of_aws():
    with pytest.raises(RuntimeError, match="^ours$"):
        as_release_error(RuntimeError("ours"), "a call")


@pytest.mark.parametrize("option, code", [([], 0), (["--require-proof"], 1)])
def test_only_where_proof_is_required_an_unproven_release_ends_with_1(
    lake, mwaa, airflow, monkeypatch, capsys, option, code
):
    mwaa.fails = lambda method, path: (403, "AccessDeniedException") if path else None
    clients = {"mwaa": mwaa.client, "s3": lake.s3}
    monkeypatch.setattr(
        "lake_release.__main__.client_of", lambda name, _: clients[name]
    )
    words = ["deploy", "prod", "--project", str(lake.project)]
    output = ["--output", str(lake.folder / "releases")]
    assert main([*words, *output, *option]) == code
    release = lake.built().id
    assert lake.current() == release
    shown = capsys.readouterr()
    assert unproven(release) in shown.out
    assert shown.err == (f"{unproven(release)}\n" if code else "")
    mwaa.fails = lambda method, path: None
    assert main([*words, *output, *option]) == 0
    assert proven(lake) == [True]
