"""Where steps run: this machine in place of a cluster's primary node."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from lake_emulator import runtimes
from lake_emulator.emr import logs
from lake_emulator.emr.models import Cluster, Step
from lake_emulator.emr.step_process import (
    StepProcess,
    clean_environment,
    end_leftovers,
    signal_name,
)
from lake_emulator.s3.store import ObjectStore

SCRATCH = "scratch"


@dataclass(frozen=True)
class Outcome:
    """How a step's process ended; no failure means that it did its work."""

    failure: dict[str, str] | None = None


class StepRunner:
    """Starts steps in `<folder>/<cluster id>/<step id>/`."""

    def __init__(
        self,
        folder: Path,
        store: ObjectStore,
        *,
        endpoint: str,
        secret: str,
        grace: float = 10,
        failure_prefix: str = "",
    ) -> None:
        self._folder = folder
        self._store = store
        self._endpoint = endpoint
        self._secret = secret
        self._grace = grace
        self._failure_prefix = failure_prefix
        end_leftovers(folder)

    def folder(self, cluster: Cluster, step: Step) -> Path:
        return self._folder / cluster.id / step.id

    def start(self, cluster: Cluster, step: Step) -> StepProcess:
        """Start a step's command; `RuntimeMissing` or `OSError` if it cannot be."""
        folder = self.folder(cluster, step)
        scratch = folder / SCRATCH
        scratch.mkdir(parents=True)
        command = runtimes.command(
            cluster.release_label,
            step.args,
            endpoint=self._endpoint,
            secret=self._secret,
            scratch=scratch,
            properties=spark_defaults(cluster),
        )
        names = {"LAKE_CLUSTER_ID": cluster.id, "LAKE_STEP_ID": step.id}
        names["AWS_ACCESS_KEY_ID"] = step.id  # by which its calls are known
        env = {**clean_environment(), **command.env, **names}
        self.note(cluster, step, "started", *command.argv)
        for line in command.notes:
            self.note(cluster, step, line)
        return StepProcess(folder, command.argv, env, cwd=scratch, grace=self._grace)

    def finish(self, cluster: Cluster, step: Step, code: int) -> Outcome:
        """Judge the exit code, keep the logs, drop the scratch files."""
        self.note(cluster, step, f"ended with exit code {code}")
        self._close(cluster, step)
        if code == 0:
            return Outcome()
        killed = signal_name(code)
        reason = f"Killed by {killed}" if killed else f"Exit code {code}"
        folder = self.folder(cluster, step)
        message = logs.last_error(folder, self._failure_prefix)
        return Outcome(self._failure(cluster, step, reason, message))

    def refuse(self, cluster: Cluster, step: Step, reason: Exception) -> Outcome:
        """Record that a step could not start: it fails like one that ended at once."""
        folder = self.folder(cluster, step)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "stderr").write_text(f"{reason}\n")
        self.note(cluster, step, "could not start")
        self._close(cluster, step)
        return Outcome(self._failure(cluster, step, "Could not start", str(reason)))

    def note(self, cluster: Cluster, step: Step, *words: str) -> None:
        """Add a line to the step's controller log."""
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        with open(self.folder(cluster, step) / "controller", "a") as file:
            file.write(f"{now} {' '.join(words)}\n")

    def _close(self, cluster: Cluster, step: Step) -> None:
        folder = self.folder(cluster, step)
        logs.publish(self._store, cluster, step, folder)
        shutil.rmtree(folder / SCRATCH, ignore_errors=True)

    def _failure(
        self, cluster: Cluster, step: Step, reason: str, message: str
    ) -> dict[str, str]:
        details = {"Reason": reason, "Message": message}
        file = logs.log_file(cluster, step, "stderr")
        return {**details, "LogFile": file} if file else details


def spark_defaults(cluster: Cluster) -> dict[str, str]:
    """Return the cluster's own Spark settings (classification `spark-defaults`)."""
    found: dict[str, str] = {}
    for configuration in cluster.configurations:
        if configuration.get("Classification") == "spark-defaults":
            found.update(configuration.get("Properties") or {})
    return found
