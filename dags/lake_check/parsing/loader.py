"""Specs from their folders: the way in for everything that needs them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Dict, List, Optional, Tuple, Type, TypeVar

from lake_check.messages.parsing_ids import ParsingId
from lake_check.parsing.compiled_domains import read_compiled
from lake_check.parsing.discovery import (
    DOMAIN_FILE,
    ENDING,
    Survey,
    read_document,
    read_spec,
    survey_domain,
    survey_folder,
    survey_tables,
)
from lake_check.rules.connections import (
    connections_are_of_the_domains,
    connections_fit_pulls,
)
from lake_check.rules.continuous import cluster_outlasts_continuous_run
from lake_check.rules.domain import cluster_outlasts_stage
from lake_check.rules.environment import environments_share_no_catalogue
from lake_check.rules.landing_folders import landing_roots_have_tables
from lake_check.rules.readers import grants_name_tables, readers_name_what_exists
from lake_spec.diagnostics.diagnostic import Path as KeyPath, Problem
from lake_spec.diagnostics.errors import NoSuchFile, NoSuchSpec
from lake_spec.diagnostics.suggestions import did_you_mean
from lake_spec.facts.environment_defaults import with_environment_defaults
from lake_spec.layout.dag_names import DAG_KINDS
from lake_spec.model import ClusterSpec, DomainSpec, EnvironmentSpec, TableSpec
from lake_spec.model.continuous import CONTINUOUS

T = TypeVar("T")


@dataclass(frozen=True)
class Lake:
    """Every domain with its tables, and the clusters they run on, by name."""

    domains: Dict[str, DomainSpec]
    clusters: Dict[str, ClusterSpec] = field(default_factory=dict)


def load_lake(
    tables: Path,
    *,
    clusters: Optional[Path] = None,
    environment: Optional[EnvironmentSpec] = None,
) -> Lake:
    """Load all domains of a folder. Raises SpecErrors with the diagnostics of all
    files.

    Args:
        clusters: the folder of the clusters that domains name; if left out, they are not
            looked up.
        environment: where the domains are to run; if left out, settings that one gives
            are those of the specs alone.
    """
    survey = Survey()
    lake = _survey_lake(survey, Path(tables), clusters)
    survey.close()
    domains = {name: _in(environment, each) for name, each in lake.domains.items()}
    return replace(lake, domains=domains)


def load_domain(
    name: str, tables: Path, environment: Optional[EnvironmentSpec] = None
) -> DomainSpec:
    """Load one domain with its tables, from its compiled form if up to date.

    Raises NoSuchSpec for an unknown one, SpecErrors with the faults of its files.

    Args:
        environment: where the domain is to run, or is; as of `load_lake`.
    """
    tables = Path(tables)
    _require(name, "domain", domain_names(tables))
    compiled = read_compiled(tables, name)
    if compiled is not None:
        return _in(environment, compiled)
    survey = Survey()
    spec = survey_domain(survey, tables, name)
    survey.close()
    assert spec is not None  # else there were faults
    return _in(environment, spec)


def _in(environment: Optional[EnvironmentSpec], domain: DomainSpec) -> DomainSpec:
    return with_environment_defaults(domain, environment) if environment else domain


def load_table(
    full_name: str, tables: Path, environment: Optional[EnvironmentSpec] = None
) -> Tuple[DomainSpec, TableSpec]:
    """Load a table, `domain.table`, with its domain.

    Raises NoSuchSpec for an unknown one, SpecErrors with the faults of its domain's files.
    """
    name, _, table = full_name.partition(".")
    domain = load_domain(name, tables, environment)
    known = {each.name: each for each in domain.tables}
    if table not in known:
        raise NoSuchSpec("table", full_name, sorted(t.full_name for t in domain.tables))
    return domain, known[table]


def load_cluster(name: str, folder: Path) -> ClusterSpec:
    """Load one cluster. Raises NoSuchSpec or SpecErrors."""
    return _load_one(ClusterSpec, "cluster", name, Path(folder))


def load_environment(name: str, folder: Path) -> EnvironmentSpec:
    """Load one environment. Raises NoSuchSpec or SpecErrors."""
    return _load_one(EnvironmentSpec, "environment", name, Path(folder))


def environment_file(given: str, folder: Path) -> Path:
    """Return an environment's file: `given` is a path, or a name in the folder.

    Raises NoSuchFile for a file that is not there or has another ending.
    """
    if "/" not in given and not given.endswith((ENDING, ".yaml")):
        return Path(folder) / f"{given}{ENDING}"
    file = Path(given).expanduser().resolve()
    if file.suffix != ENDING or not file.is_file():
        raise NoSuchFile("environment", given, ENDING)
    return file


def survey_all(
    tables: Path,
    *,
    clusters: Optional[Path] = None,
    environments: Optional[Path] = None,
) -> Tuple[Lake, Survey]:
    """Return the specs as far as they could be read, and what was found in all files.

    What products read is checked by `lake_desk.products.plans.check`.
    """
    survey = Survey()
    lake = _survey_lake(survey, tables, clusters)
    if environments is not None:
        known = survey_folder(survey, EnvironmentSpec, environments)
        for name, environment in known.items():
            path = Path(environments) / f"{name}{ENDING}"
            named: Dict[KeyPath, Optional[str]] = {("cluster",): environment.cluster}
            _check_clusters(survey, path, named, clusters)
            _check_domains(survey, path, environment, domain_names(Path(tables)))
            _check_connections(survey, path, environment, lake)
            _check_hours(survey, path, environment, lake)
            for problem in environments_share_no_catalogue(environment, known.values()):
                _report(survey, path, problem)
    survey.judge_across()
    return lake, survey


def _survey_lake(survey: Survey, tables: Path, clusters: Optional[Path]) -> Lake:
    lake = Lake(survey_tables(survey, tables))
    for name, domain in lake.domains.items():
        files = [table for of, table in survey.names if of == name]
        for find in (readers_name_what_exists, grants_name_tables):
            for problem in find(domain, files):
                _report(survey, tables / name / DOMAIN_FILE, problem)
    if clusters is None:
        return lake
    known = survey_folder(survey, ClusterSpec, Path(clusters))
    for name, domain in lake.domains.items():
        named: Dict[KeyPath, Optional[str]] = {("cluster",): domain.cluster}
        for kind, each in vars(domain.clusters).items():
            named["clusters", kind] = each
        file = tables / name / DOMAIN_FILE
        _check_clusters(survey, file, named, clusters)
        cluster = known.get(domain.cluster_of(CONTINUOUS))
        for problem in (
            cluster_outlasts_continuous_run(domain, cluster) if cluster else ()
        ):
            _report(survey, file, problem)
        for each in sorted({domain.cluster_of(kind) for kind in DAG_KINDS}):
            cluster = known.get(each)
            for problem in cluster_outlasts_stage(domain, cluster) if cluster else ():
                _report(survey, file, problem)
    return Lake(lake.domains, known)


def _check_clusters(
    survey: Survey,
    file: Path,
    named: Dict[KeyPath, Optional[str]],
    clusters: Optional[Path],
) -> None:
    """Report clusters without a file; one with its own diagnostics has a file."""
    names = _file_names(Path(clusters)) if clusters else []
    for path, cluster in named.items():
        if cluster and clusters is not None and cluster not in names:
            hint = did_you_mean(cluster, names)
            hint = f"{hint}Clusters: {', '.join(names) or 'none'}."
            message = f"unknown cluster {cluster!r}"
            rule = ParsingId.UNKNOWN_CLUSTER.value
            _report(survey, file, Problem(path, cluster, message, hint, rule))


def _check_domains(
    survey: Survey, file: Path, environment: EnvironmentSpec, names: List[str]
) -> None:
    """Report misspelt domains; others may belong to another folder."""
    named: Dict[KeyPath, str] = {
        ("runtime_roles", name): name for name, _ in environment.runtime_roles
    }
    for connection, each in environment.connections:
        for position, name in enumerate(each.domains if each else ()):
            named["connections", connection, "domains", position] = name
    for root, at in environment.landing_roots:
        for position, name in enumerate(at.used_by if at else ()):
            named["landing_roots", root, "used_by", position] = name.partition(".")[0]
    for path, name in named.items():
        hint = did_you_mean(name, names)
        if hint and name not in names:
            message = f"unknown domain {name!r}"
            rule = ParsingId.UNKNOWN_DOMAIN.value
            problem = Problem(path, name, message, hint.strip(), rule)
            _report(survey, file, problem)


def _check_connections(
    survey: Survey, file: Path, environment: EnvironmentSpec, lake: Lake
) -> None:
    """Report connections that tables use and an environment with connections lacks, or
    has for other domains, and landing roots of tables that cannot lie there.

    One without any pulls nothing: runs of such tables there fail by name.
    """
    for problem in landing_roots_have_tables(environment, lake.domains.values()):
        _report(survey, file, problem)
    if environment.connections:
        for find in (connections_fit_pulls, connections_are_of_the_domains):
            for problem in find(environment, lake.domains.values()):
                _report(survey, file, problem)


def _check_hours(
    survey: Survey, file: Path, environment: EnvironmentSpec, lake: Lake
) -> None:
    """Report runs and stages that are too long for the environment's cluster."""
    cluster, path = lake.clusters.get(environment.cluster or ""), ("cluster",)
    if cluster is None:
        return
    for domain in lake.domains.values():
        for find in (cluster_outlasts_continuous_run, cluster_outlasts_stage):
            for problem in find(domain, cluster, path):
                _report(survey, file, problem)


def _report(survey: Survey, file: Path, problem: Problem) -> None:
    root = read_document(Survey(), file).root
    if root is not None:
        survey.add([root.diagnostic(problem)])


def _load_one(cls: Type[T], kind: str, name: str, folder: Path) -> T:
    _require(name, kind, _file_names(folder))
    survey = Survey()
    read = read_spec(survey, cls, folder / f"{name}{ENDING}", name=name)
    survey.close()
    assert read is not None  # else there were faults
    return read.spec


def _require(name: str, kind: str, names: List[str]) -> None:
    # Only names of files that are there ever become part of a path.
    if name not in names:
        raise NoSuchSpec(kind, name, names)


def _file_names(folder: Path) -> List[str]:
    return sorted(path.stem for path in folder.glob(f"*{ENDING}"))


def domain_names(tables: Path) -> List[str]:
    """List the domains of a folder: its folders without hidden ones and caches."""
    if not tables.is_dir():
        return []
    hidden = (".", "__")
    return sorted(
        path.name
        for path in tables.iterdir()
        if path.is_dir() and not path.name.startswith(hidden)
    )
