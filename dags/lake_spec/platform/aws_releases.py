"""Facts of EMR releases and MWAA versions: what of ours relies on what of AWS's.

Read in AWS's release notes and images in November 2026; nothing was run on AWS. Rules,
the emulator and docs/reference/aws-releases.md are made from these tables.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Dict, Optional, Tuple

UNCONFIRMED = "not confirmed"
"""Stands for a version that no source of ours names exactly."""


@dataclass(frozen=True)
class EmrRelease:
    """What the nodes of an EMR release carry."""

    label: str
    spark: str
    hudi: str
    delta: str
    iceberg: str = UNCONFIRMED
    python: Tuple[str, ...] = ("3.9", "3.11")
    """The first one is `python3`, which runs our steps."""
    scala: str = "2.12"
    hudi_jars: str = "/usr/lib/hudi"
    connector_jars: str = "/usr/lib/spark/connector/lib"
    iceberg_jar: str = "/usr/share/aws/iceberg/lib/iceberg-spark3-runtime.jar"
    delta_jars: str = "/usr/share/aws/delta/lib"
    log_buckets: Tuple[str, ...] = (
        "aws157-logs-prod",
        "aws157-logs-prod-{region}",
        "prod.{region}.appinfo.src",
    )
    """Buckets of AWS's that the nodes write to: an endpoint's policy must let them."""
    supported: Tuple[str, ...] = ("engine: pyspark",)
    experimental: Tuple[str, ...] = ("engine: streamer",)
    """What no acceptance run has tried on this release."""
    support_ends: str = UNCONFIRMED
    """The day on which AWS's standard support ends."""

    @property
    def avro_jar(self) -> str:
        """Spark's reader of Avro files."""
        return f"{self.connector_jars}/spark-avro.jar"


_EMR = (
    EmrRelease("emr-7.11.0", "3.5.6", "1.0.2-amzn-0", "3.3.2-amzn-0"),
    EmrRelease("emr-7.12.0", "3.5.6-amzn-1", "1.0.2-amzn-1", "3.3.2-amzn-1"),
    EmrRelease(
        "emr-7.13.0",
        "3.5.6-amzn-2",
        "1.0.2-amzn-2",
        "3.3.2-amzn-2",
        support_ends="2028-04-21",
    ),
    EmrRelease(
        "emr-7.14.0",
        UNCONFIRMED,
        UNCONFIRMED,
        "3.3.2-amzn-3",
        supported=(),
        experimental=("engine: pyspark", "engine: streamer"),
        support_ends="2028-09-08",
    ),
)
EMR_RELEASES: Dict[str, EmrRelease] = {each.label: each for each in _EMR}

_EMR_7 = re.compile(r"emr-7\.(\d{1,2})\.\d{1,2}", re.ASCII)


def why_not(label: str) -> Optional[str]:
    """Return why clusters cannot have this release, and what to write; None if they can."""
    if label in EMR_RELEASES:
        return None
    choices = f"Choose one of: {', '.join(EMR_RELEASES)}."
    if label.startswith("emr-spark-8"):
        return (
            "EMR Spark 8 has Spark 4, whose ANSI SQL makes casts fail that give null "
            "here, and Hudi 1.1, which raises tables to version 9: the jobs are built "
            f"for neither. {choices}"
        )
    found = _EMR_7.fullmatch(label)
    if found and int(found[1]) >= 11:
        return (
            "Its versions are not known here: add it to "
            f"dags/lake_spec/platform/aws_releases.py by its release notes. {choices}"
        )
    return f"Releases before emr-7.11.0 lack Hudi 1.0.2. {choices}"


@dataclass(frozen=True)
class MwaaVersion:
    """What an image of MWAA carries."""

    airflow: str
    amazon_provider: str
    boto3: str
    tested: bool
    """True if the DAGs are tested with the packages of its image."""
    python: str = "3.12"


_MWAA = (
    MwaaVersion("3.0.6", "9.12.0", "1.39.11", tested=True),
    MwaaVersion("3.2.1", "9.25.0", "1.42.84", tested=True),
    MwaaVersion("3.3.1", "9.34.0", "1.43.56", tested=True),
)
MWAA_VERSIONS: Dict[str, MwaaVersion] = {each.airflow: each for each in _MWAA}

MWAA_ENDPOINTS = (
    "s3",
    "monitoring",
    "logs",
    "sqs",
    "kms",
    "airflow.api",
    "airflow.env",
    "airflow.ops",
)
"""Services that AWS lists for an MWAA without internet access."""

STEP_ENDPOINTS = ("s3", "glue", "sts", "elasticmapreduce", "ssm", "secretsmanager")
"""Services that clusters and steps call; the last two where a spec names a secret."""
