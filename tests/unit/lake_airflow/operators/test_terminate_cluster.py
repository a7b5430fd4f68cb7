"""The end of a cluster that no task told of: the first one was ended from outside."""

from datetime import datetime, timezone

import pytest
from botocore.exceptions import EndpointConnectionError

from lake_airflow.compat import AirflowSkipException
from lake_airflow.emr import clusters
from lake_airflow.emr.clusters import BETWEEN_LOOKS, LOOKS, ClusterFinder
from lake_airflow.operators import terminate_cluster
from lake_airflow.operators.terminate_cluster import END_LIMIT, TerminateCluster
from lake_airflow.runs.ends import Ends
from lake_airflow.runs.files import RunFiles
from tests.unit.lake_airflow.first_task import create_cluster, create_without_looking
from tests.unit.lake_airflow.fake_emr import throttled
from tests.unit.lake_airflow.specs import ENVIRONMENT, dag_plan

PLAN = dag_plan("full_load")


def terminate(*, can_defer=False):
    task = TerminateCluster(
        task_id="terminate_cluster",
        plan=PLAN,
        environment=ENVIRONMENT,
        poll_seconds=300,
    )
    task.can_defer = lambda: can_defer
    return task


@pytest.fixture
def looks(emr, monkeypatch):
    """The seconds that the task slept between its looks, as long as that finds none."""
    slept = []
    monkeypatch.setattr(clusters.time, "sleep", slept.append)
    return slept


@pytest.fixture
def unseen(emr, runner):
    """A cluster whose task was ended before Airflow heard of it; its id."""
    made = runner.execute(create_cluster(PLAN))
    del runner.xcoms["create_cluster", "return_value"]
    runner.states["create_cluster"] = "failed"
    return made


@pytest.mark.parametrize("can_defer", [True, False])
def test_the_cluster_is_found_by_its_name_and_awaited(emr, runner, unseen, can_defer):
    assert runner.execute(terminate(can_defer=can_defer)) == unseen
    assert [cluster.state for cluster in emr.clusters] == ["TERMINATED"]


def test_it_notes_that_it_ended_the_cluster(emr, runner, unseen):
    runner.execute(terminate())
    why = Ends(ENVIRONMENT, "sales_full_load/manual-1", aws_conn_id=None).why(unseen)
    assert why.startswith("Ended by terminate_cluster at ")


def test_what_cannot_be_noted_ends_all_the_same(emr, runner, unseen, monkeypatch):
    monkeypatch.setattr(RunFiles, "write", lambda *_: 1 / 0)
    runner.execute(terminate())
    assert [cluster.state for cluster in emr.clusters] == ["TERMINATED"]


def test_one_that_only_its_name_tells_is_awaited_by_who_is_woken(
    emr, runner, unseen, monkeypatch
):
    """Who is woken has no XCom of the first task, but its own."""
    (cluster,) = emr.clusters
    monkeypatch.setattr(
        cluster, "terminate", lambda: setattr(cluster, "state", "TERMINATING")
    )
    monkeypatch.setattr(terminate_cluster, "QUICK_END", terminate_cluster.QUICK_END * 0)
    with pytest.raises(BaseException) as waiting:
        runner.execute(terminate(can_defer=True))
    assert waiting.value.timeout >= END_LIMIT
    emr.move_on()
    event = {"status": "success"}
    assert runner.wake(terminate(can_defer=True), event=event) == unseen
    assert cluster.state == "TERMINATED"


def test_a_cluster_that_does_not_end_is_told_after_its_limit(
    emr, runner, unseen, monkeypatch
):
    (cluster,) = emr.clusters
    monkeypatch.setattr(
        cluster, "terminate", lambda: setattr(cluster, "state", "TERMINATING")
    )
    monkeypatch.setattr(emr, "move_on", lambda: None)
    runner.sees_pauses = True
    with pytest.raises(BaseException) as waiting:
        runner.execute(terminate())
    assert waiting.value.method_name == "follow_again" and waiting.value.timeout
    late = datetime.now(timezone.utc) - END_LIMIT
    ends = {"cluster": unseen, "since": late.isoformat()}
    runner.xcoms["terminate_cluster", "ends"] = ends
    with pytest.raises(TimeoutError, match=f"{unseen} is still running 0:30:00 after"):
        runner.wake(terminate(), "follow_again")


