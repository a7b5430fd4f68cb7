"""What the formats of published metadata have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Dict, Mapping, Optional, Sequence, Tuple

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from lake_spec.hudi.file_names import is_folder
from lake_spark.publish.instants import CommitChange
from lake_spark.publish.schema import partition_columns, published_schema
from lake_spark.storage.hudi_table import HudiTable
from lake_spark.storage.object_store import ObjectStore

SCRATCH = "published"
"""The folder of a run's stage in which files are made before they are put."""


@dataclass(frozen=True)
class Newest:
    """What the newest version of published metadata says."""

    version: int
    instant: str
    files: Optional[int]
    bytes: Optional[int]
    content: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """What it was read from."""
    uri: str = field(default="", compare=False)
    """Where that was."""


class Format(ABC):
    """The metadata of one table in one format."""

    folder: ClassVar[str]

    def __init__(
        self,
        spark: SparkSession,
        store: ObjectStore,
        table: HudiTable,
        *,
        description: str,
        columns: Mapping[str, str],
        scratch: str,
    ) -> None:
        self.spark = spark
        self.store = store
        self.table = table
        self.description = description
        self.columns = columns
        """Descriptions of columns, by name."""
        self.scratch = scratch
        """A temporary folder."""
        self.root = f"{self.location}/{self.folder}/"

    @property
    def location(self) -> str:
        """Return the folder by which readers, and the catalogue, know the table."""
        return self.table.path

    @cached_property
    def schema(self) -> StructType:
        """Return the columns of the newest commit."""
        return published_schema(self.table, self.columns)

    @cached_property
    def partitions(self) -> Tuple[str, ...]:
        """Return the columns that the table is partitioned by."""
        return partition_columns(self.table)

    @abstractmethod
    def newest(self) -> Optional[Newest]:
        """Return what the newest version says; None where there is none."""

    @abstractmethod
    def append(self, newest: Newest, steps: Sequence[CommitChange]) -> bool:
        """Add a version for each step; without any, one with what is out of date alone.

        Return False where another writer was first. Raise CannotFollow where older
        versions would not be read rightly next to it.
        """

    @abstractmethod
    def is_up_to_date(self, newest: Newest) -> bool:
        """Return whether the newest version has all that a new one would say of its commit.

        These are the descriptions of table and columns, and what keeps writers away.
        """

    @abstractmethod
    def begin(self, step: CommitChange) -> bool:
        """Make the only version that there is, of all files; return whether it is ours."""

    @abstractmethod
    def expire(self, instants: Sequence[str]) -> None:
        """Remove the versions of other instants than these."""

    @abstractmethod
    def glue_properties(self) -> Dict[str, str]:
        """Return the properties by which readers of Glue's entry know the format."""

    def glue_partition_keys(self) -> Tuple[str, ...]:
        """Return the columns that Glue's entry has as its partition keys."""
        return ()

    def heal(self, newest: Newest) -> None:
        """Finish what a killed writer left of the newest version."""

    @abstractmethod
    def is_ours(self) -> bool:
        """Return whether there is metadata of this format that was published here."""

    def is_there(self) -> bool:
        """Return whether there is any metadata of this format, whoever wrote it."""
        return not all(is_folder(each.uri) for each in self.store.list(self.root))

    def drop(self) -> int:
        """Remove all metadata of this format; return how many files."""
        found = self.store.list(self.root)
        for each in found:
            self.store.delete(each.uri)
        return len(found)


class CannotFollow(Exception):
    """The metadata cannot say the next version next to the older ones."""
