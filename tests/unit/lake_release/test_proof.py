"""What a deploy says of a release that no run has proven, and what a repeat then does.

Three results: nobody could try it, a run failed, the credentials ended. The first and the
last leave the release as the current one, marked as not proven.
"""

from __future__ import annotations

import json

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from lake_release import mwaa as module
from lake_release.__main__ import main
from lake_release.errors import (
    CredentialsEnded,
    NotTried,
    ReleaseError,
    as_release_error,
)
from lake_release.mwaa import Airflow
from lake_spec.layout.dag_names import PROOF

from tests.unit.lake_release.buckets import BUCKET, POINTER
from tests.unit.lake_release.conftest import write_dags
from tests.unit.lake_release.mwaa import OTHERS


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
    assert f"{PROOF} proved release {release}" in lake.said


def test_a_run_that_stays_queued_leaves_the_release_and_goes(
    lake, mwaa, airflow, clock
):
    lake.deploy(airflow=airflow)
    mwaa.run_state, before = "queued", clock.slept
    second = deploy_another(lake, mwaa, airflow)
    assert clock.slept - before <= module.SMOKE_LIMIT + module.EVERY
    assert lake.shown() == {"moma.py": f"two {second}"}
    ours = mwaa.runs[-1]["dag_run_id"]
    assert mwaa.asked[-1] == ("DELETE", f"/dags/{PROOF}/dagRuns/{ours}")
    assert (
        f"{PROOF}: the run {ours} was still queued after 19 minutes and was deleted, so "
        "nothing was proven"
    ) in lake.said
    assert unproven(second) in lake.said
    assert proven(lake) == [False, True]
    mwaa.run_state = "success"
    lake.deploy(airflow=airflow)
    assert proven(lake) == [True, True]
    assert len(mwaa.runs) == 3


def paths(mwaa, method):
    return [path.split("/dagRuns")[0] for m, path in mwaa.asked if m == method]


@pytest.mark.parametrize(
    "state, since, words",
    [
        ("queued", "2027-01-12T08:00:00Z", "queued for 3 days"),
        ("running", "2027-01-15T05:00:00+00:00", "running for 3 h"),
        ("queued", None, "queued"),
    ],
)
def test_a_run_that_is_stuck_is_in_no_proofs_way(
    lake, mwaa, airflow, clock, state, since, words
):
    """A run of a cancelled backfill stays queued for ever; here even of the very DAG."""
    mwaa.busy = {PROOF: state, "moma_incremental": "queued"}
    mwaa.busy_since = since
    lake.deploy(airflow=airflow)
    assert proven(lake) == [True]
    mwaa.run_state = "queued"
    deploy_another(lake, mwaa, airflow)
    assert f" was still queued after 19 minutes beside {OTHERS}, {words}" in " ".join(
        lake.said
    )


def test_a_first_release_is_tried_once_airflow_knows_its_dag(lake, mwaa, airflow):
    mwaa.knows_proof, looks = False, []

    def appears(method, path):
        looks.append(path)
        mwaa.knows_proof = looks.count(f"/dags/{PROOF}") > 3

    mwaa.fails = appears
    lake.deploy(airflow=airflow)
    assert (len(mwaa.runs), proven(lake)) == (1, [True])


def test_a_release_whose_dag_airflow_never_shows_fails(lake, mwaa, airflow):
    mwaa.knows_proof = False
    with pytest.raises(ReleaseError, match="does not show release .* import errors"):
        lake.deploy(airflow=airflow)


def test_a_release_from_before_there_was_that_dag_stays(lake, mwaa, airflow):
    (lake.project / "dags" / f"{PROOF}.py").unlink()
    old = lake.deploy(airflow=airflow)
    assert mwaa.runs == []
    assert (
        f"{old} was made before releases had the DAG {PROOF}, so nothing was tried"
    ) in lake.said
    deploy_another(lake, mwaa, airflow)
    lake.deployment(airflow=airflow).rollback()
    assert lake.current() == old


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
    assert f"{PROOF} proved release {release}" in lake.said


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
    assert f"{PROOF} proved release {second}" in lake.said
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
    assert f"says why, failed.\n{still} back: The cred" in str(failed.value)
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
