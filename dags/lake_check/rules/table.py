"""Rules on what a table is called, where it lands and how it is stored."""

from __future__ import annotations

from typing import Iterator, Sequence

from lake_check.rules.rule_set import RuleSet
from lake_spec.diagnostics.diagnostic import Path, Problem, got
from lake_spec.hudi.options import NEWEST_TABLE_VERSION, OLDER_TABLE_VERSION
from lake_spec.model import (
    Index,
    ProductTable,
    ReadableAs,
    TableSpec,
    TableType,
)
from lake_spec.model import names

TABLE = RuleSet()


@TABLE.rule("name")
def table_name_is_valid(spec: TableSpec) -> Iterator[Problem]:
    """Refuse a table's name that is not valid in folders and SQL.

    Fix: Write 1 to 63 of a-z, 0-9 and _, beginning with a letter, and name the file so.
    """
    yield from names.name(("name",), spec.name)


@TABLE.rule("description")
def table_has_description(spec: TableSpec) -> Iterator[Problem]:
    """Refuse a table without a description that readers can use.

    Fix: Write one line of more than 15 characters that says what the table contains.
    """
    yield from names.description(spec.description)


@TABLE.rule("owner")
def table_owner_is_a_team(spec: TableSpec) -> Iterator[Problem]:
    """Refuse a table without an owner: nobody could be asked.

    Fix: Name the owning team in more than 5 characters.
    """
    yield from names.owner(spec.owner)


@TABLE.rule("storage")
def record_index_has_no_partitions(spec: TableSpec) -> Iterator[Problem]:
    """Refuse partitions with a record index, which keeps one place per key.

    Fix: Choose the index bucket, bloom or simple, or remove `partition_by`.
    """
    if spec.storage.index is Index.RECORD and spec.storage.partition_by:
        yield got(
            ("storage", "index"),
            spec.storage.index.value,
            "A record index spans all partitions and cannot follow a key that moves "
            "between them: choose bucket, bloom or simple, or remove partition_by.",
        )


@TABLE.rule("storage")
def older_table_version_is_copy_on_write(spec: TableSpec) -> Iterator[Problem]:
    """Refuse table version 6 with merge on read, whose log files readers may leave out.

    Fix: Write `type: copy_on_write`, or remove `table_version`.
    """
    storage = spec.storage
    is_merged = storage.type is TableType.MERGE_ON_READ
    if is_merged and storage.table_version == OLDER_TABLE_VERSION:
        yield got(
            ("storage", "table_version"),
            storage.table_version,
            "Version 6 is for readers of Hudi 0.14, which are supported for "
            "copy_on_write tables only: their read of merge_on_read tables may lack the "
            "rows of log files. Choose `type: copy_on_write`, or remove table_version.",
        )


@TABLE.rule("source", "storage")
def only_products_are_sorted(spec: TableSpec) -> Iterator[Problem]:
    """Refuse `storage.sort_by` in a table of landing files, written key by key.

    Fix: Remove `sort_by`, or read the table by a product that has it.
    """
    if spec.storage.sort_by and not isinstance(spec, ProductTable):
        hint = "Only products are sorted: remove it."
        yield got(("storage", "sort_by"), spec.storage.sort_by, hint)


@TABLE.rule("storage")
def formats_of_readers_are_unique(spec: TableSpec) -> Iterator[Problem]:
    """Refuse a format that `storage.readable_as` names twice.

    Fix: Name each format once.
    """
    yield from formats_are_unique(("storage", "readable_as"), spec.storage.formats)


def formats_are_unique(path: Path, formats: Sequence[ReadableAs]) -> Iterator[Problem]:
    """Yield a problem where a format is named twice."""
    if len(set(formats)) < len(formats):
        yield got(path, tuple(formats), "Name each format once.")


@TABLE.rule("storage")
def table_version_is_known(spec: TableSpec) -> Iterator[Problem]:
    """Refuse a table version of Hudi that is neither 6 nor 8.

    Fix: Write 8, or 6 for readers of Hudi 0.14.
    """
    version = spec.storage.table_version
    if version not in (OLDER_TABLE_VERSION, NEWEST_TABLE_VERSION):
        yield got(("storage", "table_version"), version, "Choose 6 or 8.")


@TABLE.rule()
def warning_comes_before_failure(spec: TableSpec) -> Iterator[Problem]:
    """Refuse a `warn_share` of bad rows above which the run fails anyway.

    Fix: Write a `quarantine.warn_share` of at most `max_share`.
    """
    limits = spec.quarantine
    share = limits.warn_share
    if share is not None and limits.max_share < share <= 1:
        hint = (
            f"Choose a number from 0 to max_share, which is {limits.max_share:g}: "
            "above that the run fails."
        )
        yield got(("quarantine", "warn_share"), share, hint)
