"""The way to S3 where landing files lie in buckets of other accounts.

The endpoint of S3 lets nodes reach buckets of this account alone, so that no data leaves.
To landing roots it adds a way to read: just the buckets that the environment names.
"""

from __future__ import annotations

from typing import Any, Dict

from lake_infra.resource_names import Root
from lake_infra.statements import allow, bucket, in_bucket
from lake_spec.model import EnvironmentSpec


def open_endpoint(network: Dict[str, Any], environment: EnvironmentSpec) -> None:
    """Add to the layer network's endpoint what reads the landing roots."""
    roots = [Root.of(root.uri) for _, root in environment.landing_roots]
    if not roots:
        return
    found = sorted({(each.bucket, each.prefix) for each in roots})
    names = sorted({name for name, _ in found})
    endpoint = network["Resources"]["S3Endpoint"]["Properties"]
    endpoint["PolicyDocument"]["Statement"] += [
        {
            **allow(
                "LandingRoots",
                ["s3:GetObject"],
                [in_bucket(f"{name}/{prefix}*") for name, prefix in found],
            ),
            "Principal": "*",
        },
        {
            **allow(
                "ListLandingRoots",
                ["s3:ListBucket"],
                [bucket(Root(name, "")) for name in names],
            ),
            "Principal": "*",
        },
    ]
