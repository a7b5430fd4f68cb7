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
from lake_spec.model import ReadableAs
from lake_spec.model.table_parts import Storage
from tests.unit.lake_site.lakes import ENVIRONMENT, NOW, domain, facts, feed, summary

DAYS = 24


def files() -> Files:
    """Return all files of the sample's site."""
    found = sample()
    pages = domain_files(found, ENVIRONMENT)
    catalogue = json.loads(pages["domains/shop/catalogue.json"])
    return {**pages, **overall_files([catalogue], NOW, environment="test")}


def sample() -> DomainFacts:
    """Return a shop whose orders failed today and whose prices are late."""
    spec = domain()
    published = Storage(readable_as=(ReadableAs.ICEBERG,))
    tables = (
        *(replace(table, storage=published) for table in spec.tables),
        feed("orders"),
        feed("prices"),
    )
    return facts(replace(spec, tables=tables), *_summaries(random.Random(7)))


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
        del run["tables"]["customer_with_address"]["incremental"]
        found.append(run)
    _fail(found[0])
    return found


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
