"""The kinds of lakes that stages are killed in."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from lake_spec.model import HUDI_TYPES, Engine, TableType


class Source(str, Enum):
    """What a lake's table is made of."""

    FEED = "feed"
    SNAPSHOTS = "snapshots"
    DIMENSION = "dimension"
    PRODUCT = "product"


@dataclass(frozen=True)
class Kind:
    """How a lake stores its tables, what they are made of, and who fills its log."""

    type: TableType
    engine: Engine = Engine.PYSPARK
    source: Source = Source.FEED

    @property
    def name(self) -> str:
        """As a folder is called and a line of output."""
        is_feed = self.source is Source.FEED
        return f"{self.type.value}-{(self.engine if is_feed else self.source).value}"


COPIED, MERGED = Kind(TableType.COPY_ON_WRITE), Kind(TableType.MERGE_ON_READ)
STREAMED = Kind(TableType.COPY_ON_WRITE, Engine.STREAMER)
FEEDS = (COPIED, MERGED)
SNAPSHOTS = tuple(Kind(each, source=Source.SNAPSHOTS) for each in HUDI_TYPES)
DIMENSIONS = tuple(Kind(each, source=Source.DIMENSION) for each in HUDI_TYPES)
PRODUCTS = tuple(Kind(each, source=Source.PRODUCT) for each in TableType)
