"""A simulated Airflow: runs the tasks of a run in order, as a scheduler would.

A task that raises is retried as it says, one that defers is woken later, by a
trigger that may have failed. Workers are killed, and users mark, clear and delete.
"""

from __future__ import annotations

import copy
import os
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any, Callable, Dict, Generator, Iterator, List, Optional, Set, Tuple

from airflow.providers.amazon.aws.sensors.emr import EmrStepSensor

from lake_airflow.airflow_rules import RULES, AirflowRules
from lake_airflow.compat import AirflowFailException, AirflowSkipException
from lake_airflow.planning.plan import DagPlan
from lake_airflow.runs.window import Interval
from lake_airflow.runs.task_notes import FirstTaskNotes
from lake_spec.layout.dag_names import CREATE_TASK
from tests.simulator.client import Killed
from tests.simulator.cloud import Cloud
from tests.simulator.designs import Design

USERS_ACT, USERS_MARK = 0.02, 0.01
"""How likely somebody interferes whenever a run waits, or marks it while a task works."""
RESTARTING = "a task cleared while it runs, which stays `restarting`"
DOWNSTREAM = "marked as success with Downstream"
AGAIN = "cleared when it was over"
LEFT_ALONE = ("its DAG is paused", "its DAG is stale", RESTARTING)
BY_HAND = {
    "its DAG is paused": 0.0015,
    "its DAG is stale": 0.0008,
    "Airflow timed it out": 0.0008,
    "marked as success": 0.0015,
    DOWNSTREAM: 0.001,
}
"""How likely, whenever a run waits, each of these happens to it."""
BY_HAND_GREEN = ("marked as success", DOWNSTREAM)
TRIGGER_LOST = 0.005
CLEARED_AGAIN = 0.04
"""How likely a run is cleared when it is over, once."""
TERMINATED, CLEARED_AT_WORK = 0.004, 0.002
"""How likely Airflow ends the process of a task that does well, or somebody clears it."""
FUTURE_DATED = 0.01
RUN_LIMIT = timedelta(hours=22)


class Counts:
    """What a task instance can ask its Airflow of other runs."""

    def __init__(self, cloud: Cloud, airflow: str) -> None:
        self._cloud, self._airflow = cloud, airflow

    def get_dr_count(self, *, dag_id: str, states: Any, run_ids: Any = None) -> int:
        if run_ids is None:
            return sum(run.state in states for run in self._runs_of(dag_id))
        return sum(is_active(run, run_ids) for run in self._runs_of(dag_id))

    def get_ti_count(self, *, dag_id: str, run_ids: Any, states: Any) -> int:
        return sum(
            is_active(run, run_ids) and run.task_state in states
            for run in self._runs_of(dag_id)
        )

    def _runs_of(self, dag_id: str) -> List["SimulatedRun"]:
        known = [run for run in self._cloud.runs if run.airflow == self._airflow]
        return [run for run in known if run.plan.dag_id == dag_id]


class TaskInstance(Counts):
    """What operators use of a task instance."""

    def __init__(self, run: "SimulatedRun", task_id: str) -> None:
        super().__init__(run.cloud, run.airflow)
        self._run, self.task_id = run, task_id
        self.try_number, self.max_tries = run.tries.get(task_id, (1, 0))

    def xcom_push(self, key: str, value: Any) -> None:
        self._run.xcoms[self.task_id, key] = value

    def xcom_pull(self, task_ids: str, key: str = "return_value") -> Any:
        return self._run.xcoms.get((task_ids, key))

    def get_task_states(self, dag_id: str, task_ids: Any, run_ids: Any) -> Any:
        return {run_id: dict(self._run.states) for run_id in run_ids}

    def get_previous_dagrun(self, state: str) -> Any:
        earlier = self._run.earlier
        return earlier if earlier and earlier.state == state else None


class Terminated(RuntimeError):
    """Airflow ended the process of a task, and tries again."""


class Interfered(BaseException):
    """A user did something to the run: what, and to which task."""


