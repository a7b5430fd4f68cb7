"""EMR's calls, in boto3's shapes, on clusters that run their steps."""

from __future__ import annotations

from typing import Callable, Optional, Sequence

from lake_emulator.emr import describe, requests
from lake_emulator.emr.cluster_life import ClusterLife
from lake_emulator.emr.errors import validation
from lake_emulator.emr.models import Cluster, Ending
from lake_emulator.emr.persistence import Journal
from lake_emulator.emr.queries import EmrQueries, Reply, Request, find_step
from lake_emulator.emr.state_machine import ClusterState, StepState
from lake_emulator.emr.step_rules import StepRules
from lake_emulator.emr.step_runner import StepRunner
from lake_emulator.faults import Faults

USER_REQUEST = Ending("USER_REQUEST", "Terminated by user request")
STOPPED = Ending("INTERNAL_ERROR", "The emulator was stopped", with_errors=True)
INSTANCE_LOST = Ending(
    "INSTANCE_FAILURE",
    "The master node was terminated",
    with_errors=True,
    step_state=StepState.INTERRUPTED,
)


class LocalEmr(EmrQueries):
    """A method per call: `run_job_flow` is RunJobFlow. Each takes a valid request."""

    def __init__(
        self,
        runner: StepRunner,
        journal: Journal,
        *,
        region: str,
        faults: Optional[Faults] = None,
        idle_scale: float = 1.0,
        refused: Callable[[Sequence[str]], Optional[str]] = StepRules().refused,
    ) -> None:
        self._runner = runner
        self._journal = journal
        super().__init__(journal.load(), region)
        self._faults = faults or Faults()
        self._idle_scale = idle_scale
        self._refused = refused
        self._lives: dict[str, ClusterLife] = {}

    def run_job_flow(self, request: Request) -> Reply:
        cluster = requests.new_cluster(request)
        cluster.steps = requests.new_steps(
            cluster, request.get("Steps", []), None, self._refused
        )
        slow = self._faults.take("RunJobFlow", "slow_start")
        cluster.start_seconds = slow.seconds if slow else 0
        with self._changed:
            self._clusters[cluster.id] = cluster
            self._journal.save(cluster)
            life = ClusterLife(
                cluster,
                self._runner,
                self._changed,
                self._journal.save,
                idle_scale=self._idle_scale,
            )
            self._lives[cluster.id] = life
            life.start()
        arn = describe.arn(cluster, self._region)
        return {"JobFlowId": cluster.id, "ClusterArn": arn}

    def add_job_flow_steps(self, request: Request) -> Reply:
        with self._changed:
            cluster = self._modifiable(request["JobFlowId"])
            role = request.get("ExecutionRoleArn")
            steps = requests.new_steps(cluster, request["Steps"], role, self._refused)
            cluster.steps.extend(steps)
            self._note(cluster)
        return {"StepIds": [step.id for step in steps]}

    def cancel_steps(self, request: Request) -> Reply:
        with self._changed:
            cluster = self._modifiable(request["ClusterId"])
            answers = [
                {"StepId": step_id, **self._cancel(cluster, step_id)}
                for step_id in request["StepIds"]
            ]
            self._note(cluster)
        return {"CancelStepsInfoList": answers}

    def terminate_job_flows(self, request: Request) -> Reply:
        """End all that may be ended; then say if some were protected."""
        with self._changed:
            clusters = [self._existing(entry) for entry in request["JobFlowIds"]]
            for cluster in clusters:
                if not cluster.protected:
                    self._end(cluster, USER_REQUEST)
        if any(cluster.protected and cluster.alive for cluster in clusters):
            raise validation(
                "Could not shut down one or more job flows since they are"
                " termination protected."
            )
        return {}

    def set_termination_protection(self, request: Request) -> Reply:
        with self._changed:
            for cluster_id in request["JobFlowIds"]:
                cluster = self._modifiable(cluster_id)
                cluster.protected = request["TerminationProtected"]
                self._note(cluster)
        return {}

    def set_keep_job_flow_alive_when_no_steps(self, request: Request) -> Reply:
        with self._changed:
            for cluster_id in request["JobFlowIds"]:
                cluster = self._modifiable(cluster_id)
                cluster.keep_alive = request["KeepJobFlowAliveWhenNoSteps"]
                self._note(cluster)
        return {}

    def modify_cluster(self, request: Request) -> Reply:
        with self._changed:
            cluster = self._modifiable(request["ClusterId"])
            if "StepConcurrencyLevel" in request:
                level = requests.checked_concurrency(request["StepConcurrencyLevel"])
                cluster.concurrency = level
                self._note(cluster)
            return {"StepConcurrencyLevel": cluster.concurrency}

    def put_auto_termination_policy(self, request: Request) -> Reply:
        with self._changed:
            cluster = self._modifiable(request["ClusterId"])
            policy = request.get("AutoTerminationPolicy", {})
            cluster.idle_seconds = requests.idle_seconds(policy)
            self._note(cluster)
        return {}

    def remove_auto_termination_policy(self, request: Request) -> Reply:
        with self._changed:
            cluster = self._modifiable(request["ClusterId"])
            cluster.idle_seconds = None
            self._note(cluster)
        return {}

    def put_managed_scaling_policy(self, request: Request) -> Reply:
        with self._changed:
            cluster = self._modifiable(request["ClusterId"])
            cluster.scaling = request["ManagedScalingPolicy"]
            self._note(cluster)
        return {}

    def add_tags(self, request: Request) -> Reply:
        with self._changed:
            cluster = self._cluster(request["ResourceId"])
            cluster.tags.update(requests.pairs(request["Tags"]))
            self._note(cluster)
        return {}

    def remove_tags(self, request: Request) -> Reply:
        with self._changed:
            cluster = self._cluster(request["ResourceId"])
            for key in request["TagKeys"]:
                cluster.tags.pop(key, None)
            self._note(cluster)
        return {}

    def lose_cluster(self, cluster_id: str) -> None:
        """Inject a fault: the cluster's primary node is gone."""
        with self._changed:
            self._end(self._existing(cluster_id), INSTANCE_LOST)

    def close(self) -> None:
        """End every cluster and wait until nothing of them runs."""
        with self._changed:
            for cluster in self._clusters.values():
                self._end(cluster, STOPPED)
        for life in self._lives.values():
            life.join()

    def _end(self, cluster: Cluster, ending: Ending) -> None:
        if cluster.alive and cluster.ending is None:
            cluster.ending = ending
            cluster.enter(ClusterState.TERMINATING)
            self._note(cluster)

    def _cancel(self, cluster: Cluster, step_id: str) -> dict[str, str]:
        step = find_step(cluster, step_id)
        if not step.active:
            return {"Status": "FAILED", "Reason": f"Step is already {step.state}."}
        step.cancelled = True
        if step.state is StepState.PENDING:
            step.enter(StepState.CANCELLED)
        else:
            step.enter(StepState.CANCEL_PENDING)
            self._lives[cluster.id].end_step(step)
        return {"Status": "SUBMITTED"}

    def _note(self, cluster: Cluster) -> None:
        self._journal.save(cluster)
        self._changed.notify_all()

    def _modifiable(self, cluster_id: str) -> Cluster:
        cluster = self._existing(cluster_id)
        if not cluster.alive:
            raise validation(
                "A job flow that is shutting down, terminated, or finished may not"
                " be modified."
            )
        return cluster
