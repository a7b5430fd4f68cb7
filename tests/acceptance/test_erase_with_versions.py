"""An erase in a bucket that keeps versions, as a deployment's does, by the role of its steps.

Visit 1 is loaded, then changed; Hudi and the published formats replace and delete files
meanwhile, all of which the bucket keeps.
"""

from __future__ import annotations

import json

import pytest
from lake_acceptance import steps, storage
from lake_acceptance.__main__ import CHECKS, main
from lake_acceptance.check import Check
from lake_acceptance.subject import DOMAIN
from lake_infra.resource_names import Root

from tests.acceptance.emulator import emulator

pytestmark = pytest.mark.nightly
ERASE = f"{DOMAIN}_erase"


def keep_versions(subject) -> str:
    """Turn on the versions of the bucket of everything."""
    subject.client("s3").put_bucket_versioning(
        Bucket="lake", VersioningConfiguration={"Status": "Enabled"}
    )
    return "on"


def old_versions(subject, folder: str) -> list[str]:
    """The keys of old versions and of marks of deletes below a folder."""
    root = Root.of(folder)
    pages = subject.client("s3").get_paginator("list_object_versions")
    return [
        each["Key"]
        for page in pages.paginate(Bucket=root.bucket, Prefix=root.prefix)
        for kind in ("Versions", "DeleteMarkers")
        for each in page.get(kind, ())
        if kind == "DeleteMarkers" or not each["IsLatest"]
    ]


def erase(subject) -> str:
    """Erase a visit; of all that was its table's no old version may be left."""
    environment = subject.environment
    folders = [
        f"{root}/{DOMAIN}/visits"
        for root in (environment.warehouse, environment.landing)
    ]
    before = old_versions(subject, folders[0])
    others = old_versions(subject, f"{environment.warehouse}/{DOMAIN}/members")
    assert others
    for part in (".hoodie/", "/iceberg/current/metadata/"):
        assert any(part in key for key in before), part
    request = json.dumps({"keys": {"visits": [{"visit_id": 1}]}}).encode()
    place = f"{environment.runs}/erase/{DOMAIN}"
    storage.put(subject.client("s3"), place, "visit.json", request)
    steps.hand_lease_to(subject, ERASE)
    subject.reports.clear()
    steps.run_stages(subject, ERASE, request="visit")
    (report,) = (each for each in subject.reports if each["table"] == "visits")
    assert report["erasure"]["keys"] == 1 and report["erasure"]["landing"] == 3
    assert [old_versions(subject, folder) for folder in folders] == [[], []]
    assert others == old_versions(subject, f"{environment.warehouse}/{DOMAIN}/members")
    return f"{len(before)} old versions are gone"


def test_no_old_version_of_a_table_outlives_an_erase(tmp_path):
    names = [each.name for each in CHECKS]
    chosen = [
        Check("versions", "?", keep_versions),
        *CHECKS[: names.index("incremental") + 1],
        Check("erase", "?", erase, ("incremental",)),
        *(each for each in CHECKS if each.always),
    ]
    with emulator(tmp_path / "state"):
        code = main(["local", "--yes", "--report", str(tmp_path)], chosen)
    report = json.loads((tmp_path / "report.json").read_text())
    found = {each["name"]: each["evidence"] for each in report["checks"]}
    assert code == 0, found
    assert found["erase"].endswith("old versions are gone")
