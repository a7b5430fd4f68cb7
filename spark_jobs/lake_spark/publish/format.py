"""What the formats of published metadata have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Dict, Mapping, Optional, Sequence, Tuple

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from lake_spark.publish.instants import Step
from lake_spark.publish.schema import partition_columns, published_schema
from lake_spark.storage.hudi_table import HudiTable
from lake_spark.storage.object_store import ObjectStore

SCRATCH = "published"
"""The folder of a run's stage in which files are made before they are put."""

INSTANT = "lake.hudi-instant"
"""Names the commit of Hudi in a version of the metadata."""


@dataclass(frozen=True)
class Newest:
    """What the newest version of published metadata says."""

    version: int
    instant: str
    files: Optional[int]
    bytes: Optional[int]
    content: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """What it was read from."""


class Format(ABC):
    """The metadata of one table in one format, below the table's own folder."""

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
        self.root = f"{table.path}/{self.folder}/"

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
    def append(self, newest: Newest, steps: Sequence[Step]) -> bool:
        """Add a version for each step; without any, one with the descriptions alone.

        Return False where another writer was first. Raise CannotFollow where older
        versions would not be read rightly next to it.
        """

    @abstractmethod
    def is_described(self, newest: Newest) -> bool:
        """Return whether the newest version has the descriptions of table and columns."""

    @abstractmethod
    def begin(self, step: Step) -> bool:
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

    def is_there(self) -> bool:
        """Return whether there is any metadata of this format."""
        return bool(self.store.list(self.root))

    def drop(self) -> int:
        """Remove all metadata of this format; return how many files."""
        found = self.store.list(self.root)
        for each in found:
            self.store.delete(each.uri)
        return len(found)


class CannotFollow(Exception):
    """The metadata cannot say the next version next to the older ones."""
