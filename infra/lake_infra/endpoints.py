"""The services of AWS that an environment's network needs endpoints of."""

from __future__ import annotations

from typing import Iterable, List

from lake_infra.runtime_role import secret_services
from lake_spec.model import DomainSpec, EnvironmentSpec
from lake_spec.platform.aws_releases import MWAA_ENDPOINTS

AIRFLOW = tuple(each for each in MWAA_ENDPOINTS if each != "s3")
"""What an MWAA without internet access needs, next to the gateway of S3."""

CALLED = ("elasticmapreduce", "glue", "sns", "sts")
"""What the DAGs and the steps of every environment call."""


def endpoint_services(
    environment: EnvironmentSpec, domains: Iterable[DomainSpec]
) -> List[str]:
    """Return the services that the environment's DAGs and steps reach by endpoints."""
    return sorted([*AIRFLOW, *CALLED, *secret_services(environment, domains)])
