"""Which table reads a landing file, and why none does."""

from __future__ import annotations

import json

import pytest

from lake_local.workspace.landing import Landing, Reader
from lake_local.workspace.project import find
from lake_local.workspace.specs import specs_of

ROOT = "s3://lake/landing"
WORDS = {"description": "What the shop knows of them", "owner": "sales-data"}
FEED = {"kind": "feed", "path": "sales/orders", "format": {"type": "csv"}}
REFRESH = {"pattern": "again/(?P<at>[^/]+)/", "files": "again/**"}
SNAPSHOT = {
    "kind": "snapshot",
    "path": "sales/items",
    "files": "**/*.csv",
    "format": {"type": "csv"},
    "snapshot_time": {"pattern": r"(\d{4}-\d{2}-\d{2})"},
    "complete": {"marker": "_SUCCESS"},
}


@pytest.fixture(scope="module")
def landing(tmp_path_factory):
    tables = tmp_path_factory.mktemp("tables")
    (tables / "sales").mkdir()
    columns = {"id": "int", "at": "timestamp"}
    specs = {
        "_domain": {"name": "sales", **WORDS},
        "orders": {"source": {**FEED, "full_refresh": REFRESH}, "order_by": ["at"]},
        "items": {"source": SNAPSHOT},
    }
    for name, spec in specs.items():
        if name != "_domain":
            spec.update(name=name, columns=columns, key=["id"], **WORDS)
        (tables / "sales" / f"{name}.yml").write_text(json.dumps(spec))
    specs = specs_of(find(), tables)
    return Landing.of(specs.environment, specs.domains())


@pytest.mark.parametrize(
    "path, reader",
    [
        ("sales/orders/load/1.csv", Reader("sales.orders", "full load")),
        ("sales/orders/changes/1.csv", Reader("sales.orders", "changes")),
        ("sales/orders/again/2026/1.csv", Reader("sales.orders", "full refresh")),
        ("sales/items/2026-01-01/1.csv", Reader("sales.items", "snapshot")),
        (
            "sales/items/2026-01-01/_SUCCESS",
            Reader("sales.items", "sign of completion"),
        ),
    ],
)
def test_a_file_is_read_by_the_table_whose_glob_it_matches(landing, path, reader):
    assert landing.readers(f"{ROOT}/{path}") == [reader]
    assert landing.without_time(f"{ROOT}/{path}") == ""


@pytest.mark.parametrize(
    "path, why",
    [
        (
            "sales/orders/1.csv",
            "sales.orders reads from s3://lake/landing/sales/orders/ only names that match"
            " 'load/*' (source.load) or 'again/**' (source.full_refresh.files) or"
            " 'changes/*' (source.changes). Put the file there under such a name, or"
            " change source.load or source.full_refresh.files or source.changes.",
        ),
        ("sales/orders/load/_1.csv", "names that begin with . or _ are skipped."),
        ("sales/order/1.csv", f"Did you mean {ROOT}/sales/orders/?"),
        ("hr/x/1.csv", "no table has source.path 'hr/x'. Put the file below one of"),
        ("hr/x/1.csv", "(sales/items, sales/orders)"),
    ],
)
def test_for_a_file_that_no_table_reads_it_says_why(landing, path, why):
    assert landing.readers(f"{ROOT}/{path}") == []
    assert why in landing.unread(f"{ROOT}/{path}")


def test_a_snapshot_without_its_time_is_named(landing):
    url = f"{ROOT}/sales/items/latest.csv"
    assert landing.readers(url) == [Reader("sales.items", "snapshot")]
    assert "sales.items finds no snapshot time in this path" in landing.without_time(
        url
    )
