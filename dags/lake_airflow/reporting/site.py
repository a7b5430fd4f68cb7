"""Writes the pages of the lake that a run changed."""

from __future__ import annotations

from datetime import datetime, timezone

from airflow.providers.amazon.aws.hooks.s3 import S3Hook

from lake_airflow.planning.plan import DagPlan
from lake_airflow.settings import read_settings
from lake_site.collect import facts_of, write_run
from lake_site.store import S3Store
from lake_spec.contract.run_options import ERASE
from lake_spec.contract.site_pages import site_folder
from lake_spec.model import EnvironmentSpec
from lake_spec.parsing.loader import load_domain


def write_site(
    plan: DagPlan,
    environment: EnvironmentSpec,
    run_name: str,
    *,
    aws_conn_id: str | None,
) -> int:
    """Write the pages that a run changed, and return their number.

    An erase changes what earlier runs reported: all pages of the domain are written.

    The specs are those of the DAGs folder, as they are now.
    """
    spec = load_domain(plan.domain, read_settings().tables)
    client = S3Hook(aws_conn_id=aws_conn_id, region_name=environment.region).conn
    facts = facts_of(
        spec,
        environment,
        S3Store(client, environment.runs),
        now=datetime.now(timezone.utc),
    )
    site = S3Store(client, site_folder(environment.runs))
    is_erase = plan.kind == ERASE
    return write_run(facts, environment, site, run=run_name, whole=is_erase)
