"""One schedule: an account, an Airflow, runs of one domain, and what must be true."""

from __future__ import annotations

import heapq
import json
from contextlib import ExitStack, contextmanager
from datetime import datetime, timedelta
from typing import Any, Dict, Iterator, List, Set, Tuple
from unittest import mock

from airflow.providers.amazon.aws.hooks.base_aws import AwsGenericHook

from lake_airflow import cluster_tasks, end_tasks, lease, reaper, stage_tasks
from lake_airflow.waiting import WaitsForEmr
from tests.simulator.airflow import SimulatedRun, is_active
from tests.simulator.client import EmrClient, Killed, S3Client
from tests.simulator.cloud import Cloud, Cluster, Step
from tests.simulator.designs import Design
from tests.unit.lake_airflow.specs import ENVIRONMENT, dag_plan

PLANS = {kind: dag_plan(kind) for kind in ("incremental", "maintenance")}
REAPER_EVERY, ROUNDS = 900, 4  # seconds; how often it comes after the last run
OVER = ("success", "failed", "deleted")


class World:
    """A schedule by its seed: play it, then ask for its violations."""

    def __init__(self, seed: int, designs: Dict[str, Design]) -> None:
        self.cloud = Cloud(seed, self._completed)
        self.objects: Dict[Tuple[str, str], bytes] = {}
        self.files: Dict[str, Dict[str, str]] = {}
        self.reaped: Set[str] = set()
        self._designs = designs
        kills = self.cloud.random.random() < 0.5  # as Airflow 3.3 does, or as 3.0
        self.runs = [
            SimulatedRun(
                self.cloud, PLANS[kind], designs[kind], f"manual__{n}", kills=kills
            )
            for n, kind in enumerate(("incremental", "maintenance", "incremental"))
        ]

    def _completed(self, cluster: Cluster, step: Step) -> None:
        """A step that completed left the reports of its tables."""
        tags = cluster.tags
        files = self.files.setdefault(f"{tags['lake:dag']}/{tags['lake:run']}", {})
        stage = step.name.split(" ")[0]
        for table in ("orders", "customers"):
            files[f"{stage}/{table}.json"] = json.dumps({"state": "done"})

    def play(self) -> None:
        """All runs, then the reaper as often as it comes in an hour."""
        with self._simulated():
            first, beside, second = (run.play() for run in self.runs)
            plays = [_after(first, second), beside]
            if all(design.has_reaper for design in self._designs.values()):
                plays.append(self._reaper())
            self._play_beside(*plays)

    def _play_beside(self, *plays: Iterator[datetime]) -> None:
        chance = self.cloud.random
        waiting = [
            (self.cloud.now + timedelta(seconds=n * chance.uniform(0, 1500)), n, play)
            for n, play in enumerate(plays)
        ]
        heapq.heapify(waiting)
        while waiting:
            at, n, play = heapq.heappop(waiting)
            self.cloud.pass_time(max(0.0, (at - self.cloud.now).total_seconds()))
            wants = next(play, None)
            if wants is not None:
                heapq.heappush(waiting, (wants, n, play))

    def _reaper(self) -> Iterator[datetime]:
        """It comes all the time, and a few times more when all runs are over."""
        rounds_left = ROUNDS
        while rounds_left:
            yield self.cloud.now + timedelta(seconds=REAPER_EVERY)
            if all(run.state in OVER for run in self.runs):
                rounds_left -= 1
            try:
                self._reap()
            except (Killed, Exception):  # the next one comes
                continue

    def _reap(self) -> None:
        needed = {
            cluster.id
            for cluster in self.cloud.living()
            for run in self.runs
            if run.run_id == cluster.tags["lake:run-id"] and run.state == "running"
        }
        task = reaper.EndLeftovers(task_id="end_leftovers", environment=ENVIRONMENT)
        try:
            task.execute({"ti": Counts(self)})
        finally:
            living = {cluster.id for cluster in self.cloud.living()}
            alive = {c.id for c in self.cloud.clusters.values() if not c.reason}
            self.reaped |= (needed & alive) - living

    @contextmanager
    def _simulated(self) -> Iterator[None]:
        """The world in place of AWS, time and the run's files."""
        clock = _clock(self.cloud)
        files = _run_files(self)
        patches = [
            mock.patch.object(AwsGenericHook, "get_client_type", self._client()),
            mock.patch.object(WaitsForEmr, "can_defer", lambda task: True),
            mock.patch("time.sleep", self.cloud.pass_time),
            *[mock.patch.object(m, "datetime", clock) for m in (lease, reaper)],
            mock.patch.object(stage_tasks, "datetime", clock),
            *[
                mock.patch.object(module, "RunFiles", files)
                for module in (cluster_tasks, end_tasks, stage_tasks)
            ],
        ]
        with ExitStack() as stack:
            for patch in patches:
                stack.enter_context(patch)
            yield

    def _client(self) -> Any:
        def client(hook: Any, region_name: Any = None, config: Any = None) -> Any:
            if hook.client_type == "s3":
                return S3Client(self.cloud, self.objects)
            once = (
                bool(config) and (config.retries or {}).get("total_max_attempts") == 1
            )
            return EmrClient(self.cloud, repeats=not once)

        return client

    def violations(self) -> List[str]:
        """What is not as it must be, in words."""
        return [*self._clusters(), *self._steps(), *self._states()]

    def _clusters(self) -> Iterator[str]:
        by_run: Dict[str, List[Cluster]] = {}
        for cluster in self.cloud.clusters.values():
            by_run.setdefault(cluster.tags["lake:run"], []).append(cluster)
        for run, clusters in by_run.items():
            lives = [(c.created, c.told_to_end or self.cloud.now) for c in clusters]
            if _overlap(lives):
                yield f"{run}: several clusters at once"
        for cluster in self.cloud.living():
            yield f"{cluster.id} of {cluster.tags['lake:run']} is left over"
        for cluster in sorted(self.reaped):
            yield f"{cluster} was needed by its run when the reaper ended it"

    def _steps(self) -> Iterator[str]:
        ran = [
            (step.began, step.ended or self.cloud.now)
            for cluster in self.cloud.clusters.values()
            for step in cluster.steps
            if step.began
        ]
        if _overlap(ran):
            yield "two steps of the domain at once"
        for run in self.runs:
            times: Dict[str, int] = {}
            for cluster in self.cloud.clusters.values():
                if cluster.tags.get("lake:run-id") == run.run_id:
                    for step in cluster.steps:
                        times[step.name] = times.get(step.name, 0) + (
                            step.state == "COMPLETED"
                        )
            for name, count in times.items():
                if count > 1 + run.clears:
                    yield f"{run.key}: {name} ran {count} times"

    def _states(self) -> Iterator[str]:
        for run in self.runs:
            if run.state == "failed" and not run.causes:
                yield f"{run.key}: failed without a cause"
            if run.state == "success" and not self._did_all(run):
                yield f"{run.key}: green, but not all of its steps completed"
            if run.state not in OVER:
                yield f"{run.key}: is {run.state}"

    def _did_all(self, run: SimulatedRun) -> bool:
        done = {
            step.name.split(" ")[0]
            for cluster in self.cloud.clusters.values()
            if cluster.tags.get("lake:run-id") == run.run_id
            for step in cluster.steps
            if step.state == "COMPLETED"
        }
        return {stage.name for stage in run.plan.stages} <= done


