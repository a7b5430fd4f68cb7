"""What must be true of a schedule that was played."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any, Dict, Iterator, List, Tuple

from lake_airflow.handover import END_TASK
from tests.simulator.airflow import SimulatedRun
from tests.simulator.cloud import Cluster
from tests.simulator.world import OVER, World
from tests.unit.lake_airflow.specs import CLUSTER

NEVER = datetime.min.replace(tzinfo=timezone.utc)
PATIENCE = timedelta(minutes=CLUSTER.start_minutes + 45)
"""After the limit come a late wake, the other stages, and tries that failed."""


def violations(world: World) -> List[str]:
    """What is not as it must be, in words."""
    return [
        *_clusters(world),
        *_steps(world),
        *_order(world),
        *_states(world),
        *_told(world),
    ]


def _clusters(world: World) -> Iterator[str]:
    by_run: Dict[str, List[Cluster]] = {}
    for cluster in world.cloud.clusters.values():
        by_run.setdefault(cluster.tags["lake:run"], []).append(cluster)
    for run, clusters in by_run.items():
        lives = [(c.created, c.told_to_end or world.cloud.now) for c in clusters]
        if _overlap(lives):
            yield f"{run}: several clusters at once"
    deleted = {run.run_id for run in world.runs if run.state == "deleted"}
    for cluster in world.cloud.clusters.values():
        ended = cluster.told_to_end or world.cloud.now
        waited = min(ended, cluster.ready) - cluster.created
        if waited > PATIENCE and cluster.tags["lake:run-id"] not in deleted:
            yield f"{cluster.id} did not start and was waited for"
    yield from _outlived(world)
    for cluster in world.cloud.living():
        yield f"{cluster.id} of {cluster.tags['lake:run']} is left over"
    noted = {key.rsplit("/", 1)[1] for _, key in world.objects}
    for cluster in world.cloud.clusters.values():
        if world.has_reaper and f"{cluster.id}.json" not in noted:
            yield f"{cluster.id} is not in the ledger"
    for cluster in sorted(world.reaped):
        yield f"{cluster} was needed by its run when the reaper ended it"


def _outlived(world: World) -> Iterator[str]:
    """Of a run whose end said so, no cluster lives on."""
    said_so = {
        run.run_id: run.ended
        for run in world.runs
        if run.ended and run.states.get(END_TASK) in ("success", "skipped")
    }
    for cluster in world.cloud.clusters.values():
        over = said_so.get(cluster.tags["lake:run-id"])
        if over and (cluster.told_to_end or world.cloud.now) > over:
            yield f"{cluster.id} outlived the end of its run"


def _steps(world: World) -> Iterator[str]:
    ran = [
        (step.began, step.ended or world.cloud.now)
        for cluster in world.cloud.clusters.values()
        for step in cluster.steps
        if step.began
    ]
    if _overlap(ran):
        yield "two steps of the domain at once"
    for words in world.unleased:
        yield f"{words}: wrote without the lease"
    for run in world.runs:
        times: Dict[str, int] = {}
        for cluster in world.cloud.clusters.values():
            if cluster.tags.get("lake:run-id") == run.run_id:
                for step in cluster.steps:
                    times[step.name] = times.get(step.name, 0) + (
                        step.state == "COMPLETED"
                    )
        for name, count in times.items():
            if count > 1 + run.clears:
                yield f"{run.key}: {name} ran {count} times"


def _order(world: World) -> Iterator[str]:
    """Nothing of the later interval before the earlier one is over."""
    if any(run.clears or run.state == "deleted" for run in world.backfill):
        return
    earlier, later = (_began(world, run) for run in world.backfill)
    if earlier and later and max(earlier) > min(later):
        yield f"{world.backfill[1].key}: began before its earlier interval"


def _began(world: World, run: SimulatedRun) -> List[datetime]:
    return [
        step.began
        for cluster in world.cloud.clusters.values()
        if cluster.tags.get("lake:run-id") == run.run_id
        for step in cluster.steps
        if step.began
    ]


def _states(world: World) -> Iterator[str]:
    for run in world.runs:
        if run.state == "failed" and not run.causes:
            yield f"{run.key}: failed without a cause"
        if run.state == "success" and not _did_all(world, run):
            yield f"{run.key}: green, but not all of its steps completed"
        if run.state not in OVER:
            yield f"{run.key}: is {run.state}"


def _told(world: World) -> Iterator[str]:
    """A failed run is told once, and again after each time that nobody knows whether it
    was; a green one never, but where it was cleared after it had failed."""
    for run in world.runs:
        line = f"The run {run.run_id} of the DAG {run.plan.dag_id} failed."
        times = world.told.count(line)
        if times > 1 + world.unsure.count(line):
            yield f"{run.key}: its failure was told again"
        if not times and run.was_called_back:
            yield f"{run.key}: of its failure nobody was told"
        if times and run.state == "success" and not run.clears:
            yield f"{run.key}: is green and was told as failed"


def _did_all(world: World, run: SimulatedRun) -> bool:
    """Whether every stage has a step that completed, since it was cleared if it was."""
    done = {
        _stage(step)
        for cluster in world.cloud.clusters.values()
        if cluster.tags.get("lake:run-id") == run.run_id
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
