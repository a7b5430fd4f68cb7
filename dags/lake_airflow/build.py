"""From a domain's name to its DAGs: load, plan, render."""

from __future__ import annotations

from dataclasses import replace

from airflow.sdk import DAG
from lake_check.parsing.loader import load_cluster, load_domain, load_environment
from lake_spec.layout.release_files import sha256_argument

from lake_airflow.dag_builder import Renderer
from lake_airflow.operators.prove_release import proof
from lake_airflow.operators.reaper import reaper
from lake_airflow.planning.plan import plan
from lake_airflow.settings import DAGS, read_release, read_settings


def build_domain(name: str) -> dict[str, DAG]:
    """Build the DAGs of a domain, by their ids, for the globals of its DAG file.

    A mistake in the domain's files raises SpecErrors with all of them; where a
    DAG file lets it through, it is that file's import error in Airflow.
    """
    settings = read_settings()
    environment = load_environment(settings.environment, settings.environments)
    domain = load_domain(name, settings.tables, environment)
    release = read_release(settings.release_file)
    plans = [
        replace(each, cluster=environment.cluster or each.cluster)
        for each in plan(domain)
    ]
    renderers = {
        cluster: Renderer(
            domain,
            cluster=load_cluster(cluster, settings.clusters),
            environment=environment,
            release=release.id,
            sha256=sha256_argument(release.artifacts, name),
            poll_seconds=settings.poll_seconds,
        )
        for cluster in {each.cluster for each in plans}
    }
    return {each.dag_id: renderers[each.cluster].dag(each) for each in plans}


def build_reaper() -> dict[str, DAG]:
    """Build the DAG that terminates the environment's orphaned clusters, by its id."""
    settings = read_settings()
    dag = reaper(load_environment(settings.environment, settings.environments))
    return {dag.dag_id: dag}


def build_proof() -> dict[str, DAG]:
    """Build the DAG whose runs prove the release that this folder shows, by its id."""
    dag = proof(DAGS, read_release(read_settings().release_file).id)
    return {dag.dag_id: dag}
