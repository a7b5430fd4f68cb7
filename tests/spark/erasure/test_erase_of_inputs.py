"""An erase in a table reaches the products of it, and theirs: rows and files.

Customer 10 is the only one of a segment, which two products show.
"""

from __future__ import annotations

import pytest

from lake_spec.model import TableType
from lake_spark.storage.hudi_table import HudiTable
from lake_spark.storage.object_store import FolderStore
from tests.spark.erasing import CANARY, ask, erased, files_with
from tests.kinds import one_by_day
from tests.spark.stall import Stall

ORDERS = "U,1,10,2026-01-05,5,2026-01-05\nU,3,20,2026-01-15,9,2026-01-15\n"
CUSTOMERS = f"U,10,{CANARY},n,2026-01-01\nU,20,new,n,2026-01-01\n"
PRODUCTS = ("enriched", "by_segment")


def stall_of(spark, root, kind: TableType) -> Stall:
    stall = Stall(spark, root, PRODUCTS)
    stall.store_as(kind)
    stall.take(orders=ORDERS, customer=CUSTOMERS)
    for name in PRODUCTS:
        stall.lakes[name].done("product")
    stall.take(orders="U,1,10,2026-01-06,5,2026-01-06\n")
    for name in PRODUCTS:
        stall.lakes[name].done("product")
    return stall


@pytest.mark.parametrize(
    "kind",
    one_by_day([TableType.MERGE_ON_READ, TableType.COPY_ON_WRITE, TableType.PARQUET]),
)
def test_no_file_of_a_product_keeps_what_was_erased_in_its_input(spark, tmp_path, kind):
    stall = stall_of(spark, tmp_path, kind)
    customer = stall.lakes["customer"]
    assert any("/enriched/" in str(f) for f in files_with(customer, CANARY))
    profile = tmp_path / "runs/profiles/tests/enriched.json"
    profile.parent.mkdir(parents=True, exist_ok=True)
    profile.write_text(CANARY)  # a product's own, of values that it had
    erased(customer, {"id": "10"})
    request = ask(customer, {"id": "10"})
    reports = [stall.lakes[n].run("erase", request_uri=request) for n in PRODUCTS]
    assert [each.error for each in reports] == [None, None]
    assert [each.built for each in reports] == [
        "whole: keys were erased in tests.customer history",
        "whole: keys were erased in tests.enriched current",
    ]
    assert stall.rows("by_segment") == [("Unknown", "1", "5"), ("new", "1", "9")]
    assert files_with(customer, CANARY) == []
    for name in PRODUCTS:
        assert stall.lakes[name].run("product").state == "nothing_new"


@pytest.mark.nightly
def test_a_product_that_an_erase_does_not_concern_is_not_touched(spark, tmp_path):
    stall = stall_of(spark, tmp_path, TableType.COPY_ON_WRITE)
    stall.take(orders="U,3,20,2026-01-16,9,2026-01-17\n")
    lake = stall.lakes["enriched"]
    before = lake.files()
    assert lake.run("erase", request_uri="file:///nowhere").state == "nothing_new"
    assert lake.files() == before


@pytest.mark.nightly
def test_a_run_that_ended_before_its_old_files_went_is_followed_by_one_that_removes_them(
    spark, tmp_path, monkeypatch
):
    stall = stall_of(spark, tmp_path, TableType.COPY_ON_WRITE)
    customer, lake = stall.lakes["customer"], stall.lakes["enriched"]
    erased(customer, {"id": "10"})
    with monkeypatch.context() as broken:
        broken.setattr(HudiTable, "clean", lambda *_: 1 / 0)
        assert lake.run("product").error["type"] == "ZeroDivisionError"
    assert any("/enriched/" in str(f) for f in files_with(customer, CANARY))
    lake.done("product")
    assert not any("/enriched/" in str(f) for f in files_with(customer, CANARY))


@pytest.mark.nightly
@pytest.mark.parametrize(
    "kind", one_by_day([TableType.COPY_ON_WRITE, TableType.PARQUET])
)
def test_old_versions_that_a_killed_run_left_are_removed_by_the_next_one(
    spark, tmp_path, monkeypatch, kind
):
    """The files are removed by then, and only a bucket with versions still has them."""
    stall = stall_of(spark, tmp_path, kind)
    customer, lake = stall.lakes["customer"], stall.lakes["enriched"]
    erased(customer, {"id": "10"})
    home, removed = f"{lake.tables.home}/", []

    def remove(_: FolderStore, prefix: str) -> int:
        removed.append(prefix)
        if removed.count(home) == 1 and prefix == home:
            raise OSError("killed")
        return 0

    def old_versions(_: FolderStore, prefix: str) -> list:
        return [f"{home}a?versionId=7"] if removed.count(home) < 3 else []

    monkeypatch.setattr(FolderStore, "delete_old_versions", remove)
    monkeypatch.setattr(FolderStore, "old_versions", old_versions)
    assert lake.run("product").error["type"] == "OSError"
    assert not any("/enriched/" in str(f) for f in files_with(customer, CANARY))
    left = lake.run("product").error
    assert (left["type"], removed.count(home)) == ("KeysNotErased", 2)
    assert f"{home}a?versionId=7 is older than the erase" in left["message"]
    assert lake.run("product").error is None
    assert removed.count(home) == 3
    lake.run("product")
    assert removed.count(home) == 3
