"""The rights of a reader that docs/readers.md writes out: they read, and change nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from lake_emulator.policies.evaluator import Asked, Policies

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "readers.md").read_text("utf-8")
SECTION = PAGE.split("\n### Rights of a reader\n")[1].split("\n## ")[0]
(WRITTEN,) = re.findall(r"```json\n(.*?)```", SECTION, re.DOTALL)
TABLES = "lake-prod-warehouse-111122223333/tables/moma/artists/current"
GLUE = "arn:aws:glue:eu-central-1:111122223333"


@pytest.fixture(scope="module")
def account():
    document = json.loads(WRITTEN)
    for number, each in enumerate(document["Statement"]):
        each["Sid"] = str(number)
    return Policies.of(
        {
            "account": "111122223333",
            "region": "eu-central-1",
            "airflow": "",
            "roles": {"reader": [document]},
            **{"resources": {}, "endpoints": {}, "encryption": {}},
        }
    )


@pytest.mark.parametrize(
    "action, arn, context",
    [
        ("s3:GetObject", f"arn:aws:s3:::{TABLES}/f.parquet", {}),
        (
            "s3:ListBucket",
            f"arn:aws:s3:::{TABLES.split('/')[0]}",
            {"s3:prefix": "tables/moma/artists/"},
        ),
        ("glue:GetTable", f"{GLUE}:table/moma_iceberg/artists", {}),
        ("glue:GetTables", f"{GLUE}:database/moma_iceberg", {}),
        ("glue:GetPartitions", f"{GLUE}:catalog", {}),
    ],
)
def test_it_reads(account, action, arn, context):
    assert account.decide("reader", Asked.of(action, arn, context)).is_allowed


@pytest.mark.parametrize(
    "action, arn",
    [
        *(
            (f"s3:{action}", f"arn:aws:s3:::{TABLES}/f.parquet")
            for action in ("PutObject", "DeleteObject", "DeleteObjectVersion")
        ),
        *(
            (f"glue:{action}", f"{GLUE}:table/moma_iceberg/artists")
            for action in (
                *("CreateTable", "UpdateTable", "DeleteTable", "BatchDeleteTable"),
                *("CreateTableOptimizer", "UpdateTableOptimizer", "DeletePartition"),
            )
        ),
        ("s3:GetObject", "arn:aws:s3:::lake-prod-warehouse-111122223333/tables/b/f"),
        ("glue:GetTable", f"{GLUE}:table/moma/artists"),
    ],
)
def test_it_changes_nothing_and_reads_nothing_else(account, action, arn):
    assert not account.decide("reader", Asked.of(action, arn)).is_allowed
