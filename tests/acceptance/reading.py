"""Rows of published tables that entries of Glue lead to: a program of `.venv-readers`.

    python -m tests.acceptance.reading

Reads `visits` of the acceptance domain by pyiceberg through Glue's catalogue, and by
delta-rs at the place that Glue's entry names; prints the rows of each layer as JSON.
"""

from __future__ import annotations

import json
import os
from typing import Any, Dict, List

import boto3
from pyiceberg.catalog.glue import GlueCatalog

from lake_local.show.published import delta_rows, delta_table
from tests.readers.reading import texts

DOMAIN = "lake_acceptance"
TABLES = ("visits", "visits_history", "visits_changes")


def main() -> None:
    endpoint = os.environ["AWS_ENDPOINT_URL"]
    glue = boto3.client("glue")
    catalog = GlueCatalog(
        "emulator",
        client=glue,
        **{
            "s3.endpoint": endpoint,
            "s3.access-key-id": os.environ["AWS_ACCESS_KEY_ID"],
            "s3.secret-access-key": os.environ["AWS_SECRET_ACCESS_KEY"],
            "s3.region": os.environ["AWS_REGION"],
        },
    )
    found: Dict[str, Dict[str, List[str]]] = {}
    for name in TABLES:
        by_iceberg = catalog.load_table(f"{DOMAIN}_iceberg.{name}").scan().to_arrow()
        entry = glue.get_table(DatabaseName=f"{DOMAIN}_delta", Name=name)["Table"]
        place = entry["StorageDescriptor"]["Location"]
        by_delta = delta_rows(delta_table(place, endpoint), None)
        assert columns_of(entry) == sorted(by_delta.schema.names), name
        found[name] = {"iceberg": texts(by_iceberg), "delta": texts(by_delta)}
    print(json.dumps(found))


def columns_of(entry: Dict[str, Any]) -> List[str]:
    """The columns that Glue says a table has, partition keys too."""
    listed = [*entry["StorageDescriptor"]["Columns"], *entry["PartitionKeys"]]
    return sorted(each["Name"] for each in listed)


if __name__ == "__main__":
    main()
