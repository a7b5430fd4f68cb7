"""Each role may do what is called in its name, and nothing that has no reason."""

from __future__ import annotations

import pytest

from tests.deploy.calls import calls_of
from tests.deploy.granted import ROLES, Compared, airflow


@pytest.mark.parametrize("role", ROLES)
def test_grants_are_calls_or_have_a_reason(role):
    assert ROLES[role]().faults() == []


def test_calls_are_found_in_every_way_that_they_are_written():
    calls = airflow().calls
    found = {action: place.split(":")[0] for action, place in calls.items()}
    # By its name as text, as a client's method, as a hook's method.
    assert found["elasticmapreduce:ListInstances"] == "cost_ledger.py"
    assert found["elasticmapreduce:CancelSteps"] == "clusters.py"
    assert found["sns:Publish"] == "notifier.py"
    assert {"s3:ListBucket", "iam:PassRole", "elasticmapreduce:AddTags"} <= set(found)


def test_a_call_without_a_grant_is_found(tmp_path):
    (tmp_path / "a.py").write_text("def f(client):\n    client.modify_cluster()\n")
    calls, unknown = calls_of(tmp_path, ("emr",))
    compared = Compared(calls, set(), {}, unknown)
    assert compared.faults() == [
        "elasticmapreduce:ModifyCluster is called (a.py:2) and not granted"
    ]


def test_an_operator_that_nobody_described_is_found(tmp_path):
    module = "airflow.providers.amazon.aws.operators.emr"
    (tmp_path / "a.py").write_text(f"from {module} import EmrModifyClusterOperator\n")
    calls, unknown = calls_of(tmp_path, ("emr",))
    (fault,) = Compared(calls, set(), {}, unknown).faults()
    assert fault.startswith("EmrModifyClusterOperator (a.py:1): say")


def test_a_grant_without_a_call_is_found_and_so_is_an_idle_reason():
    assert Compared({}, {"a:B"}, {}, []).faults() == [
        "a:B is granted, and nothing says what for"
    ]
    assert Compared({"a:B": "x"}, {"a:B"}, {"a:B": "y"}, []).faults() == [
        "a:B has a reason that it does not need any more"
    ]
