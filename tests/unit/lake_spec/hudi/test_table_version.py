"""Every write names the version of its table, so that a newer Hudi raises none."""

from __future__ import annotations

from dataclasses import fields

import pytest

from lake_spec.hudi.options import (
    NEWEST_TABLE_VERSION,
    OLDER_TABLE_VERSION,
    log_options,
    table_options,
    table_properties,
)
from lake_spec.model import Storage
from lake_spec.model.choices import Index

VERSION, RAISED = "hoodie.write.table.version", "hoodie.write.auto.upgrade"


def of_table(**storage: object) -> dict[str, str]:
    """Options of a current table with this storage."""
    chosen = Storage(**storage)
    return table_options("t", storage=chosen, record_key=("k",), keep_commits=10)


@pytest.mark.parametrize("partitions", [(), ("a",), ("a", "b")])
@pytest.mark.parametrize("index", Index)
def test_a_table_is_written_in_version_8_whatever_hudi_would_choose(partitions, index):
    options = of_table(partition_by=partitions, index=index)
    assert options[VERSION] == "8"
    assert table_properties(options)["hoodie.table.version"] == "8"


def test_a_table_of_the_older_version_is_never_raised_by_a_write():
    options = of_table(table_version=OLDER_TABLE_VERSION)
    assert (options[VERSION], options[RAISED]) == ("6", "false")


@pytest.mark.parametrize("pinned, version", [(True, "6"), (False, "8")])
def test_a_change_log_names_its_version(pinned, version):
    options = log_options("t", keep_commits=10, pinned=pinned)
    assert options[VERSION] == version
    assert (options.get(RAISED) == "false") == pinned


def test_the_default_of_a_spec_is_the_version_that_is_pinned():
    (default,) = (f.default for f in fields(Storage) if f.name == "table_version")
    assert default == NEWEST_TABLE_VERSION == 8
