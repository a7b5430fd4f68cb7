"""One schedule: an account, an Airflow and runs of one domain."""

from __future__ import annotations

import heapq
import json
from contextlib import ExitStack, contextmanager
from datetime import datetime, timedelta
from typing import Any, Dict, Iterator, List, Sequence, Set, Tuple
from unittest import mock

from airflow.providers.amazon.aws.hooks.base_aws import AwsGenericHook

from lake_airflow.airflow_rules import RULES, AirflowRules
from lake_airflow.emr.job_flow import AIRFLOW_TAG
from lake_airflow.emr.steps import stages_asked
from lake_airflow.operators import (
    create_cluster,
    deferral,
    finish_run,
    reaper,
    run_over,
    submit_stage,
    terminate_cluster,
)
from lake_airflow.operators.deferral import WaitsForEmr
from lake_airflow.reporting import cost_ledger, notifier
from lake_airflow.runs import cluster_slots, ends, lease
from lake_check.costs.ledger import cluster_of
from lake_spark.errors import LeaseLost
from lake_spark.storage.lease_check import LeaseCheck
from lake_spec.layout.run_key import any_run_key
from lake_spec.layout.stage_tables import tables_of
from lake_spec.model import HistoryRuns, Notifications
from tests.simulator.airflow import Counts, SimulatedRun, in_airflow
from tests.simulator.client import EmrClient, Killed, S3Client, SnsClient, refused
from tests.simulator.cloud import Cloud, Cluster, Step
from tests.simulator.designs import Design
from tests.unit.lake_airflow.specs import ENVIRONMENT, dag_plan, domain, product, table

TOPIC = "arn:aws:sns:eu-central-1:123456789012:sales-runs"
TABLES = (table("orders"), table("customers"), product("totals", "sales.orders"))
TOLD = domain(*TABLES, notifications=Notifications(TOPIC))
SHARED = domain(*TABLES, notifications=Notifications(TOPIC), step_per_stage=False)
"""The same domain, whose incremental runs have one step each."""
IN_ONE_STEP = "incremental in one step"
BESIDE = ("maintenance", "products")
"""The DAGs of which a schedule has one, next to that of the incremental runs."""
HISTORY = "scd2"
APART = domain(
    table("orders"),
    notifications=Notifications(TOPIC),
    history_runs=HistoryRuns.OWN_DAG,
)
"""The same domain, whose history has a DAG of its own."""
PLANS = {
    HISTORY: dag_plan(HISTORY, APART),
    **{kind: dag_plan(kind, TOLD) for kind in ("incremental", *BESIDE)},
    IN_ONE_STEP: dag_plan("incremental", SHARED),
}
REAPER_EVERY, ROUNDS = 900, 4  # seconds; how often it comes after the last run
TRIES, TRIES_EVERY = 4, 120  # of one round, as its DAG has; seconds
LAST_ROUNDS = 20  # at most, until each cluster has its entry in the ledger
OVER = ("success", "failed", "deleted")
TOKEN = "--lease-token"
OTHER = "other"  # the name of the second Airflow
TASKS = (
    *(cluster_slots, cost_ledger, create_cluster, deferral, ends, finish_run, lease),
    *(notifier, reaper, run_over, submit_stage, terminate_cluster),
)
"""The modules that tell the time, or read and write a run's files."""