class SimulatedRun:
    """One run of a DAG, from its first task to its state."""

    def __init__(
        self,
        cloud: Cloud,
        plan: DagPlan,
        design: Design,
        run_id: str,
        *,
        kills: bool,
        interval: Optional[Interval] = None,
        earlier: Optional["SimulatedRun"] = None,
        airflow: str = "",
        rules: AirflowRules = RULES[-1],
        updated: Optional[datetime] = None,
        scheduled: bool = False,
    ) -> None:
        self.rules, self.updated = rules, updated  # when the asset was, that starts it
        self.scheduled = scheduled
        self._resumes: Dict[str, Tuple[str, Any]] = {}
        self.cloud, self.plan, self.design, self.run_id = cloud, plan, design, run_id
        self.xcoms: Dict[Tuple[str, str], Any] = {}
        self.states: Dict[str, str] = {}
        self.tries: Dict[str, Tuple[int, int]] = {}
        self.state = "queued"
        self.causes: List[str] = []
        self.clears = 0
        self.cleared: Dict[str, datetime] = {}
        self.is_marked = self.is_left_alone = False
        self.called_back: Optional[datetime] = None
        self.failures = 0  # that Airflow called back of
        self.is_at_work = False  # a task runs, or is deferred
        cloud.runs.append(self)
        self.event = self.slept = ""
        self.marks: Set[str] = set()
        self.timestamps: List[Tuple[datetime, str]] = []
        self.airflow = airflow
        self.began_at: Optional[datetime] = None
        self.ended: Optional[datetime] = None
        self._goes_on_at = cloud.now
        self._retried_after_kill = kills
        self._random, self._marks = cloud.random, cloud.marks
        self.interval, self.earlier = interval, earlier

    @property
    def task_state(self) -> str:
        """The state of the task that is its turn, of which there is one at a time.

        Whoever asks while time goes by in its own task sees what is due as begun.
        """
        if self.is_left_alone:
            return "restarting" if self.event == RESTARTING else "scheduled"
        is_due = self.state == "running" and self._goes_on_at < self.cloud.now
        return "running" if self.is_at_work or is_due else "none"

    @property
    def had_no_news(self) -> bool:
        """Whether it ended because another run did what it is for."""
        return bool(self.xcoms.get((CREATE_TASK, FirstTaskNotes.no_news.key)))

    @property
    def key(self) -> str:
        """`<dag_id>/<run id>`, for messages."""
        return f"{self.plan.dag_id}/{self.run_id}"

    def play(self) -> Iterator[datetime]:
        """Run to the end in its own Airflow; each value is when it wants to go on."""
        yield from in_airflow(self.airflow, self._play())

    def _play(self) -> Iterator[datetime]:
        self.state, self.began_at = "running", self.cloud.now
        if self.cloud.happens("a run dated in the future", FUTURE_DATED):
            yield self.cloud.now + timedelta(hours=self.cloud.faults.uniform(1, 8))
        yield from self._play_on()

    def _play_on(self) -> Iterator[datetime]:
        while True:
            try:
                yield from self._all_tasks()
                break
            except Interfered as act:
                what, task = act.args
                self._note(what)
                if what in LEFT_ALONE:
                    self.is_left_alone = True
                    return
                if what == "delete":
                    self.state = "deleted"
                    return
                if what == "Airflow timed it out":
                    yield from self._time_out()
                    return
                if what == DOWNSTREAM:
                    self._mark_downstream()
                else:
                    self._clear(task) if what == "clear" else self._mark(what, task)
        yield from self._ends(self._final_state())
        if AGAIN not in self.marks and self._is_cleared_again():
            self._note(AGAIN)
            self._clear("")
            self.is_marked, self.state, self.ended = False, "running", None
            yield from self._play_on()

    def _ends(self, state: str) -> Iterator[datetime]:
        """The run is over, and Airflow calls back."""
        self.state, self.ended, self.called_back = state, self.cloud.now, None
        calls = {"failed": self.design.on_failure, "success": self.design.on_success}
        if calls[state]:
            yield from self._call_back(calls[state])
            self.failures += bool(state == "failed" and self.called_back)

    def _is_cleared_again(self) -> bool:
        has_begun = any(stage in self.states for stage in self.design.stages)
        by_hand = self.is_marked or self.design.on_failure is None
        return has_begun and not by_hand and self.cloud.happens(AGAIN, CLEARED_AGAIN)

    def _note(self, event: str) -> None:
        """When the last of its events was, and which."""
        self.event = event
        self.marks.add(event)
        if event not in (
            *BY_HAND,
            RESTARTING,
            AGAIN,
        ):  # those were counted as they happened
            self.cloud.events[event] += 1
        self.timestamps.append((self.cloud.now, event))

    def _time_out(self) -> Iterator[datetime]:
        """All that did not begin is skipped, ends of clusters too."""
        for name in self.design.tasks:
            self.states.setdefault(name, "skipped")
        self.causes.append("Airflow timed it out")
        yield from self._ends("failed")

    def _call_back(self, callback: Callable[[Any], None]) -> Iterator[datetime]:
        """As Airflow does once, and 3.0 was seen to do again and again."""
        for _ in range(self._random.randint(1, 3)):
            yield self.cloud.now + timedelta(seconds=10)
            try:
                reason = "success" if self.state == "success" else "task_failure"
                callback(
                    {
                        "run_id": self.run_id,
                        "reason": reason,
                        "dag_run": self._dag_run(),
                    }
                )
                self.called_back = self.called_back or self.cloud.now
            except (Killed, Exception) as error:
                self.causes.append(f"callback: {type(error).__name__}")

    def _dag_run(self) -> SimpleNamespace:
        """What Airflow tells of the run; with an interval it is one of a backfill."""
        told = {"start_date": None, "end_date": self.ended, "clear_number": self.clears}
        if self.updated:
            more = {"run_type": "asset_triggered", "run_after": self.updated}
            return SimpleNamespace(**more, **told)
        if self.interval is None:
            by = "scheduled" if self.scheduled else "manual"
            return SimpleNamespace(run_type=by, **told)
        start, end = self.interval
        return SimpleNamespace(
            **told,
            run_type="backfill",
            data_interval_start=start,
            data_interval_end=end,
        )

    def _all_tasks(self) -> Iterator[datetime]:
        for name in self.design.tasks:
            if name not in self.states:
                yield from self._pause(name, 1, 5)
                if self.design.runs(name, self.states):
                    self.states[name] = yield from self._task(name)
                else:
                    self.states[name] = "upstream_failed"

    def _final_state(self) -> str:
        """By the last task; a marked run is failed by its skipped tasks alone
        where nothing runs after them."""
        if self.event in BY_HAND_GREEN:
            return "success"
        if self.is_marked and not self.design.teardowns:
            return "failed"
        bad = ("failed", "upstream_failed")
        return "failed" if self.states[self.design.verdict] in bad else "success"

    def _pause(self, task: str, least: float, most: float) -> Iterator[datetime]:
        pause = timedelta(seconds=self._random.uniform(least, most))
        self._goes_on_at = self.cloud.now + pause
        yield self._goes_on_at
        for event, chance in BY_HAND.items():
            if not self.is_marked and self.cloud.happens(event, chance):
                raise Interfered(event, task)
        if self.is_marked or self._random.random() > USERS_ACT:
            return
        what = self._random.choice(["mark", "clear", "delete"])
        if what != "clear" or any(s in self.states for s in self.design.stages):
            raise Interfered(what, task)

    def _mark(self, what: str, task: str) -> None:
        """Mark the run as failed: all but teardowns are over, also what is at work."""
        self.is_marked = True
        if what == "mark at work":
            self.states[task] = "failed"
        self.causes.append("somebody marked the run as failed")
        for name in self.design.tasks:
            if name not in self.design.teardowns:
                self.states.setdefault(name, "skipped")

    def _mark_downstream(self) -> None:
        """Mark the task that is its turn, and what follows; perhaps teardowns too."""
        self.is_marked = True
        self.causes.append("somebody marked tasks of the run as success")
        for name in self.design.tasks:
            spared = name in self.design.teardowns
            if not spared or self.rules.downstream_marks_teardowns:
                self.states.setdefault(name, "success")

    def _clear(self, task: str) -> None:
        """Clear a stage that began: with it what follows, and its setup."""
        begun = [s for s in self.design.stages if s in self.states]
        names = list(self.design.tasks)
        first = names.index(self._random.choice(begun))
        cleared = {*names[first:]}
        if self.design.teardowns:
            cleared.add(CREATE_TASK)
        for name in cleared:
            self.states.pop(name, None)
        self.cleared.update(dict.fromkeys(cleared, self.cloud.now))
        self.clears += 1

    def _task(self, name: str) -> Iterator[datetime]:
        task = self.design.tasks[name]
        end = "failed"
        # As Airflow does, also after a clear: it counts on.
        before = self.tries.get(name, (0, 0))[0]
        for number in range(before + 1, before + task.retries + 2):
            self.tries[name] = number, before + task.retries
            end = yield from self._try(name)
            if end in ("success", "skipped", "failed for good"):
                break
            if end == "killed" and not self._retried_after_kill:
                break
            yield from self._pause(name, 30, 60)
        return end if end in ("success", "skipped") else "failed"

    def _try(self, name: str) -> Generator[datetime, None, str]:
        self.is_at_work = True
        try:
            return (yield from self._at_work(name))
        finally:
            self.is_at_work = False

    def _at_work(self, name: str) -> Generator[datetime, None, str]:
        ti = TaskInstance(self, name)
        if name not in self._resumes:
            self._forget_xcoms(name)
        context = {
            "ti": ti,
            "run_id": self.run_id,
            "params": {},
            "task_instance": ti,
            "dag_run": self._dag_run(),
        }
        method, kwargs = self._resumes.pop(name, (None, None))
        while True:
            task = self._fresh(name)
            try:
                result = self._worked(task, method, kwargs, context)
                if type(result).__name__ == "TaskDeferred":
                    yield from self._lost_trigger(result)
                    method, kwargs = self._woken(result)
                elif result is not NotYet:
                    self._may_be_marked(ti, result)
                    ti.xcom_push("return_value", result)
                    return "success"
            except Killed:
                self.causes.append(f"{name}: the worker was killed")
                return "killed"
            except AirflowSkipException:
                return "skipped"
            except AirflowFailException as error:
                self.causes.append(f"{name}: {error}")
                return "failed for good"
            except Exception as error:
                self._failed(name, error, method, kwargs)
                return "failed"
            yield from self._pause(name, 15, 240)

    def _worked(self, task: Any, method: Any, kwargs: Any, context: Any) -> Any:
        """What one process of the task comes to: what it returns, or its deferral."""
        try:
            if method is None:
                result = self._executed(task, context)
            else:
                result = task.resume_execution(method, kwargs, context)
        except BaseException as deferred:
            if type(deferred).__name__ != "TaskDeferred":
                raise
            result = deferred
        if self.cloud.happens("a process that Airflow ends", TERMINATED):
            task.on_kill()
            raise Terminated("its process was ended")
        if self.rules.restarting_stays and not self.is_marked:
            if self.cloud.happens(RESTARTING, CLEARED_AT_WORK):
                raise Interfered(RESTARTING, task.task_id)
        return result

    def _failed(self, name: str, error: Exception, method: Any, kwargs: Any) -> None:
        """A try failed; the next one may begin where it did."""
        self.causes.append(f"{name}: {type(error).__name__}: {error}")
        told_airflow = not isinstance(error, Terminated)
        if method and told_airflow and self.rules.retry_resumes:
            self.cloud.events["a try that begins where one failed"] += 1
            self._resumes[name] = method, kwargs

    def _may_be_marked(self, ti: TaskInstance, result: Any) -> None:
        """Somebody marked the run while the task did its work, which counts no more;
        its process is ended before or after it told what it returns."""
        chance = self._marks.random
        if ti.task_id in self.design.teardowns or self.is_marked:
            return
        if chance() < USERS_MARK:
            if chance() < 0.5:
                ti.xcom_push("return_value", result)
            raise Interfered("mark at work", ti.task_id)

    def _forget_xcoms(self, name: str) -> None:
        """As Airflow does when a try starts, and no sooner."""
        for at in [at for at in self.xcoms if at[0] == name]:
            del self.xcoms[at]

    def _fresh(self, name: str) -> Any:
        """The task as a new worker process has it, its templates rendered."""
        task = copy.copy(self.design.tasks[name])
        self.design.prepare(task, self.run_id)
        if "job_flow_id" in task.template_fields:
            task.job_flow_id = self.xcoms.get((CREATE_TASK, "return_value")) or ""
        if isinstance(task, EmrStepSensor):
            task.step_id = self.xcoms["add_steps", "return_value"][-1]
        return task

    @staticmethod
    def _executed(task: Any, context: Any) -> Any:
        if isinstance(task, EmrStepSensor):
            return None if task.poke(context) else NotYet
        return task.execute(context)

    def _lost_trigger(self, deferred: BaseException) -> Iterator[datetime]:
        """Only the deferral's own timeout wakes it, else the limit of the run ends it."""
        if not self.cloud.happens("a trigger that is lost", TRIGGER_LOST):
            return
        if deferred.timeout:
            yield self.cloud.now + deferred.timeout
            return
        yield max(self.cloud.now, self.began_at + RUN_LIMIT)
        self.slept = f"{self.key}: nothing woke a task whose trigger was lost"
        raise Interfered("Airflow timed it out", "")

    def _woken(self, deferred: BaseException) -> Tuple[str, Dict[str, Any]]:
        """How a worker resumes what was deferred."""
        if self._random.random() < 0.03:
            return "__fail__", {"error": "Trigger failure"}
        if deferred.timeout and self._random.random() < 0.1:
            return "__fail__", {"error": "Trigger timeout"}
        event = {"status": "success", "value": None}
        return deferred.method_name, {**(deferred.kwargs or {}), "event": event}


class NotYet:
    """A sensor did not find what it waits for."""


def in_airflow(name: str, play: Iterator[Any]) -> Generator[datetime, None, None]:
    """The same, each part of it in the processes of the Airflow of this name."""
    while True:
        os.environ["LAKE_AIRFLOW"] = name
        wants = next(play, None)
        if wants is None:
            return
        yield wants


def is_active(run: SimulatedRun, run_ids: Optional[List[str]]) -> bool:
    """As Airflow counts it."""
    chosen = run_ids is None or run.run_id in run_ids
    return chosen and run.state in ("queued", "running")
