"""Where a home keeps its state: one folder, one stack of processes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Home:
    """The folder under which everything of one local lake lives."""

    root: Path

    @classmethod
    def at(cls, path: str | Path) -> Home:
        """The home at `path`, made absolute so that every process agrees on it."""
        return cls(Path(path).expanduser().resolve())

    def create(self) -> None:
        """Make the folders; only their owner may look into them."""
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        for folder in (self.airflow, self.logs, self.holders):
            folder.mkdir(mode=0o700, exist_ok=True)

    @property
    def airflow(self) -> Path:
        """AIRFLOW_HOME: database, configuration and task logs."""
        return self.root / "airflow"

    @property
    def task_logs(self) -> Path:
        """Where Airflow writes the logs of tasks."""
        return self.airflow / "logs"

    @property
    def dags(self) -> Path:
        """The generated DAGs folder of another tables folder."""
        return self.root / "dags"

    @property
    def release_file(self) -> Path:
        """Which release the DAGs refer to."""
        return self.root / "release.json"

    @property
    def logs(self) -> Path:
        """What the background processes print."""
        return self.root / "logs"

    @property
    def steps(self) -> Path:
        """Output of EMR steps: `<cluster>/<step>/stdout` and `stderr`."""
        return self.root / "emr"

    @property
    def stack_file(self) -> Path:
        """Which processes are up."""
        return self.root / "stack.json"

    @property
    def lock_file(self) -> Path:
        """The lock of everyone who uses the home."""
        return self.root / "lock"

    @property
    def holders(self) -> Path:
        """Who holds the lock: one file per process, named by its id."""
        return self.root / "holders"
