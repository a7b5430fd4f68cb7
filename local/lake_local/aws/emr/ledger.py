"""What clusters would have cost: minutes, with a start that is not waited for."""

from __future__ import annotations

import time
from typing import Any, Iterable

from lake_local.aws.emr import instances
from lake_local.aws.emr.describe import moment
from lake_local.aws.emr.models import Cluster

START_MINUTES = 9.0


def ledger(
    clusters: Iterable[Cluster], start_minutes: float = START_MINUTES
) -> dict[str, Any]:
    """One entry per cluster; a cluster on EMR takes minutes before its first step."""
    entries = [_entry(cluster, start_minutes) for cluster in clusters]
    return {
        "start_minutes": start_minutes,
        "cluster_minutes": round(sum(entry["minutes"] for entry in entries), 3),
        "instance_minutes": round(
            sum(entry["minutes"] * entry["instances"] for entry in entries), 3
        ),
        "clusters": entries,
    }


def _entry(cluster: Cluster, start_minutes: float) -> dict[str, Any]:
    lived = (cluster.ended or time.time()) - cluster.created
    created = moment(cluster.created)
    return {
        "id": cluster.id,
        "name": cluster.name,
        "tags": cluster.tags,
        "state": cluster.state,
        "created": created.isoformat() if created else None,
        "steps": len(cluster.steps),
        "instances": len(instances.instances(cluster)),
        "run_seconds": round(lived, 3),
        "minutes": round(start_minutes + lived / 60, 3),
    }
