"""Pages of more tables than most lakes have: how long they take, and how large they are."""

from __future__ import annotations

import json
import time
from datetime import timedelta

from lake_site import render
from lake_site.collect import whole_site
from lake_site.store import FolderStore

from tests.unit.lake_site.lakes import ENVIRONMENT, NOW, domain, feed, summary


def test_a_thousand_tables_take_at_most_20_seconds(tmp_path):
    tables = [feed(f"t{n:04}") for n in range(1000)]
    names = [table.name for table in tables]
    runs, run = FolderStore(tmp_path), summary(NOW, *names)
    text, today = json.dumps(run), str(NOW.date())
    for ago in range(10):
        day = str(NOW.date() - timedelta(days=ago))
        path = f"{run['run']}/summary.json".replace(today, day)
        runs.write(path, text.replace(today, day).encode())
    begin = time.process_time()
    found = whole_site([domain(*tables)], ENVIRONMENT, runs, now=NOW)
    assert time.process_time() - begin < 20
    assert next(render.largest(found))[1] < 300_000
    assert "domains/shop/tables/t0999.html" in found
