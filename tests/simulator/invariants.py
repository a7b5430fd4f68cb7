"""Invariants of a schedule that was simulated."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any, Dict, Iterator, List, Tuple

from lake_airflow.operators.terminate_cluster import END_LIMIT
from lake_airflow.runs.run_tasks import END_TASK
from tests.simulator.airflow import BY_HAND_GREEN, DOWNSTREAM, SimulatedRun
from tests.simulator.cloud import Cluster
from tests.simulator.world import OVER, World
from tests.unit.lake_airflow.specs import CLUSTER

NOW = datetime.max.replace(tzinfo=timezone.utc) - timedelta(days=1)
NEVER = datetime.min.replace(tzinfo=timezone.utc)
PATIENCE = timedelta(minutes=CLUSTER.start_minutes + 45)
"""After the limit come a late wake, the other stages, and tries that failed."""

IDLES = timedelta(minutes=59)
"""An idle cluster is ended after 20 minutes, at the next look of the reaper 15 minutes
later, of which one may fail in all its tries (8 minutes): before EMR's own limit."""


FORGETS = END_LIMIT + timedelta(minutes=10)
"""An end that EMR forgot is asked for again after this time."""

LIMIT = timedelta(hours=7)
"""Less than what each stage may take: nobody cancels a step that began later."""


def violations(world: World) -> List[str]:
    """What is not as it must be, in words."""
    return [
        *_clusters(world),
        *_idled(world),
        *_steps(world),
        *_order(world),
        *_states(world),
        *_for_nothing(world),
        *_unloaded(world),
        *_told(world),
    ]


def _clusters(world: World) -> Iterator[str]:
    by_run: Dict[str, List[Cluster]] = {}
    for cluster in world.cloud.clusters.values():
        by_run.setdefault(cluster.request["Name"], []).append(cluster)
    for run, clusters in by_run.items():
        lives = [
            (c.created, c.told_to_end or world.cloud.now)
            for c in clusters
            if not c.is_twin
        ]
        if _overlap(lives):
            yield f"{run}: several clusters at once"
    gone = [r for r in world.runs if r.state == "deleted" or r.is_left_alone]
    for cluster in world.cloud.clusters.values():
        ended = cluster.told_to_end or world.cloud.now
        waited = min(ended, cluster.ready) - cluster.created
        if waited > PATIENCE and not any(world.is_of(cluster, r) for r in gone):
            yield f"{cluster.id} did not start and was waited for"
    yield from _outlived(world)
    yield from _asked_once(world)
    for cluster in world.cloud.living():
        yield f"{cluster.id} of {cluster.tags['lake:run']} is left over"
    if world.has_reaper:
        for cluster in world.not_noted():
            yield f"{cluster.id} is not in the ledger"
    for cluster in sorted(world.reaped):
        yield f"{cluster} was needed by its run when the reaper ended it"


def _asked_once(world: World) -> Iterator[str]:
    """Each try of the task that ends a cluster asks EMR for it."""
    for run in world.runs:
        gave_up = sum(f"{END_TASK}: TimeoutError" in cause for cause in run.causes)
        forgotten = sum(each.forgotten for each in world.clusters_of(run))
        if gave_up > forgotten:
            yield f"{run.key}: {gave_up} tries, {forgotten} lost requests"


def _outlived(world: World) -> Iterator[str]:
    """Of a run whose end said so, no cluster lives on.

    A callback cannot wait for what it asked EMR: one that EMR forgot is the reaper's.
    """
    for run in world.runs:
        said_so = run.states.get(END_TASK) in ("success", "skipped")
        over = run.ended
        is_called = run.event in ("Airflow timed it out", DOWNSTREAM)
        if is_called:
            over, said_so = run.called_back, bool(run.called_back)
        if not over or not said_so:
            continue
        for cluster in world.clusters_of(run):
            is_forgotten = is_called and cluster.forgotten
            if (cluster.told_to_end or world.cloud.now) > over and not is_forgotten:
                yield f"{cluster.id} outlived the end of its run"


def _idled(world: World) -> Iterator[str]:
    """No cluster is there for long after its last step, and the end of its start."""
    if not world.has_reaper:
        return
    for cluster in world.cloud.clusters.values():
        over = cluster.ended or world.cloud.now
        since = max([cluster.ready, *(s.ended or over for s in cluster.steps)])
        if over - since > IDLES + cluster.forgotten * FORGETS:
            yield f"{cluster.id} of {cluster.tags['lake:run']} idled for {over - since}"


def _steps(world: World) -> Iterator[str]:
    ran = [
        (step.began, step.ended or world.cloud.now)
        for cluster in world.cloud.clusters.values()
        for step in cluster.steps
        if step.began
    ]
    if _overlap(ran):
        yield "two steps of the domain at once"
    yield from _cancelled(world)
    for words in world.unleased:
        yield f"{words}: wrote without the lease"
    yield from _again(world)


