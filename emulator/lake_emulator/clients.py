"""Clients of the emulator."""

from __future__ import annotations

from typing import Any

from lake_emulator.keys import KEY_ID

DEFAULT_REGION = "eu-central-1"


def client(
    service: str,
    endpoint: str,
    *,
    secret: str,
    region: str = DEFAULT_REGION,
    **config: Any,
) -> Any:
    """Return a boto3 client of the emulator at `endpoint` (http://127.0.0.1:PORT).

    `config` goes to botocore's Config.
    """
    import boto3
    from botocore.config import Config

    return boto3.client(
        service,
        endpoint_url=endpoint,
        region_name=region,
        aws_access_key_id=KEY_ID,
        aws_secret_access_key=secret,
        config=Config(
            s3={"addressing_style": "path"},
            max_pool_connections=32,
            proxies={},
            **config,
        ),
    )
