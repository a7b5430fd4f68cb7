"""The buckets of the environment prod in moto's S3, and what MWAA copies of them."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Any

import boto3

REGION = "eu-central-1"
BUCKET = "lake-prod-airflow-111122223333"
WORK_BUCKET = "lake-prod-work-111122223333"
POINTER, LOADER = "dags/current.json", "dags/lake_current.py"
IGNORE = "dags/.airflowignore"


@lru_cache(maxsize=None)
def client() -> Any:
    """One client for all tests: making one takes longer than a deploy's calls."""
    return boto3.client("s3", region_name=REGION)


def made_buckets() -> Any:
    """A client of S3 with the buckets that a release goes to."""
    s3 = client()
    place = {"LocationConstraint": REGION}
    for bucket in (BUCKET, WORK_BUCKET):
        s3.create_bucket(Bucket=bucket, CreateBucketConfiguration=place)
    return s3


def copy(s3: Any, folder: Path) -> None:
    """Bring a folder to what is below dags/ in the bucket of Airflow."""
    gone = {file for file in folder.rglob("*") if file.is_file()}
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix="dags/")
    for each in (each for page in pages for each in page.get("Contents", ())):
        file = folder / each["Key"][len("dags/") :]
        gone.discard(file)
        if not file.exists() or etag(file) != each["ETag"]:
            file.parent.mkdir(parents=True, exist_ok=True)
            body = s3.get_object(Bucket=BUCKET, Key=each["Key"])["Body"]
            file.write_bytes(body.read())
    for file in gone:
        file.unlink()


def etag(file: Path) -> str:
    """What S3 says of an object that was put in one piece."""
    return f'"{hashlib.md5(file.read_bytes()).hexdigest()}"'
