"""A table whose commits carry metadata, whatever keeps its rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Iterator, List, Mapping, Optional, Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from lake_spec.hudi.options import Operation
from lake_spark.storage.timeline import Commit, Instant


class CommittedTable(ABC):
    """A table at a path, which changes by one commit after the other."""

    path: str

    @abstractmethod
    def has_data(self) -> bool:
        """Return whether a commit was ever completed here."""

    @abstractmethod
    def commits(self) -> Iterator[Commit]:
        """Return completed commits, newest first."""

    @abstractmethod
    def instants(self) -> List[Instant]:
        """Return every completed commit that can be read, oldest first."""

    @abstractmethod
    def keeps(self, instant: str) -> bool:
        """Return whether a commit can be read with all of its files."""

    @abstractmethod
    def read(self, by: Optional[SparkSession] = None) -> DataFrame:
        """Return the rows of the newest commit.

        `by` is the session that the queries on them are of, if not the table's.
        """

    @abstractmethod
    def read_as_of(self, instant: str) -> DataFrame:
        """Return the rows as they were after that commit."""

    @abstractmethod
    def write(
        self,
        rows: DataFrame,
        operation: Operation,
        metadata: Mapping[str, str],
        *,
        order: Sequence[str] = (),
    ) -> str:
        """Write rows as one commit that carries the metadata; return its instant.

        Where all rows are written those of a file are in the order of these columns.
        """

    @abstractmethod
    def stored_schema(self) -> StructType:
        """Return the columns that are stored."""

    def last_commit(self) -> Optional[Commit]:
        """Return the newest completed commit of data, of whatever origin."""
        return next(self.commits(), None)

    def last_value(self, name: str) -> Optional[str]:
        """Return the metadata value that the newest commit which has it carries."""
        return self.metadata_with(name).get(name)

    def value(self, name: str) -> str:
        """Return that value of a table some commit of which has it; else raise KeyError."""
        return self.metadata_with(name)[name]

    def last_count(self, name: str) -> int:
        """Return the number that the newest commit which has it carries; 0 if none does."""
        return int(self.last_value(name) or 0)

    def metadata_with(self, name: str) -> Mapping[str, str]:
        """Return the whole metadata of the newest commit that carries this, or nothing."""
        found = self.last_with(name)
        return found.metadata if found else {}

    def last_instant(self, name: str) -> Optional[str]:
        """Return the instant of the newest commit that carries this metadata."""
        found = self.last_with(name)
        return found.instant if found else None

    def last_with(self, name: str) -> Optional[Commit]:
        """Return the newest commit that carries this metadata."""
        return next((each for each in self.commits() if name in each.metadata), None)
