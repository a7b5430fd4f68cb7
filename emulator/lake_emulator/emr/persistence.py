"""The clusters on disk: one JSON file each, replaced at every change."""

from __future__ import annotations

import json
import os
from pathlib import Path

from lake_emulator.emr.models import Cluster
from lake_emulator.emr.state_machine import ClusterState, StepState

CRASHED = "The emulator stopped while the cluster was alive"


class Journal:
    """`<folder>/<cluster id>/cluster.json`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def save(self, cluster: Cluster) -> None:
        home = self._folder / cluster.id
        home.mkdir(exist_ok=True)
        draft = home / "cluster.json.new"
        draft.write_text(json.dumps(cluster.to_json(), indent=1))
        os.replace(draft, home / "cluster.json")

    def load(self) -> list[Cluster]:
        """Return all clusters, oldest first; those that a crash left alive have ended."""
        found = [
            Cluster.from_json(json.loads(file.read_text()))
            for file in self._folder.glob("*/cluster.json")
        ]
        for cluster in found:
            if not cluster.over:
                self._end_after_crash(cluster)
        return sorted(found, key=lambda cluster: cluster.created)

    def _end_after_crash(self, cluster: Cluster) -> None:
        for step in cluster.active_steps:
            step.enter(StepState.INTERRUPTED if step.started else StepState.CANCELLED)
        cluster.enter(ClusterState.TERMINATED_WITH_ERRORS)
        cluster.reason = {"Code": "INTERNAL_ERROR", "Message": CRASHED}
        self.save(cluster)
