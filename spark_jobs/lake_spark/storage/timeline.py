"""What was committed to one Hudi table, as one look into its timeline found it.

A look reads the table's properties and lists its timeline: a file each on this machine,
requests of some 0.1 s on S3. It does not see what is committed after it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import cached_property
from typing import Any, Dict, FrozenSet, Iterator, List, Mapping, Tuple

from pyspark.sql import SparkSession

from lake_spec.hudi.options import METADATA_PREFIX, STREAMER_CHECKPOINTS
from lake_spark import java
from lake_spark.storage.commit_values import CommitValue


@dataclass(frozen=True)
class Commit:
    """A completed commit: its instant and its metadata, prefix removed."""

    instant: str
    metadata: Mapping[str, str]


@dataclass(frozen=True)
class Instant:
    """A commit that is completed and not archived."""

    requested: str
    completed: str
    action: str


@dataclass(frozen=True)
class FileChanges:
    """What a commit did to the files of its table."""

    rows: Mapping[str, int]
    """By the path below the table's, how many rows each file has that it wrote."""
    replaced: FrozenSet[Tuple[str, str]]
    """Partition and id of each file group that it took the place of."""


def time_of(instant: str) -> datetime:
    """Return the second that an instant is named after, in UTC."""
    return datetime.strptime(instant[:14], "%Y%m%d%H%M%S").replace(tzinfo=timezone.utc)


KNOWN_COMMITS: Dict[Tuple[str, str], Commit] = {}
MOST_COMMITS = 2000
"""So many are remembered: a continuous run makes some every minute."""