def _again(world: World) -> Iterator[str]:
    """Each step completes once, and once more for each time that its run was cleared."""
    for run in world.runs:
        times: Dict[str, int] = {}
        for cluster in world.cloud.clusters.values():
            if world.is_of(cluster, run):
                for step in cluster.steps:
                    times[step.name] = times.get(step.name, 0) + (
                        step.state == "COMPLETED"
                    )
        for name, count in times.items():
            if count > 1 + run.clears:
                yield f"{run.key}: {name} ran {count} times"


def _cancelled(world: World) -> Iterator[str]:
    """Only what was over its limit is cancelled by itself, for marks end a cluster."""
    for cluster in world.cloud.clusters.values():
        for step in cluster.steps:
            if (
                step.is_cancelled
                and (step.ended or NEVER) < (step.began or NOW) + LIMIT
            ):
                yield f"{step.id} {step.name}: was cancelled while it did well"


def _order(world: World) -> Iterator[str]:
    """Nothing of the later interval before the earlier one is over."""
    if not world.backfill:
        return
    if any(run.clears or run.state == "deleted" for run in world.backfill):
        return
    earlier, later = (_began(world, run) for run in world.backfill)
    if earlier and later and max(earlier) > min(later):
        yield f"{world.backfill[1].key}: began before its earlier interval"


def _began(world: World, run: SimulatedRun) -> List[datetime]:
    return [
        step.began
        for cluster in world.cloud.clusters.values()
        if world.is_of(cluster, run)
        for step in cluster.steps
        if step.began
    ]


def _states(world: World) -> Iterator[str]:
    for run in world.runs:
        if run.state == "failed" and not run.causes:
            yield f"{run.key}: failed without a cause"
        by_hand = run.event in BY_HAND_GREEN
        needs_none = by_hand or run.had_no_news
        if run.state == "success" and not needs_none and not _did_all(world, run):
            yield f"{run.key}: green, but not all of its steps completed"
        if run.slept:
            yield run.slept
        if run.state == "failed" and _is_red_for_nothing(world, run):
            yield f"{run.key}: red, but all of its steps completed: {run.causes[-1]}"
        if run.state not in OVER and not run.is_left_alone:
            yield f"{run.key}: is {run.state}"


def _for_nothing(world: World) -> Iterator[str]:
    """The second run for one update has no cluster if the first one did it."""
    if not world.twins or not world.has_reaper:
        return
    first, second = world.twins
    did_it = first.state == "success" and first.event == "" and not second.clears
    if did_it and world.clusters_of(second):
        yield f"{second.key}: has a cluster for what {first.key} did"


def _unloaded(world: World) -> Iterator[str]:
    """The first lease of a domain is of a run that somebody started or cleared."""
    holders = [lease["holder"] for _, lease in world.cloud.leases]
    for run in world.unpaused:
        if holders and holders[0] == world.name_of(run) and not run.clears:
            yield f"{run.key}: took the lease before anything was loaded"


def _is_red_for_nothing(world: World, run: SimulatedRun) -> bool:
    """Whether only reads failed, of steps that went well, and nobody interfered."""
    if run.timestamps or run.is_marked or not world.has_reaper:
        return False
    words = " ".join(run.causes)
    if "killed" in words or END_TASK in words or "verdict" in words:
        return False
    return _did_all(world, run)


def _told(world: World) -> Iterator[str]:
    """A failed run is told once for each time that it was cleared, and again after each
    time that nobody knows whether it was; a green one never, but by marks, or where it was
    cleared after it had failed."""
    for run in world.runs:
        if any(o.airflow != run.airflow and o.key == run.key for o in world.runs):
            continue  # the message does not say which Airflow's it is
        line = f"The run {run.run_id} of the DAG {run.plan.dag_id} failed."
        times = world.told.count(line)
        if times > 1 + run.clears + world.unsure.count(line):
            yield f"{run.key}: its failure was told again"
        if times < run.failures:
            yield f"{run.key}: of its failure nobody was told"
        is_marked = run.event == DOWNSTREAM and run.called_back and not run.clears
        had_work = not run.had_no_news and not _did_all(world, run)
        if is_marked and not times and had_work:
            yield f"{run.key}: of its marks nobody was told"
        by_hand = run.event in BY_HAND_GREEN
        if times and run.state == "success" and not run.clears and not by_hand:
            yield f"{run.key}: is green and was told as failed"


def _did_all(world: World, run: SimulatedRun) -> bool:
    """Whether every stage has a step that completed, since it was cleared if it was."""
    done = {
        _stage(step)
        for cluster in world.cloud.clusters.values()
        if world.is_of(cluster, run)
        for step in cluster.steps
        if step.state == "COMPLETED"
        and step.ended > run.cleared.get(_stage(step), NEVER)
    }
    return {stage.name for stage in run.plan.stages} <= done


def _stage(step: Any) -> str:
    return step.name.split(" ")[0]


def _overlap(times: List[Tuple[datetime, datetime]]) -> bool:
    ordered = sorted(times)
    return any(a[1] > b[0] for a, b in zip(ordered, ordered[1:]))
