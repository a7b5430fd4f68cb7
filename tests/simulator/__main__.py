"""Seeded schedules of runs, faults and users against the DAGs' own operators.

    python -m tests.simulator --schedules N [--seed S] [--stock]

Each schedule has five runs of one domain, which has a product: two of one DAG one after the
other, one of another DAG next to them, maintenance or products in turn, and two of a
backfill, which Airflow starts at once; in a quarter two more for one update, in a fifth
one that a schedule starts before anything was loaded. EMR
throttles, replies get lost, clusters start late or die, steps fail, workers are
killed, triggers fail or are lost, reads fail for a while, DAGs are paused or stale,
users mark, clear and delete, a second Airflow plays the same run ids; then the reaper
comes. Never may a run have two clusters at once, the domain two steps at once, a step
complete whose grant of the lease is not in force, a step run again that nobody cleared,
an interval be taken before an earlier one, a cluster stay, idle for an hour, outlive a
run that ended it, be waited for without an end or be missing in the ledger, or a run end
in a state that does not say what happened. With --stock the provider's operators, wired
as in its example, play the same. At the end stand how often each event came, how soon
runs recovered, and `N schedules, M violations`; the exit code is 1 if M is not 0.
"""

from __future__ import annotations

import logging
import os
import sys
from collections import Counter
from typing import Optional, Sequence

from tests.asked import parser

SHOWN = 10
KINDS = (
    *("left over", "clusters at once", "steps of", "times", "was needed"),
    *("not in the ledger", "waited for", "told again", "nobody was told", "outlived"),
    *("without the lease", "idled for", "nothing woke", "while it did well"),
    *("lost requests", "has a cluster for what", "before anything was loaded"),
    "red, but all of its steps",
)
"""Words by which a violation tells which promise it is of."""


def play_all(schedules: int, seed: int, *, stock: bool) -> Counter:
    """Play them; what was violated, by kind, and how often."""
    os.environ.setdefault("AIRFLOW_CONN_AWS_DEFAULT", "aws://?region_name=eu-central-1")
    os.environ["AIRFLOW__LOGGING__LOGGING_LEVEL"] = "CRITICAL"
    logging.disable(logging.CRITICAL)
    from tests.simulator import designs
    from tests.simulator.minutes import Minutes, measure, table
    from tests.simulator.invariants import violations
    from tests.simulator.world import PLANS, World

    design = designs.stock if stock else designs.ours
    wired = {kind: design(plan) for kind, plan in PLANS.items()}
    found: Counter = Counter()
    events: Counter = Counter()
    minutes: Minutes = {}
    for number in range(schedules):
        world = World(seed + number, wired)
        world.play()
        events += world.cloud.events
        measure(world, minutes)
        for violation in violations(world):
            if sum(found.values()) < SHOWN:
                print(f"seed {seed + number}: {violation}", flush=True)
            found[kind_of(violation)] += 1
    for event, count in events.most_common():
        print(f"{count:6} times: {event}")
    print(*table(minutes), sep="\n")
    return found


def kind_of(violation: str) -> str:
    """Which promise a violation is of."""
    for kind in KINDS:
        if kind in violation:
            return kind
    return violation.split(": ")[-1]


def main(argv: Optional[Sequence[str]] = None) -> int:
    """Play, tell, and say by the exit code whether nothing was violated."""
    command = parser("simulate", "schedules", __doc__)
    command.add_argument("--stock", action="store_true")
    asked = command.parse_args(argv)
    print(f"seed {asked.seed}", flush=True)
    found = play_all(asked.schedules, asked.seed, stock=asked.stock)
    for kind, count in found.most_common():
        print(f"{count:6} {kind}")
    print(f"{asked.schedules} schedules, {sum(found.values())} violations")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
