"""The life of one cluster: a thread that starts steps and ends the cluster.

Everything here reads and writes the cluster under one lock, that of the
service; the condition on it is notified of every change.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import Callable, Optional

from lake_emulator.emr.models import Cluster, Ending, Step
from lake_emulator.emr.state_machine import ClusterState, StepState
from lake_emulator.emr.step_process import StepProcess
from lake_emulator.emr.step_runner import StepRunner, Outcome
from lake_emulator.runtimes import RuntimeMissing

STEPS_DONE = Ending("ALL_STEPS_COMPLETED", "Steps completed")
STEPS_DONE_WITH_ERRORS = Ending("ALL_STEPS_COMPLETED", "Steps completed with errors")
STEP_FAILED = Ending("STEP_FAILURE", "Shut down as step failed", with_errors=True)
TERMINATING_ACTIONS = ("TERMINATE_CLUSTER", "TERMINATE_JOB_FLOW")
log = logging.getLogger(__name__)


class ClusterLife(threading.Thread):
    """From STARTING to TERMINATED."""

    def __init__(
        self,
        cluster: Cluster,
        runner: StepRunner,
        changed: threading.Condition,
        save: Callable[[Cluster], None],
        *,
        idle_scale: float = 1.0,
    ) -> None:
        super().__init__(name=f"cluster {cluster.id}", daemon=True)
        self.cluster = cluster
        self._runner = runner
        self._changed = changed
        self._save = save
        self._idle_scale = idle_scale
        self._processes: dict[str, StepProcess] = {}
        self._threads: list[threading.Thread] = []

    def run(self) -> None:
        with self._changed:
            self._start_up()
            while self.cluster.ending is None:
                self._start_due_steps()
                self._settle()
                if self.cluster.ending is None:
                    self._changed.wait(self._until_idle_end())
            self._shut_down()
        for thread in self._threads:
            thread.join()
        with self._changed:
            self._be_over(self.cluster.ending)

    def end_step(self, step: Step) -> None:
        """End a running step's process; its thread writes the state."""
        process = self._processes.get(step.id)
        if process is not None:
            process.end()

    def _enter(self, state: ClusterState) -> None:
        if self.cluster.state is not state:
            self.cluster.enter(state)
            self._save(self.cluster)
            self._changed.notify_all()

    def _start_up(self) -> None:
        deadline = time.monotonic() + self.cluster.start_seconds
        while self.cluster.ending is None and time.monotonic() < deadline:
            self._changed.wait(deadline - time.monotonic())
        if self.cluster.ending is None:
            self._enter(ClusterState.BOOTSTRAPPING)
            self._enter(ClusterState.RUNNING)

    def _start_due_steps(self) -> None:
        while self.cluster.ending is None:
            due = self._pending()
            if not due or len(self._processes) >= self.cluster.concurrency:
                return
            self._start(due[0])

    def _start(self, step: Step) -> None:
        step.enter(StepState.RUNNING)
        self._enter(ClusterState.RUNNING)
        self._save(self.cluster)
        try:
            process = self._runner.start(self.cluster, step)
        except (RuntimeMissing, OSError) as reason:
            self._record(step, self._runner.refuse(self.cluster, step, reason))
            return
        self._processes[step.id] = process
        thread = threading.Thread(
            target=self._follow, args=(step, process), daemon=True
        )
        self._threads.append(thread)
        thread.start()

    def _follow(self, step: Step, process: StepProcess) -> None:
        """Wait for a step's process, outside the lock, and record how it ended."""
        code = process.wait()
        outcome = self._runner.finish(self.cluster, step, code)
        with self._changed:
            del self._processes[step.id]
            self._record(step, outcome)

    def _record(self, step: Step, outcome: Outcome) -> None:
        if step.cancelled:
            step.enter(StepState.CANCELLED)
        elif outcome.failure is None:
            step.enter(StepState.COMPLETED)
        elif self.cluster.ending is not None:
            step.enter(self.cluster.ending.step_state)
        else:
            step.enter(StepState.FAILED)
            step.failure = outcome.failure
            self._act_on_failure(step)
        log.info("%s %s %s", self.cluster.id, step.id, step.state)
        self._save(self.cluster)
        self._changed.notify_all()

    def _act_on_failure(self, step: Step) -> None:
        if step.action_on_failure == "CONTINUE":
            return
        self._cancel_pending()
        if step.action_on_failure in TERMINATING_ACTIONS:
            self.cluster.ending = STEP_FAILED

    def _pending(self) -> list[Step]:
        return [each for each in self.cluster.steps if each.state is StepState.PENDING]

    def _cancel_pending(self) -> None:
        for step in self._pending():
            step.enter(StepState.CANCELLED)

    def _settle(self) -> None:
        """Wait without steps, or end if the cluster is not to stay."""
        cluster = self.cluster
        if cluster.active_steps:
            cluster.idle_since = None
            return
        if not cluster.keep_alive:
            failed = any(step.state is StepState.FAILED for step in cluster.steps)
            cluster.ending = STEPS_DONE_WITH_ERRORS if failed else STEPS_DONE
            return
        if cluster.idle_since is None:
            cluster.idle_since = time.time()
        self._enter(ClusterState.WAITING)
        left = self._until_idle_end()
        if left is not None and left <= 0:
            seconds = cluster.idle_seconds
            cluster.ending = Ending(
                "ALL_STEPS_COMPLETED",
                f"Auto-terminated: idle for {seconds} seconds",
            )

    def _until_idle_end(self) -> Optional[float]:
        cluster = self.cluster
        if cluster.idle_seconds is None or cluster.idle_since is None:
            return None
        idle = cluster.idle_seconds * self._idle_scale
        return max(0.0, cluster.idle_since + idle - time.time())

    def _shut_down(self) -> None:
        self._enter(ClusterState.TERMINATING)
        self._cancel_pending()
        self._save(self.cluster)
        for process in self._processes.values():
            process.end()

    def _be_over(self, ending: Optional[Ending]) -> None:
        assert ending is not None
        self.cluster.reason = {"Code": ending.code, "Message": ending.message}
        state = ClusterState.TERMINATED
        if ending.with_errors:
            state = ClusterState.TERMINATED_WITH_ERRORS
        log.info("%s %s: %s", self.cluster.id, state, ending.message)
        self._enter(state)
