"""Which state of a step and of a cluster may follow which."""

from __future__ import annotations

import json

import pytest

from lake_emulator.emr.models import Cluster, Step, new_id
from lake_emulator.emr.state_machine import ClusterState, StepState


def test_a_state_that_does_not_follow_is_refused():
    step = Step(new_id("s"), "load", "CONTINUE", "command-runner.jar", [])
    with pytest.raises(ValueError, match="COMPLETED does not follow PENDING"):
        step.enter(StepState.COMPLETED)
    step.enter(StepState.RUNNING)
    step.enter(StepState.COMPLETED)
    assert not step.active and step.started <= step.ended


def test_every_state_of_a_cluster_leads_to_its_end():
    for state in ClusterState:
        assert state.over or state.next(ClusterState.TERMINATED_WITH_ERRORS)
        assert not (state.alive and state.over)


def test_states_are_written_and_read_as_emr_spells_them():
    cluster = Cluster(new_id("j"), "lake", "emr-7.13.0", {})
    cluster.enter(ClusterState.BOOTSTRAPPING)
    written = json.loads(json.dumps(cluster.to_json()))
    assert written["state"] == "BOOTSTRAPPING"
    assert Cluster.from_json(written).state is ClusterState.BOOTSTRAPPING