class World:
    """A schedule by its seed; invariants.py tells what must be true once it was played."""

    other: Sequence[SimulatedRun] = ()  # those of the second Airflow
    twins: Sequence[SimulatedRun] = ()  # those for one update of an asset
    unpaused: Sequence[SimulatedRun] = ()  # that of a schedule, before any other
    rules: AirflowRules = RULES[-1]  # of the version of Airflow

    def __init__(self, seed: int, designs: Dict[str, Design]) -> None:
        self.cloud = Cloud(seed, self._completed)
        self.objects: Dict[Tuple[str, str], bytes] = {}
        self.files: Dict[str, Dict[str, str]] = {}
        self.reaped: Set[str] = set()
        self.told: List[str] = []
        self.unsure: List[str] = []
        self.unleased: List[str] = []
        self._designs = designs
        self._in_one_step = bool(seed % 2)
        beside = BESIDE[seed // 2 % len(BESIDE)]
        kills = self.cloud.random.random() < 0.5  # as Airflow 3.3 does, or as 3.0
        self.rules = RULES[seed // 4 % len(RULES)]
        self.runs = [
            self._run(kind, f"manual__{n}", kills=kills)
            for n, kind in enumerate(("incremental", beside, "incremental"))
        ]
        self.backfill = self._backfill(kills)
        self.runs += self.backfill
        if self.cloud.happens("two Airflows with the same run ids", 0.3):
            self.other = [
                self._run(kind, f"manual__{n}", kills=kills, airflow=OTHER)
                for n, kind in enumerate(("incremental", beside))
            ]
        self.runs += self.other
        self.twins = self._for_one_update(kills) if seed % 4 == 0 else []
        self.unpaused = self._at_once_unpaused(kills) if seed % 5 == 0 else []
        self.runs += [*self.twins, *self.unpaused]

    def _run(self, kind: str, run_id: str, **more: Any) -> SimulatedRun:
        if kind == "incremental" and self._in_one_step:
            kind = IN_ONE_STEP
        more["rules"] = self.rules
        return SimulatedRun(
            self.cloud, PLANS[kind], self._designs[kind], run_id, **more
        )

    def _for_one_update(self, kills: bool) -> List[SimulatedRun]:
        """Two runs of the history that two schedulers start for one update."""
        self.cloud.events["two runs for one update of an asset"] += 1
        updated = self.cloud.now
        return [
            self._run(HISTORY, f"asset__{n}", kills=kills, updated=updated)
            for n in range(2)
        ]

    def _at_once_unpaused(self, kills: bool) -> List[SimulatedRun]:
        """A run that a schedule starts before anything was loaded."""
        self.cloud.events["a schedule starts a run before any load"] += 1
        return [self._run("incremental", "scheduled__0", kills=kills, scheduled=True)]

    def _backfill(self, kills: bool) -> List[SimulatedRun]:
        """Two runs over the intervals before now, which Airflow starts at once."""
        end, hour = self.cloud.now, timedelta(hours=1)
        first = self._run(
            "incremental",
            "backfill__1",
            kills=kills,
            interval=(end - 2 * hour, end - hour),
        )
        second = self._run(
            "incremental",
            "backfill__2",
            kills=kills,
            interval=(end - hour, end),
            earlier=first,
        )
        return [first, second]

    def _completed(self, cluster: Cluster, step: Step) -> None:
        """A step that completed left the reports of its tables, and held its lease."""
        tags = cluster.tags
        if TOKEN in step.args:
            self._check_lease(step)
        files = self.files.setdefault(f"{tags['lake:dag']}/{tags['lake:run']}", {})
        for stage in stages_asked(step.args) or (step.name.split(" ")[0],):
            for each in tables_of(stage, TABLES):
                files[f"{stage}/{each.name}.json"] = json.dumps({"state": "done"})

    def _check_lease(self, step: Step) -> None:
        """What the step itself checks before each of its commits."""
        given = dict(zip(step.args, step.args[1:]))
        run, token = given["--run"], int(given[TOKEN])
        where = Objects(self.objects), ENVIRONMENT.runs
        check = LeaseCheck(*where, given["--domain"], run, token)
        try:
            check()
        except LeaseLost as refused:
            self.unleased.append(f"{step.name} of {run}: {refused}")

    def play(self) -> None:
        """All runs, then the reaper as often as it comes in an hour."""
        with self._simulated():
            first, beside, second = _played(self.runs[:3])
            plays = [
                _after(*_played(self.unpaused), first, second),
                beside,
                _at_once(*_played(self.backfill)),
            ]
            plays += [_after(*_played(self.twins))] if self.twins else []
            plays += _played(self.other)
            reapers = []
            if self.has_reaper:
                names = ["", OTHER] if self.other else [""]
                reapers = [in_airflow(name, self._reaper(name)) for name in names]
            self._play_beside(plays, always=reapers)

    @property
    def has_reaper(self) -> bool:
        """Whether the designs count on one."""
        return all(design.has_reaper for design in self._designs.values())

    def _play_beside(
        self,
        plays: Sequence[Iterator[datetime]],
        *,
        always: Sequence[Iterator[datetime]] = (),
    ) -> None:
        """Plays that begin one by one, and those that were there before them."""
        chance = self.cloud.random
        waiting = [
            (self.cloud.now + timedelta(seconds=n * chance.uniform(0, 1500)), n, play)
            for n, play in enumerate(plays)
        ]
        waiting += [
            (self.cloud.now, n, play) for n, play in enumerate(always, len(plays))
        ]
        heapq.heapify(waiting)
        while waiting:
            at, n, play = heapq.heappop(waiting)
            self.cloud.pass_time(max(0.0, (at - self.cloud.now).total_seconds()))
            wants = next(play, None)
            if wants is not None:
                heapq.heappush(waiting, (wants, n, play))

    def is_of(self, cluster: Cluster, run: SimulatedRun) -> bool:
        """Whether this run made this cluster."""
        tags = cluster.tags
        of_run = tags.get("lake:dag") == run.plan.dag_id
        of_run = of_run and tags.get("lake:run-id") == run.run_id
        return of_run and tags.get(AIRFLOW_TAG, "") == run.airflow

    def clusters_of(self, run: SimulatedRun) -> List[Cluster]:
        """Those that this run made."""
        return [c for c in self.cloud.clusters.values() if self.is_of(c, run)]

    def name_of(self, run: SimulatedRun) -> str:
        """As the lease names it."""
        return f"{run.plan.dag_id}/{any_run_key(run.run_id, run.airflow)}"

    def _reaper(self, airflow: str = "") -> Iterator[datetime]:
        """It comes all the time, and a few times more when all runs are over.

        What its last round ended, or could not note, is noted by the next one, as on an
        account, where there always is one.
        """
        rounds = 0
        while rounds < ROUNDS or self._is_to_note(rounds):
            yield self.cloud.now + timedelta(seconds=REAPER_EVERY)
            over = all(run.state in OVER or run.is_left_alone for run in self.runs)
            rounds += over and not self._works()
            yield from self._round(airflow)

    def _works(self) -> bool:
        """Whether a cluster of a run that Airflow left alone starts or works yet."""
        now = self.cloud.now
        return any(
            now < each.ready or any(not step.is_over for step in each.steps)
            for each in self.cloud.living()
        )

    def not_noted(self) -> List[Cluster]:
        """Clusters without an entry in the ledger."""
        noted = {cluster_of(key) for _, key in self.objects if "/costs/" in key}
        return [each for each in self.cloud.clusters.values() if each.id not in noted]

    def _is_to_note(self, rounds: int) -> bool:
        """Whether clusters that were ended in time may still lack their entries."""
        is_left_over = bool(self.cloud.living())
        may_come = rounds < ROUNDS + LAST_ROUNDS
        return may_come and not is_left_over and bool(self.not_noted())

    def _round(self, airflow: str) -> Iterator[datetime]:
        """One run of its DAG."""
        for _ in range(TRIES):
            try:
                self._reap(airflow)
                return
            except (Killed, Exception):
                yield self.cloud.now + timedelta(seconds=TRIES_EVERY)

    def _reap(self, airflow: str) -> None:
        needed = {
            cluster.id
            for cluster in self.cloud.living()
            for run in self.runs
            if self.is_of(cluster, run)
            and not cluster.is_twin
            and not cluster.forgotten
            and run.state == "running"
            and not run.is_left_alone
        }
        task = reaper.TerminateOrphans(task_id="end_leftovers", environment=ENVIRONMENT)
        try:
            task.execute({"ti": Counts(self.cloud, airflow)})
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
            mock.patch.dict("os.environ"),
            mock.patch.object(AwsGenericHook, "get_client_type", self._client()),
            mock.patch.object(WaitsForEmr, "can_defer", lambda task: True),
            mock.patch("time.sleep", self.cloud.pass_time),
            *[
                mock.patch.object(module, name, simulated)
                for name, simulated in (("datetime", clock), ("RunFiles", files))
                for module in TASKS
                if hasattr(module, name)
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
            if hook.client_type == "sns":
                return SnsClient(self.cloud, self.told, self.unsure)
            once = (
                bool(config) and (config.retries or {}).get("total_max_attempts") == 1
            )
            return EmrClient(self.cloud, repeats=not once)

        return client


class Objects:
    """The world's objects, as a step's store of them."""

    def __init__(self, objects: Dict[Tuple[str, str], bytes]) -> None:
        self._objects = objects

    def read(self, uri: str, *, limit: Any = None) -> bytes:
        bucket, _, key = uri[len("s3://") :].partition("/")
        return self._objects[bucket, key]


def _played(runs: Sequence[SimulatedRun]) -> List[Iterator[datetime]]:
    return [run.play() for run in runs]


def _after(*plays: Iterator[datetime]) -> Iterator[datetime]:
    """One run of a DAG after the other."""
    for play in plays:
        yield from play


def _at_once(
    first: Iterator[datetime], second: Iterator[datetime]
) -> Iterator[datetime]:
    """Two runs next to each other, the first a moment earlier."""
    waiting = [
        (at, n, p) for n, p in enumerate((first, second)) if (at := next(p, None))
    ]
    while waiting:
        at, n, play = heapq.heappop(waiting)
        yield at
        if (wants := next(play, None)) is not None:
            heapq.heappush(waiting, (wants, n, play))


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
            if name not in self._files:
                raise refused("NoSuchKey", "GetObject")
            return json.loads(self._files[name])

        def write(self, name: str, content: Any) -> str:
            self._files[name] = json.dumps(content)
            return name

    return Files
