"""Of an environment's runs as many have a slot as may have clusters, in the order of asking."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from threading import RLock

import pytest

from lake_airflow.runs import cluster_slots
from lake_airflow.runs.cluster_slots import GRACE, ClusterSlots
from lake_airflow.runs.lease import DomainLease
from lake_airflow.runs.s3_object import S3Object
from lake_spec.state.state_format import UnreadableState
from tests.unit.lake_airflow.specs import ENVIRONMENT

KEY = "runs/cluster_slots.json"
A, B, C, D = (f"{name}_incremental/manual-1" for name in "abcd")
MINUTE = timedelta(minutes=1)


class Clock:
    """The time as the slots see it; it goes on by a second at each look."""

    def __init__(self, monkeypatch) -> None:
        clock = self
        self.time = datetime(2026, 1, 1, tzinfo=timezone.utc)

        class Now(datetime):
            @classmethod
            def now(cls, tz=None):
                clock.time += timedelta(seconds=1)
                return clock.time

        monkeypatch.setattr(cluster_slots, "datetime", Now)


@pytest.fixture
def clock(monkeypatch):
    return Clock(monkeypatch)


@pytest.fixture
def slots(aws, clock):
    return slots_of(2)


def slots_of(limit):
    environment = replace(ENVIRONMENT, clusters_at_once=limit)
    return ClusterSlots(environment, aws_conn_id=None)


def living(*runs):
    return lambda: list(runs)


def not_asked():
    raise AssertionError("EMR was asked")


def stored(aws):
    return json.loads(aws.get_object(Bucket="lake", Key=KEY)["Body"].read())


def test_without_a_limit_there_is_neither_a_slot_nor_an_object(aws):
    slots = slots_of(None)
    assert slots.take(A, not_asked) == ""
    slots.give_back(A)
    assert "Contents" not in aws.list_objects_v2(Bucket="lake")


def test_further_runs_are_told_who_has_the_slots_and_who_waited_longer(slots):
    assert slots.take(A, living()) == slots.take(B, living()) == ""
    taken = f"2 of 2 clusters (clusters_at_once) are taken, by {A}, {B}."
    assert slots.take(C, living(A, B)) == taken
    assert slots.take(D, not_asked) == f"{taken} {C} waited longer."


def test_a_run_that_comes_again_has_its_slot(slots):
    slots.take(A, living())
    slots.take(B, living())
    assert slots.take(A, living(B)) == ""


def test_a_run_whose_cluster_of_before_is_ending_waits_until_it_is_gone(slots):
    slots.take(A, living())
    assert "cluster of before" in slots.take(A, living(A))
    assert slots.take(A, living()) == ""


def test_who_has_waited_longest_gets_the_slot_that_is_free(slots):
    for run in (A, B, C, D):
        slots.take(run, living())
    slots.give_back(A)
    assert f"{C} waited longer." in slots.take(D, living(B))
    assert slots.take(C, living(B)) == ""
    assert slots.take(D, living(B, C)) != ""


def test_several_free_slots_go_to_as_many_of_the_first(slots):
    for run in (A, B, C, D):
        slots.take(run, living())
    slots.give_back(A)
    slots.give_back(B)
    assert slots.take(D, living()) == slots.take(C, living()) == ""


@pytest.mark.parametrize("before", [GRACE - MINUTE, GRACE + MINUTE])
def test_a_slot_of_which_no_cluster_came_is_kept_for_its_grace(slots, clock, before):
    slots.take(A, living())
    slots.take(B, living())
    clock.time += before
    assert (slots.take(C, living(A)) == "") is (before > GRACE)


def test_a_cluster_keeps_its_slot_for_as_long_as_it_is_there(slots, clock):
    slots.take(A, living())
    slots.take(B, living())
    clock.time += timedelta(days=2)
    assert slots.take(C, living(A, B)) != ""


@pytest.mark.parametrize("there", [(A, B), (A, A)], ids=["without slots", "two of one"])
def test_clusters_count_that_have_no_slot(slots, there):
    assert slots.take(C, living(*there)) != ""
    assert slots.take(C, living(A)) == ""


@pytest.mark.parametrize("absent", [GRACE - MINUTE, GRACE + MINUTE])
def test_who_does_not_look_any_more_is_passed_over(slots, clock, absent):
    for run in (A, B, C):
        slots.take(run, living())
    clock.time += absent
    slots.give_back(A)
    assert (slots.take(D, living(B)) == "") is (absent > GRACE)


def test_who_looks_again_and_again_keeps_its_place(slots, clock):
    for run in (A, B, C, D):
        slots.take(run, living())
    for _ in range(4):
        clock.time += GRACE / 2
        assert f"{C} waited longer." in slots.take(D, living(A, B))
        slots.take(C, living(A, B))
    slots.give_back(A)
    assert slots.take(C, living(B)) == ""


def test_the_slot_goes_back_with_the_lease_unless_the_run_has_a_cluster(aws, slots):
    lease = DomainLease(slots.environment, "a", aws_conn_id=None)
    slots.take(A, living())
    lease.give_back(A, unless=lambda run: True)
    assert list(stored(aws)["granted"]) == [A]
    lease.give_back(A)
    assert stored(aws)["granted"] == {}


def test_the_place_of_a_run_that_gives_up_goes_back_too(aws, slots):
    for run in (A, B, C):
        slots.take(run, living())
    slots.give_back(C)
    assert stored(aws)["waiting"] == {}


def test_a_sentence_names_ten_runs_and_counts_the_others(aws, clock):
    slots, runs = slots_of(12), [f"d_{n:02}/manual" for n in range(12)]
    assert slots.take(A, living(*runs)).endswith(f"{', '.join(runs[:10])} and 2 more.")


def test_of_many_runs_at_once_no_more_get_a_slot_than_there_are(aws, monkeypatch):
    turn = RLock()

    def in_one_go(call):  # as S3 does; moto's threads do not
        def called(*args):
            with turn:
                return call(*args)

        return called

    for name in ("read", "write"):
        monkeypatch.setattr(S3Object, name, in_one_go(getattr(S3Object, name)))
    runs = [f"d{n}_incremental/manual-1" for n in range(12)]
    with ThreadPoolExecutor(len(runs)) as pool:
        found = list(pool.map(lambda run: slots_of(3).take(run, living()), runs))
    got = {run for run, waits_for in zip(runs, found) if not waits_for}
    assert got == set(stored(aws)["granted"]) and len(got) == 3


def test_a_run_that_loses_every_time_waits(aws, slots, monkeypatch):
    pauses = []
    monkeypatch.setattr(cluster_slots.time, "sleep", pauses.append)
    monkeypatch.setattr(cluster_slots.S3Object, "write", lambda *_: False)
    assert KEY in slots.take(A, living())
    assert pauses[0] == 0 and len(set(pauses)) == len(pauses)  # not all in step


def test_fields_of_a_newer_release_are_kept(aws, slots):
    aws.put_object(Bucket="lake", Key=KEY, Body=b'{"format": 1, "later": [1]}')
    slots.take(A, living())
    assert stored(aws)["later"] == [1]


@pytest.mark.parametrize(
    "text, words",
    [
        (b"[1]", "not an object"),
        (b'{"format": 2}', "has format 2"),
        (b'{"granted": [1]}', "Delete the object"),
        (b'{"granted": {"a": "yesterday"}}', "yesterday"),
        (b'{"granted": {"a": "2026-01-01T00:00:00"}}', "naive"),
        (b'{"waiting": {"a": "2026-01-01"}}', "Delete the object"),
        (b'{"waiting": {"a": {"since": "2026-01-01T00:00:00Z"}}}', "looked"),
    ],
)
def test_what_cannot_be_read_is_named_and_not_overwritten(aws, slots, text, words):
    aws.put_object(Bucket="lake", Key=KEY, Body=text)
    with pytest.raises(UnreadableState, match=words) as refused:
        slots.take(A, living())
    assert f"s3://lake/{KEY}" in str(refused.value)
    assert aws.get_object(Bucket="lake", Key=KEY)["Body"].read() == text
