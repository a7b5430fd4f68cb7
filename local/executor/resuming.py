"""The executor of Airflow on this machine."""

from __future__ import annotations

from collections import Counter
from typing import Any

from airflow.executors.local_executor import LocalExecutor

ENDED = ("success", "failed")


class ResumingExecutor(LocalExecutor):
    """LocalExecutor that distinguishes the processes of a task that deferred.

    Both have one key. The first ends seconds after its task deferred; where a trigger
    fires before that, LocalExecutor takes this end for that of the second process, and
    the scheduler fails a task that works ("finished with state success, but the task
    instance's state attribute is running"). MWAA's Celery keeps one result per key.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._processes: Counter = Counter()  # by key, those that have not ended

    def queue_workload(self, workload: Any, session: Any) -> None:
        """Keep a process of a task, the first or one that resumes it."""
        if hasattr(workload, "ti"):
            self._processes[workload.ti.key] += 1
        super().queue_workload(workload, session)

    def change_state(
        self, key: Any, state: Any, info: Any = None, remove_running: bool = True
    ) -> None:
        """Note what a process says; the end of an earlier one says nothing."""
        if key in self._processes and state in ENDED:
            self._processes[key] -= 1
            if self._processes[key] > 0:
                self.log.info("%s was resumed meanwhile.", key)
                return
            del self._processes[key]
        super().change_state(key, state, info, remove_running)