def test_a_try_that_begins_where_one_failed_asks_for_the_end_again(
    emr, runner, unseen, monkeypatch
):
    """As Airflow 3.0 lets it, with the XComs of before."""
    (cluster,) = emr.clusters
    asked = []
    monkeypatch.setattr(cluster, "terminate", lambda: asked.append(cluster.id))
    monkeypatch.setattr(emr, "move_on", lambda: None)
    runner.sees_pauses = True
    for number in (1, 2, 3):
        runner.tries = (number, 3)
        with pytest.raises(BaseException) as waiting:
            task = terminate()
            if number == 1:
                runner.execute(task)
            task.job_flow_id = ""  # its template, rendered
            runner.wake(task, "follow_again")
        assert type(waiting.value).__name__ == "TaskDeferred"
        assert len(asked) == number
        late = datetime.now(timezone.utc) - END_LIMIT
        ends = {"cluster": unseen, "since": late.isoformat()}
        runner.xcoms["terminate_cluster", "ends"] = ends
        with pytest.raises(TimeoutError, match="still running 0:30:00 after"):
            runner.wake(terminate(), "follow_again")


def test_an_end_that_cannot_be_asked_about_is_asked_about_again(
    emr, runner, unseen, monkeypatch
):
    fails = [throttled(), EndpointConnectionError(endpoint_url="https://emr")]
    asked = ClusterFinder.state

    def state(clusters, cluster_id):
        if fails:
            raise fails.pop()
        return asked(clusters, cluster_id)

    monkeypatch.setattr(ClusterFinder, "state", state)
    runner.xcoms["create_cluster", "return_value"] = unseen
    for _ in range(2):
        with pytest.raises(BaseException) as waiting:
            runner.execute(terminate())
        assert type(waiting.value).__name__ == "TaskDeferred"
        assert waiting.value.timeout
    assert runner.execute(terminate()) == unseen


def test_one_that_the_first_task_ended_itself_is_awaited(emr, runner, unseen):
    runner.xcoms["create_cluster", "cause"] = "AccessDenied"
    emr.clusters[0].state = "TERMINATING"
    assert runner.execute(terminate()) == unseen


def test_one_that_lives_goes_before_one_that_is_ending(emr, runner, unseen):
    """The stage was cleared while the first cluster ended, and another was made."""
    emr.clusters[0].state = "TERMINATING"
    second = runner.execute(create_cluster(PLAN))
    del runner.xcoms["create_cluster", "return_value"]
    assert runner.execute(terminate()) == second != unseen
    assert emr.clusters[1].state == "TERMINATED"


def test_the_cluster_of_another_run_stays(emr, runner, unseen, looks):
    runner.run_id = "manual-2"
    with pytest.raises(AirflowSkipException, match="The run has no cluster"):
        runner.execute(terminate())
    assert emr.clusters[0].state != "TERMINATED"


def test_a_cluster_that_comes_late_is_waited_for(emr, runner, monkeypatch):
    """EMR was asked when the task was marked as failed, and answers afterwards."""
    runner.states["create_cluster"] = "failed"
    slept = []

    def sleep(seconds):
        slept.append(seconds)
        emr.move_on()
        if len(slept) == 3:
            runner.execute(create_cluster(PLAN))

    monkeypatch.setattr(clusters.time, "sleep", sleep)
    assert runner.execute(terminate()) == emr.clusters[0].id
    assert emr.clusters[0].state == "TERMINATED"


@pytest.mark.parametrize(
    "state, cause, times",
    [
        ("failed", None, LOOKS),
        ("success", None, LOOKS),
        ("failed", "The run is refused: ...", 1),
        ("skipped", None, 1),
    ],
    ids=["marked-failed", "marked-success", "told-why", "never-began"],
)
def test_who_told_why_there_is_no_cluster_is_asked_once(
    emr, runner, looks, state, cause, times
):
    runner.states["create_cluster"] = state
    if cause:
        runner.xcoms["create_cluster", "cause"] = cause
    with pytest.raises(AirflowSkipException):
        runner.execute(terminate())
    assert looks == [BETWEEN_LOOKS] * (times - 1)


def test_without_a_cluster_the_lease_is_given_back(aws, emr, runner, unseen, looks):
    emr.clusters[0].state = "TERMINATED"
    with pytest.raises(AirflowSkipException):
        runner.execute(terminate())
    body = aws.get_object(Bucket="lake", Key="runs/leases/sales.json")["Body"].read()
    assert b'"holder": null' in body


def test_all_clusters_of_two_tries_at_once_are_ended(aws, emr, runner, monkeypatch):
    told = runner.execute(create_cluster(PLAN))
    (first,) = emr.clusters
    create_without_looking(monkeypatch)
    runner.execute(create_cluster(PLAN))
    runner.xcoms["create_cluster", "return_value"] = told
    assert first.id == told and len(emr.clusters) == 2
    assert runner.execute(terminate()) == told
    assert [cluster.state for cluster in emr.clusters] == ["TERMINATED"] * 2
    entries = aws.list_objects_v2(Bucket="lake", Prefix="runs/costs/")["Contents"]
    assert len(entries) == 2