class Counts:
    """The reaper's task instance, which may ask for the other runs."""

    def __init__(self, world: World) -> None:
        self._world = world

    def get_dr_count(self, *, dag_id: str, run_ids: Any, states: Any) -> int:
        runs = [run for run in self._world.runs if run.plan.dag_id == dag_id]
        return sum(is_active(run, run_ids) for run in runs)


def _after(first: Iterator[datetime], then: Iterator[datetime]) -> Iterator[datetime]:
    """One run of a DAG after the other."""
    yield from first
    yield from then


def _overlap(times: List[Tuple[datetime, datetime]]) -> bool:
    ordered = sorted(times)
    return any(a[1] > b[0] for a, b in zip(ordered, ordered[1:]))


def _clock(cloud: Cloud) -> Any:
    class Clock(datetime):
        """The world's time."""

        @classmethod
        def now(cls, tz: Any = None) -> datetime:
            return cloud.now

    return Clock


def _run_files(world: World) -> Any:
    class Files:
        """A run's files, in memory."""

        def __init__(self, environment: Any, run_name: str, **_: Any) -> None:
            self._files = world.files.setdefault(run_name, {})

        def names(self) -> set:
            return set(self._files)

        def read(self, name: str) -> Any:
            return json.loads(self._files[name])

        def write(self, name: str, content: Any) -> str:
            self._files[name] = json.dumps(content)
            return name

    return Files
