"""What an erase removes from the folders of earlier runs, and what it leaves."""

from __future__ import annotations

from types import SimpleNamespace

from lake_spark.erasure.reports import redact
from lake_spark.erasure.subjects import Subjects
from lake_spark.storage.object_store import FolderStore

REPORT = '{"warnings": ["key K-1234567 is bad"], "upserted": 1}'


def test_only_temporary_folders_of_stages_are_removed(tmp_path):
    """A run, or a table, may have the name of such a folder."""
    runs = tmp_path / "runs" / "tests_incremental"
    reports = [runs / "published/scd2/things.json", runs / "1/scd2/published.json"]
    left = runs / "1/scd2/published/things/current/part-0"
    for file in (*reports, left):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(REPORT)
    run = SimpleNamespace(
        store=FolderStore(),
        environment=SimpleNamespace(runs=f"file://{tmp_path}/runs"),
        report=SimpleNamespace(run="tests_erase/2"),
        spec=SimpleNamespace(domain="tests"),
    )
    redact(run, Subjects(("K-1234567",), (("K-1234567",),)))
    assert not left.exists()
    assert ["K-1234567" in file.read_text() for file in reports] == [False, False]
