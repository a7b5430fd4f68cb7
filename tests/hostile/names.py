"""Names of the lake that is attacked, for every program that takes part."""

from __future__ import annotations

from typing import Dict

REGION = "eu-central-1"
ACCOUNT = "123456789012"
DOMAIN, TABLE = "tests", "things"
STEPS = "lake-hostile-steps"
READER, ADMINISTRATOR, UNGUARDED = "reader", "administrator", "unguarded"
"""A person with a reader's rights; one whose own policy allows all; and one whom no
policy of a role or a bucket is asked about."""

BUCKETS = LANDING, WAREHOUSE, WORK = "lake-landing", "lake-warehouse", "lake-work"
HOME = f"tables/{DOMAIN}/{TABLE}"
"""The folder of the table in the bucket of the warehouse."""

LAYERS = {
    "current": TABLE,
    "history": f"{TABLE}_history",
    "changes": f"{TABLE}_changes",
}
"""The layers with the names that they have in the catalogue."""

COLUMNS = ("id", "name", "place", "at", "valid_from", "valid_to", "is_current")
"""What is compared; other columns say when a run was."""


def addresses() -> Dict[str, str]:
    """Return the folder of Hudi's table for each layer."""
    return {each: f"s3://{WAREHOUSE}/{HOME}/{each}" for each in LAYERS}
