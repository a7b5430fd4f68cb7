"""When a table should have more buckets: where one file has outgrown a core."""

from __future__ import annotations

import pytest

from lake_spec.hudi.buckets import resized

GIB = 1024**3


@pytest.mark.parametrize(
    ("buckets", "largest", "proposed"),
    [
        (4, GIB, None),
        (4, GIB + 1, 20),
        (2, 3 * GIB, 24),
        (1, 2 * GIB, 8),
        (600, 2 * GIB, 1000),
        (1000, 9 * GIB, None),
    ],
)
def test_a_number_is_proposed_where_a_file_is_above_one_gib(buckets, largest, proposed):
    assert resized(buckets, largest) == proposed
