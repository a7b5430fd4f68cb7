"""The commands of docs/disaster-recovery.md bring back what was deleted, on the emulator.

They run as the page has them, in bash; `aws` is a stand-in of the calls that they make.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from datetime import datetime, timezone
from pathlib import Path

import boto3
import pytest

from tests.acceptance.emulator import emulator

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "disaster-recovery.md").read_text("utf-8")
SECTION = PAGE.split("\n## Get back what was deleted\n")[1].split("\n## ")[0]
(COMMANDS,) = re.findall(r"```bash\n(.*?)```", SECTION, re.DOTALL)
AWS = f"""#!{sys.executable}
import sys
import boto3, jmespath

service, command, *words = sys.argv[1:]
told = dict(zip(words[::2], words[1::2]))
s3 = boto3.client("s3", region_name="eu-central-1")
where = {{"Bucket": told["--bucket"]}}
if command == "list-object-versions":
    assert told["--output"] == "text"
    paginator = s3.get_paginator("list_object_versions")
    for page in paginator.paginate(Prefix=told["--prefix"], **where):
        for each in [*page.get("Versions", ()), *page.get("DeleteMarkers", ())]:
            each["LastModified"] = each["LastModified"].isoformat()
        for row in jmespath.search(told["--query"], page) or [["None"]]:
            print(*row, sep="\\t")
elif command == "delete-object":
    s3.delete_object(Key=told["--key"], VersionId=told["--version-id"], **where)
else:
    sys.exit(f"aws {{command}}: not known here")
"""
TABLE = "tables/shop/orders"
FILES = [
    f"{TABLE}/changes/.hoodie/hoodie.properties",
    f"{TABLE}/changes/.hoodie/timeline/20261127_20261127.commit",
    f"{TABLE}/changes/region=a b/f1_1-0_20261127.parquet",
    f"{TABLE}/changes/metadata/v1.metadata.json",
    f"{TABLE}/current/f2_1-0_20261127.parquet",
]
CLEANED = f"{TABLE}/changes/f1_1-0_20261126.parquet"
OTHER = "tables/shop/shops/changes/f3_1-0_20261127.parquet"


@pytest.fixture
def s3(tmp_path):
    with emulator(tmp_path):
        client = boto3.Session(region_name="eu-central-1").client("s3")
        versioning = {"Status": "Enabled"}
        client.put_bucket_versioning(Bucket="lake", VersioningConfiguration=versioning)
        yield client


def objects(s3) -> dict:
    listed = s3.list_objects_v2(Bucket="lake", Prefix="tables/").get("Contents", ())
    return {
        each["Key"]: s3.get_object(Bucket="lake", Key=each["Key"])["Body"].read()
        for each in listed
    }


def put(s3, key: str, body: bytes = b"as it was") -> None:
    s3.put_object(Bucket="lake", Key=key, Body=body)


def run(tmp_path, since: str, folder: str) -> str:
    """Run the page's commands for this table and time; what they print."""
    stand_in = tmp_path / "bin" / "aws"
    stand_in.parent.mkdir(exist_ok=True)
    stand_in.write_text(AWS)
    stand_in.chmod(0o755)
    lines = COMMANDS.split("\n")
    assert lines[0].startswith("export BUCKET=")
    lines[0] = f"export BUCKET=lake FOLDER={folder} SINCE={since}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", "\n".join(lines)],
        env={**os.environ, "PATH": f"{stand_in.parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def next_second() -> str:
    """Wait for the next one, for S3 lists no parts of seconds; its text."""
    time.sleep(1.0 - time.time() % 1 + 0.01)
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


@pytest.mark.parametrize("folder", [f"{TABLE}/", f"{TABLE}/changes/"])
def test_a_table_is_as_it_was_before_the_loss(s3, tmp_path, folder):
    for key in (CLEANED, *FILES, OTHER):
        put(s3, key, b"before a commit")
        put(s3, key)
    s3.delete_object(Bucket="lake", Key=CLEANED)
    before = objects(s3)
    assert CLEANED not in before and len(before) == 6
    since = next_second()
    put(s3, FILES[0], b"of another engine")
    put(s3, f"{TABLE}/changes/part-0.parquet", b"of another engine")
    for key in objects(s3):
        s3.delete_object(Bucket="lake", Key=key)
    put(s3, FILES[1], b"of a later run")
    put(s3, FILES[1], b"of the one after it")

    told = run(tmp_path, since, folder)

    assert objects(s3) == {k: v for k, v in before.items() if k.startswith(folder)}
    assert f"{FILES[2]}\t" in told and OTHER not in told and CLEANED not in told
