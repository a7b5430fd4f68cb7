"""Which kinds of table or source a promise is tried on by day, and which by night."""

from __future__ import annotations

from typing import Any, Container, Iterable, List, Sequence

import pytest

from lake_spec.model import TableType


def one_by_day(kinds: Sequence[Any]) -> List[Any]:
    """The first kind for every run of the tests, the others for `nightly`.

    For what goes the same way whatever the kind: another one rarely finds more.
    """
    first, *others = kinds
    return [first, *(pytest.param(each, marks=pytest.mark.nightly) for each in others)]


def some_by_day(kinds: Iterable[Any], by_day: Container[Any]) -> List[Any]:
    """All kinds, those of `by_day` for every run of the tests, the others for `nightly`."""
    others = pytest.mark.nightly
    return [pytest.param(x, marks=[] if x in by_day else others) for x in kinds]


TABLE_TYPES = one_by_day([TableType.MERGE_ON_READ, TableType.COPY_ON_WRITE])
"""Merge on read first: it writes log files and the files that copy on write has."""
