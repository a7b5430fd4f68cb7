"""A Hudi table's commits: which there are, and since when they stay readable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, List, Optional, Sequence, Tuple

from pyspark.sql import SparkSession

from lake_local.show.instants import readable
from lake_local.show.request import QueryRefused


@dataclass(frozen=True)
class Timeline:
    """Completed commits in their order; cleaning took what is before `kept_from`."""

    table: str
    commits: Tuple[str, ...]
    kept_from: Optional[str]

    def is_before_all(self, instant: str) -> bool:
        """Return whether there was no commit yet, and none was forgotten since."""
        return not self.kept_from and (not self.commits or instant < self.commits[0])

    def require_readable(self, instant: str) -> None:
        """Raise QueryRefused if the table cannot be read as of `instant`."""
        if not self.commits or instant < self.commits[0]:
            first = readable(self.commits[0]) if self.commits else "none"
            raise QueryRefused(
                f"{self.table} had no commit at {readable(instant)} UTC. Choose a time from"
                f" its first commit on: {first} UTC."
            )
        at = max(each for each in self.commits if each <= instant)
        if self.kept_from and at < self.kept_from:
            raise QueryRefused(
                f"{self.table} as of {readable(instant)} UTC was removed by cleaning. Choose"
                f" a later time: it is readable since {readable(self.kept_from)} UTC."
            )


def read(spark: SparkSession, table: str, path: str) -> Timeline:
    """Return the timeline of the Hudi table at `path`."""
    client = _client(spark, path)
    active = client.getActiveTimeline()
    writes = active.getWriteTimeline().filterCompletedInstants().getInstants()
    commits = sorted(each.requestedTime() for each in writes)
    kept_from = _kept_from(spark, client, active, commits)
    return Timeline(table, tuple(commits), kept_from)


def _client(spark: SparkSession, path: str) -> Any:
    jvm = spark._jvm
    storage = jvm.org.apache.hudi.storage.hadoop.HadoopStorageConfiguration(
        spark._jsc.hadoopConfiguration()
    )
    builder = jvm.org.apache.hudi.common.table.HoodieTableMetaClient.builder()
    return builder.setConf(storage).setBasePath(path).build()


def _kept_from(
    spark: SparkSession, client: Any, active: Any, commits: Sequence[str]
) -> Optional[str]:
    """Return the first commit whose files every cleaning left whole.

    One that names none kept the newest version of each file alone, as after an
    erase: what is readable is the last commit before it.
    """
    metadata = spark._jvm.org.apache.hudi.common.util.CleanerUtils.getCleanerMetadata
    found: List[str] = []
    for each in active.getCleanerTimeline().filterCompletedInstants().getInstants():
        kept = metadata(client, each).getEarliestCommitToRetain()
        before = [commit for commit in commits if commit < each.requestedTime()]
        found += [kept] if kept else before[-1:]
    return max(found, default=None)
