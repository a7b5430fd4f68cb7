"""Writes the pages of the lake that a run changed."""

from __future__ import annotations

import logging
from datetime import datetime, timezone
from pathlib import Path

from airflow.providers.amazon.aws.hooks.s3 import S3Hook

from lake_airflow.planning.plan import DagPlan
from lake_airflow.settings import read_settings
from lake_check.parsing.loader import load_domain
from lake_check.parsing.product_plans import Plans, planned
from lake_site.collect import facts_of, write_run
from lake_site.store import S3Store
from lake_spec.diagnostics.errors import LakeError
from lake_spec.facts.product_inputs import reads_of
from lake_spec.layout.site_pages import site_folder
from lake_spec.layout.stage_tables import ERASE
from lake_spec.lineage.sensitivity import ColumnSensitivity
from lake_spec.model import DomainSpec, EnvironmentSpec

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

    The specs are those of the DAGs folder, as they are now, with the plans of their
    products.
    """
    settings = read_settings()
    spec, *others = _domains(
        plan.domain, settings.tables, settings.plans(), environment
    )
    client = S3Hook(aws_conn_id=aws_conn_id, region_name=environment.region).conn
    facts = facts_of(
        spec,
        environment,
        S3Store(client, environment.runs),
        now=datetime.now(timezone.utc),
        sensitivity=ColumnSensitivity(
            t for each in (spec, *others) for t in each.tables
        ),
        run=run_name,
    )
    site = S3Store(client, site_folder(environment.runs))
    is_erase = plan.kind == ERASE
    return write_run(facts, environment, site, run=run_name, whole=is_erase)


def _domains(
    name: str, tables: Path, plans: Plans, environment: EnvironmentSpec
) -> list[DomainSpec]:
    """List a domain, then those of the tables that its products read, and so on.

    A domain with mistakes is left out: its columns count as personal.
    """
    found = {name: planned(load_domain(name, tables, environment), plans)}
    waiting = list(found.values())
    while waiting:
        reads = (table for each in waiting.pop().tables for table in reads_of(each))
        for other in {each.partition(".")[0] for each in reads} - set(found):
            try:
                found[other] = planned(load_domain(other, tables, environment), plans)
            except LakeError as error:
                log.warning("no specs of %s for the pages: %s", other, error)
            else:
                waiting.append(found[other])
    return list(found.values())
