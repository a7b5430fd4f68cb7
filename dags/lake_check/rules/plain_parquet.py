"""Rules on tables of plain Parquet: `storage.type: parquet`."""

from __future__ import annotations

from typing import Iterator

from lake_check.rules.rule_set import RuleSet
from lake_spec.diagnostics.diagnostic import Problem, got
from lake_spec.model import ProductTable, Storage, TableSpec

PLAIN_PARQUET = RuleSet()

OF_HUDI = ("index", "readable_as", "table_version", "shuffle")
"""Settings of storage that say something of Hudi alone."""


@PLAIN_PARQUET.rule("source", "storage")
def only_products_are_plain_parquet(spec: TableSpec) -> Iterator[Problem]:
    """Refuse plain Parquet for a table whose rows are changed one by one.

    Fix: Write `type: copy_on_write` or `merge_on_read`, or read the table by a product
    that is plain Parquet.
    """
    if spec.storage.is_plain and not isinstance(spec, ProductTable):
        hint = (
            "Only products can be: each commit writes all rows. Choose copy_on_write or "
            "merge_on_read."
        )
        yield got(("storage", "type"), spec.storage.type, hint)


@PLAIN_PARQUET.rule("storage")
def plain_parquet_has_no_settings_of_hudi(spec: TableSpec) -> Iterator[Problem]:
    """Refuse settings of Hudi next to plain Parquet, where they would mean nothing.

    Fix: Remove the setting; nothing else than Parquet is needed to read the files.
    """
    left_out = Storage()
    for name in OF_HUDI if spec.storage.is_plain else ():
        value = getattr(spec.storage, name)
        if value and value != getattr(left_out, name):
            hint = "Remove it: it is a setting of Hudi, and the table is plain Parquet."
            yield got(("storage", name), value, hint)


@PLAIN_PARQUET.rule("columns", "storage")
def plain_parquet_folders_are_numbers_or_dates(spec: TableSpec) -> Iterator[Problem]:
    """Refuse partition columns of plain Parquet that have no range of values.

    Fix: Partition by whole numbers or dates, whose least and greatest value the catalogue
    says; or leave the table to Hudi.
    """
    for place, name in enumerate(spec.storage.partition_by):
        kind = spec.type_of(name)
        if not spec.storage.is_plain or kind is None:
            continue
        if not (kind.is_whole or kind.name == "date"):
            hint = (
                f"It is {kind.stored.name}: partition plain Parquet by whole numbers or "
                "dates, or choose copy_on_write."
            )
            yield got(("storage", "partition_by", place), name, hint)
