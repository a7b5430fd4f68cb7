"""What an acceptance run is about: an environment, with a prefix of its own in each root."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional

import boto3

from lake_airflow.planning.plan import DagPlan, plan
from lake_airflow.runs.run import Run
from lake_check.parsing.loader import load_cluster, load_environment, load_lake
from lake_infra.resource_names import Root
from lake_spec.model import ClusterSpec, DomainSpec, EnvironmentSpec, ReadableAs
from lake_spec.model.instances import InstanceGroups, TaskGroup

PROJECT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
DOMAIN = "lake_acceptance"
PREFIX = "lake-acceptance"
"""Below each root of the environment; nothing is written anywhere else.

In the bucket of tables it is next to the root: whoever runs this may delete there, and
nobody may below the root.
"""

ROOTS = ("landing", "warehouse", "artifacts", "runs", "logs")
DATABASES = (DOMAIN, *(kind.database_of(DOMAIN) for kind in ReadableAs))
"""Databases of the run in Glue."""
FULL_LOAD, INCREMENTAL = f"{DOMAIN}_full_load", f"{DOMAIN}_incremental"


@dataclass
class Subject:
    """The environment under test, and what the run made of it so far."""

    deployed: EnvironmentSpec
    environment: EnvironmentSpec
    """The same, with its roots below the prefix, and the role of the acceptance domain."""
    domain: DomainSpec
    cluster: ClusterSpec
    emulated: bool
    say: Callable[[str], None]
    release: str = ""
    sha256: str = ""
    """SHA-256 of the release's files, as its steps are told."""
    cluster_id: str = ""
    tokens: Dict[str, int] = field(default_factory=dict)
    """Tokens of the lease, by the name of the run that holds it."""
    facts: Dict[str, Dict[str, Any]] = field(default_factory=dict)
    reports: List[Dict[str, Any]] = field(default_factory=list)
    session: boto3.Session = field(default_factory=boto3.Session)
    clients: Dict[str, Any] = field(default_factory=dict)
    key: str = field(default_factory=lambda: f"acceptance-{secrets.token_hex(4)}")

    def client(self, service: str) -> Any:
        """Return a client of a service in the environment's region."""
        if service not in self.clients:
            region = self.environment.region
            self.clients[service] = self.session.client(service, region_name=region)
        return self.clients[service]

    def plan(self, dag_id: str) -> DagPlan:
        """Return the plan of a DAG of the acceptance domain."""
        return next(each for each in plan(self.domain) if each.dag_id == dag_id)

    def run(self, dag_id: str) -> Run:
        """Return the run of a DAG in this acceptance run, with its token if granted."""
        tables = self.plan(dag_id).tables
        run = Run(
            dag_id=dag_id,
            key=self.key,
            release=self.release,
            tables=tables,
            sha256=self.sha256,
            run_id=self.key,
        )
        return replace(run, token=self.tokens.get(run.name, 0))

    @property
    def stack(self) -> str:
        """The name of the stack with the domain's role and database."""
        return f"lake-{self.deployed.name}-acceptance"


def load(
    environment: str,
    *,
    cluster: Optional[str],
    emulated: bool,
    say: Callable[[str], None],
    dags: Path = PROJECT / "dags",
) -> Subject:
    """Load the subject from the files of the checkout. Raises SpecErrors, NoSuchSpec."""
    deployed = load_environment(environment, dags / "environments")
    domain = load_lake(HERE / "tables", environment=deployed).domains[DOMAIN]
    chosen = cluster or deployed.cluster or domain.cluster
    return Subject(
        deployed,
        below_prefix(deployed),
        domain,
        with_spot(absolute_paths(load_cluster(chosen, dags / "clusters"), deployed)),
        emulated,
        say,
    )


def below_prefix(deployed: EnvironmentSpec) -> EnvironmentSpec:
    """Return the environment with each root below the prefix, and a role of its own."""
    roots: dict[str, Any] = {
        name: f"{getattr(deployed, name)}/{PREFIX}" for name in ROOTS
    }
    roots["warehouse"] = f"s3://{Root.of(deployed.warehouse).bucket}/{PREFIX}"
    known = [*dict(deployed.runtime_roles).values(), deployed.runtime_role]
    arns = [arn for arn in known if arn]
    if not arns:  # steps run as the instance profile's role
        return replace(deployed, **roots)
    account = arns[0].split(":role", 1)[0]
    role = f"{account}:role{deployed.role_path}lake-{deployed.name}-acceptance"
    return replace(deployed, **roots, runtime_roles=((DOMAIN, role),))


def absolute_paths(cluster: ClusterSpec, deployed: EnvironmentSpec) -> ClusterSpec:
    """Return the cluster with paths of scripts that hold below any root."""
    actions = tuple(
        (
            each
            if each.path.startswith("s3://")
            else replace(each, path=f"{deployed.artifacts}/{each.path}")
        )
        for each in cluster.bootstrap_actions
    )
    return replace(cluster, bootstrap_actions=actions)


def with_spot(cluster: ClusterSpec) -> ClusterSpec:
    """Return the cluster with one task node on Spot, where it has groups and none."""
    nodes = cluster.instances
    if not isinstance(nodes, InstanceGroups) or nodes.task:
        return cluster
    return replace(cluster, instances=replace(nodes, task=TaskGroup()))
