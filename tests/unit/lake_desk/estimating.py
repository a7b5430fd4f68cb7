"""What the benchmarks worked on, as the estimator's workloads."""

from __future__ import annotations

from lake_desk.estimate.estimate import FULL_LOAD, INCREMENTAL, SCD2, Workload, estimate
from lake_spec.hudi.buckets import buckets_for


def stages(load):
    """The estimate by (run, stage)."""
    return {(each.run, each.stage): each for each in estimate(load)}


def workload(rows, changes):
    """What the benchmarks work on: the buckets are those that `Bench.empty` takes."""
    buckets = max(2, buckets_for(rows, None))
    return Workload(rows, changes, cores=2, buckets=buckets, latency=0)


def estimated(load, *of):
    """Seconds, bytes and objects of some stages together."""
    found = stages(load)
    names = ("seconds", "read", "written", "files")
    return {name: sum(getattr(found[each], name) for each in of) for name in names}


LOADS = ((FULL_LOAD, FULL_LOAD), (FULL_LOAD, SCD2))
CHANGES = ((INCREMENTAL, INCREMENTAL), (INCREMENTAL, SCD2))
OF_RESULTS = {
    "1": (2_000_000, 2_000, LOADS),
    "2": (2_000_000, 20_000, CHANGES[:1]),
    "3": (2_000_000, 2_000, CHANGES[1:]),
    "3a": (2_000_000, 2_000, CHANGES),
}
