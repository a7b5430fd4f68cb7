"""A step starts only if no other run has its domain."""

from __future__ import annotations

import json

import pytest

from lake_spark import fence
from lake_spark.errors import DomainTaken

RUNS, LEASE = "s3://lake/runs", "s3://lake/runs/leases/sales.json"
MINE, THEIRS = "sales_incremental/manual-1", "sales_maintenance/manual-7"


class Store:
    """A store of one lease, or of none."""

    def __init__(self, content):
        self._objects = {} if content is None else {LEASE: content}

    def read(self, uri, *, limit=None):
        return self._objects[uri]


@pytest.mark.parametrize("holder", [MINE, None], ids=["mine", "given back"])
def test_the_run_that_has_the_domain_goes_on(holder):
    fence.check(Store(json.dumps({"holder": holder}).encode()), RUNS, "sales", MINE)


def test_without_a_lease_the_run_goes_on():
    fence.check(Store(None), RUNS, "sales", MINE)


def test_a_run_whose_domain_another_one_has_is_refused_naming_both():
    store = Store(json.dumps({"holder": THEIRS}).encode())
    with pytest.raises(DomainTaken) as refused:
        fence.check(store, RUNS, "sales", MINE)
    assert str(refused.value) == (
        f"sales belongs to the run {THEIRS}, as {LEASE} says: the run {MINE} must not"
        " write any more. Start it again when that one is over."
    )


@pytest.mark.parametrize("text", [b"", b"[]", b"{}"])
def test_what_is_no_lease_is_refused(text):
    with pytest.raises(ValueError, match="no lease"):
        fence.check(Store(text), RUNS, "sales", MINE)