class Timeline:
    """The completed commits of a table, newest first; the table must have been begun."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        self._jvm = java.packages(spark)
        self._path = path
        self._client = meta_client(spark, path)

    def commits(self) -> Iterator[Commit]:
        """Yield completed commits, archived ones last."""
        yield from self.active_commits()
        for instant in _newest_first(self._archived):
            yield self._commit(instant, self._client.getArchivedTimeline())

    def active_commits(self) -> Iterator[Commit]:
        """Yield those to which the table can be taken back: completed and not archived."""
        for instant in _newest_first(self._active):
            yield self._commit(instant, self._client.getActiveTimeline())

    def actions(self) -> Iterator[str]:
        """Return what each completed commit did (commit, deltacommit ...), but archived."""
        return (instant.getAction() for instant in _newest_first(self._active))

    def instants(self) -> List[Instant]:
        """Return every commit that is not archived, oldest first."""
        return [
            Instant(at, self.completed(at), each.getAction())
            for at, each in self._by_instant.items()
        ]

    def requested(self) -> List[str]:
        """Return when each of these was requested; `instants` asks Java thrice as much."""
        return list(self._by_instant)

    def completed(self, requested: str) -> str:
        """Return when the commit of that instant was completed."""
        return self._by_instant[requested].getCompletionTime() or requested

    def keeps(self, requested: str) -> bool:
        """Return whether the commit of that instant is there with all of its files."""
        return requested in self._by_instant and requested >= self._first_readable()

    def last_clean(self) -> str:
        """Return the instant of the last cleaning that is not archived; empty for none."""
        last = self._last_clean()
        return last.get().requestedTime() if last.isPresent() else ""

    def _last_clean(self) -> java.JavaObject:
        cleaned = self._client.getActiveTimeline().getCleanerTimeline()
        return cleaned.filterCompletedInstants().lastInstant()

    def _first_readable(self) -> str:
        """Return the oldest commit that the last cleaning left readable."""
        last = self._last_clean()
        if not last.isPresent():
            return ""
        utils = self._jvm.org.apache.hudi.common.util.CleanerUtils
        found = utils.getCleanerMetadata(self._client, last.get())
        # One that keeps only the newest files has no such commit, but the newest one.
        first = found.getEarliestCommitToRetain()
        return first or found.getLastCompletedCommitTimestamp() or ""

    def unfinished(self) -> List[str]:
        """Return the instants of writes that were begun and not completed."""
        begun = self._client.getActiveTimeline().getWriteTimeline()
        open_ones = begun.filterInflightsAndRequested().getInstants()
        return [each.requestedTime() for each in _newest_first(open_ones)]

    def file_changes(self, requested: str) -> FileChanges:
        """Return what the commit of that instant did to files."""
        utils = self._jvm.org.apache.hudi.common.table.timeline.TimelineUtils
        active = self._client.getActiveTimeline()
        found = utils.getCommitMetadata(self._by_instant[requested], active)
        return _file_changes(json.loads(found.toJsonString()))

    @cached_property
    def _active(self) -> java.JavaObject:
        return _completed(self._client.getActiveTimeline())

    @cached_property
    def _by_instant(self) -> Dict[str, java.JavaObject]:
        """Return the commits that are not archived, oldest first."""
        newest_first = list(_newest_first(self._active))
        return {each.requestedTime(): each for each in reversed(newest_first)}

    @cached_property
    def _archived(self) -> java.JavaObject:
        """Look for archived commits, only where no active commit says what is asked for."""
        return _completed(self._client.getArchivedTimeline())

    def _commit(self, instant: java.JavaObject, timeline: java.JavaObject) -> Commit:
        """Return a completed commit, read once by this process: it never changes."""
        at = instant.requestedTime()
        known = KNOWN_COMMITS.get((self._path, at))
        if known is None:
            if len(KNOWN_COMMITS) >= MOST_COMMITS:
                KNOWN_COMMITS.clear()
            known = Commit(at, self.metadata_of(instant, timeline))
            KNOWN_COMMITS[self._path, at] = known
        return known

    def metadata_of(
        self, instant: java.JavaObject, timeline: java.JavaObject
    ) -> Dict[str, str]:
        """Read the metadata of a commit."""
        utils = self._jvm.org.apache.hudi.common.table.timeline.TimelineUtils
        extra = utils.getCommitMetadata(instant, timeline).getExtraMetadata()
        return named_metadata(list(extra.items()))


def meta_client(spark: SparkSession, path: str) -> java.JavaObject:
    """Return Hudi's own view of a table, as of now."""
    jvm = java.packages(spark)
    configuration = jvm.org.apache.hudi.storage.hadoop.HadoopStorageConfiguration(
        java.hadoop_configuration(spark)
    )
    builder = jvm.org.apache.hudi.common.table.HoodieTableMetaClient.builder()
    return builder.setConf(configuration).setBasePath(path).build()


def _file_changes(commit: Mapping[str, Any]) -> FileChanges:
    written = [
        each for some in commit["partitionToWriteStats"].values() for each in some
    ]
    gone = commit.get("partitionToReplaceFileIds") or {}
    return FileChanges(
        {each["path"]: each["numWrites"] for each in written if each["path"]},
        frozenset((place, name) for place, names in gone.items() for name in names),
    )


def _completed(timeline: java.JavaObject) -> java.JavaObject:
    return timeline.getCommitsTimeline().filterCompletedInstants().getInstants()


def _newest_first(instants: java.JavaObject) -> Iterator[java.JavaObject]:
    """Yield by number: the end of an iterator of Java's is an exception there, and each is
    looked into by some 30 calls."""
    for place in reversed(range(instants.size())):
        yield instants.get(place)


def named_metadata(extra: List[Tuple[str, str]]) -> Dict[str, str]:
    """Return our own entries of a commit's metadata; the streamer's count as `inputs`."""
    found = dict(extra)
    mine = {
        name[len(METADATA_PREFIX) :]: value
        for name, value in found.items()
        if name.startswith(METADATA_PREFIX)
    }
    for name in STREAMER_CHECKPOINTS:
        if name in found and CommitValue.INPUTS not in mine:
            mine[CommitValue.INPUTS] = found[name]
    return mine
