"""Writes the pages of the lake that a run changed."""

from __future__ import annotations

import logging
from datetime import datetime, timezone
from pathlib import Path

from airflow.providers.amazon.aws.hooks.s3 import S3Hook

from lake_airflow.planning.plan import DagPlan
from lake_airflow.settings import read_settings
from lake_site.collect import facts_of, write_run
from lake_site.store import S3Store
from lake_spec.contract.product_inputs import reads_of
from lake_spec.contract.run_options import ERASE
from lake_spec.contract.site_pages import site_folder
from lake_spec.diagnostics.errors import LakeError
from lake_spec.lineage.sensitivity import ColumnSensitivity
from lake_spec.model import DomainSpec, EnvironmentSpec, TableSpec
from lake_spec.parsing.loader import load_domain

log = logging.getLogger(__name__)


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
    tables = read_settings().tables
    spec = load_domain(plan.domain, tables)
    client = S3Hook(aws_conn_id=aws_conn_id, region_name=environment.region).conn
    facts = facts_of(
        spec,
        environment,
        S3Store(client, environment.runs),
        now=datetime.now(timezone.utc),
        sensitivity=ColumnSensitivity(_known_tables(spec, tables)),
    )
    site = S3Store(client, site_folder(environment.runs))
    is_erase = plan.kind == ERASE
    return write_run(facts, environment, site, run=run_name, whole=is_erase)


def _known_tables(domain: DomainSpec, tables: Path) -> list[TableSpec]:
    """List the tables of a domain, of those that its products read, and so on.

    A domain with mistakes is left out: its columns count as personal.
    """
    found = {domain.name: domain}
    waiting = [domain]
    while waiting:
        reads = (name for table in waiting.pop().tables for name in reads_of(table))
        for name in {each.partition(".")[0] for each in reads} - set(found):
            try:
                found[name] = load_domain(name, tables)
            except LakeError as error:
                log.warning("no specs of %s for the pages: %s", name, error)
            else:
                waiting.append(found[name])
    return [table for each in found.values() for table in each.tables]
