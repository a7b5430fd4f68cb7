"""What an acceptance run will cost, said before it starts."""

from __future__ import annotations

from collections import Counter
from typing import Optional

from lake_check.costs.prices import ON_DEMAND, Prices
from lake_spec.model import ClusterSpec
from lake_spec.model.instances import InstanceGroups

MINUTES = 30
"""From the request of the cluster to its end; a start takes about 9 of them."""


def words(cluster: ClusterSpec, prices: Optional[Prices], *, emulated: bool) -> str:
    """Say the minutes, the nodes and, by the reader's own prices, the money.

    Raises SpecErrors for a type that has no price.
    """
    if emulated:
        return "It takes about two minutes on the emulator, and costs nothing."
    nodes = cluster.instances
    if not isinstance(nodes, InstanceGroups):
        return f"It takes about {MINUTES} minutes of the fleets of {cluster.name}."
    kinds = Counter({nodes.primary.instance_type: 1})
    kinds[nodes.core.instance_type] += nodes.core.instance_count
    if nodes.task:
        kinds[nodes.task.instance_type] += nodes.task.instance_count
    named = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    said = f"It takes about {MINUTES} minutes of {named}"
    if prices is None:
        return f"{said}. With --prices FILE (docs/cost.md) it says what that costs."
    entry = {
        "cluster": cluster.name,
        "instances": sum(kinds.values()),
        "instance_minutes": MINUTES * sum(kinds.values()),
        "instance_minutes_by_type": {
            kind: {ON_DEMAND: float(MINUTES * count)} for kind, count in kinds.items()
        },
    }
    prices.require([entry])
    return f"{said}: at most {prices.of(entry):.2f} {prices.currency} by your prices."
