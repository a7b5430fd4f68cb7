"""Tables of a few rows that take the way of large ones."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Iterator

import pytest

from lake_spec.model import TableType
from lake_spark.materialize import single_event
from lake_spark.storage import session
from tests.spark.lake import Lake


@contextmanager
def as_large(lake: Lake) -> Iterator[None]:
    """What a table that is merged on read holds is folded, not read, from here on, and
    in builds of all keys those with one delivery are set apart.

    Tables of the other kind stay small, so that plays in both kinds take both ways.
    """
    with pytest.MonkeyPatch.context() as patch:
        if lake.spec.storage.type is TableType.MERGE_ON_READ:
            patch.setattr(session, "FEW_ROWS", -1)
            patch.setattr(single_event, "MOST_SHARE", float("inf"))
        yield
