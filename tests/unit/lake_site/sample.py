"""The lake of the pictures in docs/catalogue.md: a shop with a failed and a late table.

    PYTHONPATH=dags:. python -m tests.unit.lake_site.sample FOLDER

writes its site into a folder.
"""

from __future__ import annotations

import json
import random
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from lake_site.collect import write
from lake_site.facts import DomainFacts
from lake_site.render import Files, domain_files, overall_files
from lake_site.store import FolderStore
from lake_spec.model import OnFail, ReadableAs, Rule, TableType
from lake_spec.model.table_parts import Storage
from lake_spec.state.report import LayerSize, Maintained
from lake_spec.state.table_profile import ColumnProfile, TableProfile
from tests.unit.lake_site.lakes import (
    ENVIRONMENT,
    NOW,
    domain,
    facts,
    feed,
    report,
    summary,
)

DAYS = 24
RULES = (
    Rule(column="city", matches="[A-Z].*"),
    Rule(column="full_name", not_null=True),
    Rule(column="date_of_birth", not_null=True, on_fail=OnFail.WARN),
)


def files() -> Files:
    """Return all files of the sample's site."""
    found = sample()
    pages = domain_files(found, ENVIRONMENT)
    catalogue = json.loads(pages["domains/shop/catalogue.json"])
    return {**pages, **overall_files([catalogue], NOW, environment="test")}


def sample() -> DomainFacts:
    """Return a shop whose orders failed today and whose prices are late."""
    spec = domain()
    kind = TableType.MERGE_ON_READ
    published = Storage(type=kind, readable_as=(ReadableAs.ICEBERG,))
    customer, *others = (replace(table, storage=published) for table in spec.tables)
    tables = (
        replace(customer, quality=RULES),
        *others,
        feed("orders"),
        feed("prices"),
    )
    found = facts(replace(spec, tables=tables), *_summaries(random.Random(7)))
    return replace(found, profiles={"customer": _profile()})


def _profile() -> TableProfile:
    """Return what the customers' columns have: of persons only counts."""
    rows = 5000
    cities = ("Berlin", "Hamburg", "München", "Köln", "Ulm")
    parts = (12, 20, 31, 44, 60, 82, 104, 131, 160, 190)
    columns = (
        ColumnProfile("customer_id", "bigint", 0, rows, counts_only=True),
        ColumnProfile("full_name", "string", 3, 4710, counts_only=True),
        ColumnProfile("date_of_birth", "date", 212, 3961, counts_only=True),
        ColumnProfile(
            *("city", "string", 41, 318),
            min="Aachen",
            max="Zwickau",
            min_length=3,
            max_length=24,
            top=tuple((city, 1250 >> i) for i, city in enumerate(cities)),
        ),
        ColumnProfile(
            *("updated_at", "timestamp", 0, 4876),
            min="2024-01-02 07:30:00",
            max="2026-11-26 09:58:12",
            histogram=(*parts, *(each + 200 for each in parts)),
        ),
    )
    at = (NOW - timedelta(days=2)).isoformat()
    return TableProfile(
        "shop", "customer", "shop_maintenance/a", at, "1", rows, columns
    )


def _summaries(seeded: random.Random) -> list[dict[str, Any]]:
    found = []
    for ago in range(DAYS):
        names = ["customer", "address", "customer_with_address", "orders"]
        run = summary(
            NOW - timedelta(days=ago, hours=1), *names, *["prices"] * (ago > 2)
        )
        for stages in run["tables"].values():
            rows, bad = seeded.randint(900, 5200), seeded.choice([0, 0, 0, 3, 41])
            stages["incremental"].update(
                rows_in=rows, accepted=rows - bad, quarantined=bad, seconds=rows / 150
            )
            stages["scd2"].update(versions_opened=rows * 4 // 5, seconds=rows / 210)
            _show_bad_rows(seeded, stages["incremental"])
        del run["tables"]["customer_with_address"]["incremental"]
        found.append(run)
    _fail(found[0])
    return [*found, *map(_maintenance, range(2, DAYS, 7))]


def _show_bad_rows(seeded: random.Random, report: dict[str, Any]) -> None:
    bad = report["quarantined"]
    towns = ("ulm", "köln", "berlin", "graz")
    broken = [rule.broken for rule in RULES]
    report["rules"] = dict(
        zip(broken, (bad - bad // 4, bad // 4, seeded.randint(0, 9)))
    )
    report["samples"] = [
        {
            "path": f"shop/{report['table']}/changes/1.csv",
            "record": 17 + 11 * n,
            "reason": f"quality: {broken[n % 4 == 3]}",
            "row": json.dumps({"customer_id": 4711 + n, "city": towns[n % 4]}),
        }
        for n in range(min(bad, 4))
    ]


def _maintenance(ago: int) -> dict[str, Any]:
    """A run that compacted and cleaned current and history of the customers."""
    began = NOW - timedelta(days=ago, hours=8)
    name = began.strftime("manual__%Y-%m-%dT%H-%M")
    layers = [
        Maintained(
            layer,
            ["compaction", "cleaning"],
            LayerSize(16 + logs, logs, size + 90_000 * logs, 130, 5 * size),
            LayerSize(16, 0, size, 80, 3 * size),
        )
        for layer, logs, size in (
            ("current", 26 - ago, 41_300_000),
            ("history", 30 - ago, 96_800_000),
        )
    ]
    done = report("customer", "maintenance", began, maintained=layers)
    run = {**summary(began), "run": f"shop_maintenance/{name}"}
    return {**run, "tables": {"customer": {"maintenance": done}}}


def _fail(run: dict[str, Any]) -> None:
    error = {"type": "BadRecord", "message": "'1O7' is no bigint"}
    report = run["tables"]["orders"]["incremental"]
    report.update(state="failed", error=error, accepted=0)
    run["tables"]["orders"].pop("scd2")
    cause = "shop.orders incremental: BadRecord: '1O7' is no bigint"
    run.update(state="failed", causes=[cause])
    address = run["tables"]["address"]["incremental"]
    address["warnings"] = [
        "missing-column: 'street' is missing in 1 file: 12 rows have null"
    ]


if __name__ == "__main__":
    write(FolderStore(Path(sys.argv[1])), files())
