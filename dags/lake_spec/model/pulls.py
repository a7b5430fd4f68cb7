"""Sources that the pipeline itself pulls landing files from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Union

from lake_spec.model.forms import CURSOR, KAFKA_TOPIC, TABLE
from lake_spec.model.limits import Limits
from lake_spec.model.names import NAME
from lake_spec.model.spec_field import setting


@dataclass(frozen=True)
class JdbcTable:
    """A table of a database, copied whole."""

    connection: str = setting(
        "Name of a database under `connections` of the environment.",
        example="shop_db",
        form=NAME,
    )
    table: str = setting(
        "Name of the table, with its schema if it has one.",
        example="public.orders",
        form=TABLE,
    )
    parallel: int = setting(
        "Number of ranges of the first key column to read in parallel, in one "
        "snapshot; MariaDB and MySQL are read in one.",
        4,
        limits=Limits(1, 64),
    )


@dataclass(frozen=True)
class JdbcChanges:
    """Rows of a table whose cursor column has moved on since they were read last."""

    kind: ClassVar[str] = "jdbc"
    connection: str = setting(
        "Name of a database under `connections` of the environment.",
        example="shop_db",
        form=NAME,
    )
    table: str = setting(
        "Name of the table, with its schema if it has one.",
        example="public.orders",
        form=TABLE,
    )
    cursor: str = setting(
        "Column that grows with every change: a timestamp or a number.",
        example="updated_at",
        form=CURSOR,
    )
    overlap: int = setting(
        "Overlap with the previous read, in seconds or in units of the number, for "
        "transactions that commit late.",
        300,
        limits=Limits(0, 31_622_400),
    )


@dataclass(frozen=True)
class KafkaTopic:
    """A topic, from its first message on; offsets are those of the landing files."""

    kind: ClassVar[str] = "kafka"
    connection: str = setting(
        "Name of a Kafka cluster under `connections` of the environment.",
        example="shop_kafka",
        form=NAME,
    )
    topic: str = setting(
        "Name of the topic.", example="shop.public.orders", form=KAFKA_TOPIC
    )
    messages_per_file: int = setting(
        "Largest number of messages in one landing file.",
        100_000,
        limits=Limits(1, 1_000_000),
    )


Changes = Union[KafkaTopic, JdbcChanges]
