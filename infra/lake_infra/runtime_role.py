"""The permissions of a runtime role: for the steps of its domains only."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Collection, Dict, Iterable, Iterator, List, Sequence, Set

from lake_infra.resource_names import Root
from lake_infra.statements import (
    Statement,
    allow,
    arn,
    bucket,
    in_bucket,
    listing,
    objects,
    old_versions,
    sub,
)
from lake_spec.facts.landing_folders import is_own, landing_folder, landing_root
from lake_spec.facts.product_inputs import read_by_products
from lake_spec.facts.pull_folders import pulls_of
from lake_spec.layout.dag_names import DAG_KINDS
from lake_spec.layout.glue_names import glue_names
from lake_spec.layout.release_files import CODE, MAIN, PACKAGES
from lake_spec.layout.run_files import (
    checks_file,
    checks_folder,
    lease_file,
    timings_file,
)
from lake_spec.layout.table_folders import table_path
from lake_spec.model import (
    Connection,
    DomainSpec,
    EnvironmentSpec,
    FileTable,
    TableSpec,
)
from lake_spec.model.choices import ReadableAs, SecretStore
from lake_spec.state.erase_request import ERASED
from lake_spec.state.table_profile import profile_file, profiles_folder

READ = ("s3:GetObject",)
WRITE = (
    "s3:AbortMultipartUpload",
    "s3:DeleteObject",
    "s3:GetObject",
    "s3:ListMultipartUploadParts",
    "s3:PutObject",
)
NOTE = ("s3:GetObject", "s3:PutObject")
ERASE = ("s3:DeleteObjectVersion", "s3:PutObject")
"""Actions of an erase on landing files, if the environment names its secret."""

GLUE = (
    "glue:BatchCreatePartition",
    "glue:BatchDeletePartition",
    "glue:BatchUpdatePartition",
    "glue:CreateDatabase",
    "glue:CreateTable",
    "glue:GetDatabase",
    "glue:GetPartitions",
    "glue:GetTable",
    "glue:UpdateTable",
)
OPTIMIZERS = (
    "glue:BatchGetTableOptimizer",
    "glue:CreateTableOptimizer",
    "glue:UpdateTableOptimizer",
)
"""Actions on what Glue would do by itself to tables published as Iceberg."""

DROPPED = ("glue:DeleteTable", "glue:GetTable")
"""Actions on tables in a format that a spec no longer names."""

RETIRED = ("glue:GetTable", "glue:UpdateTable")
"""Actions on the entries of names that tables had before."""

SERVICES = {SecretStore.SECRETS_MANAGER: "secretsmanager", SecretStore.SSM: "ssm"}
"""The service of each store of secrets."""

MOST_FOLDERS = 100
"""Of more tables in a domain their landing folders are not listed one by one: its role
reaches the landing folder of the domain."""


def role_statements(
    environment: EnvironmentSpec,
    domains: Sequence[DomainSpec],
    lake: Sequence[DomainSpec],
) -> List[Statement]:
    """Return all statements of the role of these domains; `lake` are all domains."""
    return [
        *_tables(Root.of(environment.warehouse), domains),
        *_erased_keys(environment, domains),
        *_runs(environment, domains),
        *_releases(Root.of(environment.artifacts), domains),
        _catalogue(domains),
        _formats(domains),
        *_former_names(domains),
        *_optimizers(domains),
        _key(environment, domains),
        *_erase(environment, domains),
        *_jars(environment),
        *_certificates(environment, domains),
        *_secrets(environment, domains),
        *_landing_files(environment, domains),
        *_inputs(environment, domains, lake),
    ]


def _landing_files(
    environment: EnvironmentSpec, domains: Sequence[DomainSpec]
) -> Iterator[Statement]:
    """Yield the statements on the landing files of all tables."""
    with_files = [t for d in domains for t in d.tables if isinstance(t, FileTable)]
    yield from _landing_roots(environment, with_files)
    tables = [t for t in with_files if landing_root(environment, t) is None]
    paths = [(t.source.path.strip("/"), t) for t in tables]
    pulled = {path for path, table in paths if pulls_of(table)}
    own = {path for path, table in paths if is_own(table)}
    read = own - pulled
    # What another domain grants is read, never written: that one erases from it.
    granted = {path for path, _ in paths} - own - pulled
    names = {domain.name for domain in domains}
    all_pulled = names - {path.partition("/")[0] for path in read}
    root = Root.of(environment.landing)
    erase = ERASE if environment.erase_secret else ()

    def folders(paths: Iterable[str]) -> List[str]:
        return [f"{root.prefix}{path}/*" for path in paths]

    files, others = folders(_few(read, names)), folders(sorted(granted))
    written = folders(_few(pulled, all_pulled))
    for sid, to, keys in (
        ("ReadLandingFiles", (*READ, *erase), files),
        ("ReadGrantedLandingFiles", READ, others),
        ("PullLandingFiles", (*WRITE, *erase[:1]), written),
    ):
        if keys:
            yield objects(sid, to, root, keys)
    found = sorted({*files, *others, *written})
    if found:
        yield listing("FindLandingFiles", root, found)
    if erase and (files or written):
        yield old_versions("FindOldLandingFiles", root, sorted({*files, *written}))


def _landing_roots(
    environment: EnvironmentSpec, tables: Sequence[FileTable]
) -> Iterator[Statement]:
    """Yield the statements on landing files of others: to read, below each folder."""
    folders: Dict[str, Set[str]] = {}
    keys = set()
    for table in tables:
        if (root := landing_root(environment, table)) is not None:
            place = Root.of(landing_folder(environment, table))
            folders.setdefault(place.bucket, set()).add(f"{place.prefix}*")
            keys.add(root.kms_key_id)
    for number, bucket_name in enumerate(sorted(folders), start=1):
        place, found = Root(bucket_name, ""), sorted(folders[bucket_name])
        yield objects(f"ReadLandingRoot{number}", READ, place, found)
        yield listing(f"FindLandingRoot{number}", place, found)
    if named := sorted(each for each in keys if each is not None):
        yield {
            **allow("KeysOfLandingRoots", ["kms:Decrypt"], named),
            "Condition": {
                "StringEquals": {
                    "kms:ViaService": [sub("s3.${AWS::Region}.amazonaws.com")]
                }
            },
        }


def _few(paths: Iterable[str], domains: Collection[str]) -> List[str]:
    """Return the folders; of one of these domains with many, that of the domain alone."""
    found: Dict[str, List[str]] = {}
    for path in sorted(paths):
        found.setdefault(path.partition("/")[0], []).append(path)
    return [
        path
        for domain, own in found.items()
        for path in ([domain] if domain in domains and len(own) > MOST_FOLDERS else own)
    ]


def _inputs(
    environment: EnvironmentSpec,
    domains: Sequence[DomainSpec],
    lake: Sequence[DomainSpec],
) -> Iterator[Statement]:
    """Yield the statements on tables of other domains that products of these read.

    Hadoop asks whether a folder is a file.
    """
    own = {domain.name for domain in domains}
    moved = {table.stored_as for table in _moved(domains)}
    tables = sorted({*read_by_products(domains, lake)} - moved)
    paths = [table_path(t) for t in tables if t.partition(".")[0] not in own]
    if paths:
        root = Root.of(environment.warehouse)
        folders = [f"{root.prefix}{path}{end}" for path in paths for end in ("", "/*")]
        yield objects("ReadTablesOfOthers", READ, root, folders)
        yield listing("FindTablesOfOthers", root, folders)


def _moved(domains: Sequence[DomainSpec]) -> List[TableSpec]:
    """Return the tables that are stored under the name of another domain."""
    own = {domain.name for domain in domains}
    tables = [table for domain in domains for table in domain.tables]
    return [table for table in tables if table.stored_domain not in own]


def folders_of_tables(domains: Sequence[DomainSpec]) -> List[str]:
    """List the folders below the warehouse that have tables of these domains."""
    moved = (table_path(table.stored_as) for table in _moved(domains))
    return [*(domain.name for domain in domains), *moved]


def _tables(root: Root, domains: Sequence[DomainSpec]) -> Iterator[Statement]:
    """Return statements on the folders of the domains.

    Hadoop asks whether a folder is a file, hence the names without a slash, and for
    the folder above it, which it lists one level deep.
    """
    folders = [
        f"{root.prefix}{name}{end}"
        for name in folders_of_tables(domains)
        for end in ("", "/*")
    ]
    yield objects("Tables", WRITE, root, folders)
    yield listing("FindTables", root, folders)
    if root.prefix:
        yield {
            "Sid": "FindTheirFolder",
            "Effect": "Allow",
            "Action": "s3:ListBucket",
            "Resource": bucket(root),
            "Condition": {
                "StringEquals": {"s3:prefix": root.prefix, "s3:delimiter": "/"}
            },
        }


def _erased_keys(
    environment: EnvironmentSpec, domains: Sequence[DomainSpec]
) -> Iterator[Statement]:
    """Return statements on the lists of erased keys in landing, which all runs read."""
    root = Root.of(environment.landing)
    moved = [f"{ERASED}/{table_path(t.stored_as)}.json" for t in _moved(domains)]
    names = [*(f"{ERASED}/{domain.name}/*" for domain in domains), *moved]
    folders = [f"{root.prefix}{name}" for name in names]
    to = NOTE if environment.erase_secret else READ
    yield objects("ErasedKeys", to, root, folders)
    yield listing("FindErasedKeys", root, folders)


def _runs(
    environment: EnvironmentSpec, domains: Sequence[DomainSpec]
) -> Iterator[Statement]:
    """Return statements on the folders of runs, also earlier ones, which an erase
    cleans, and on profiles."""
    root = Root.of(environment.runs)
    folders = [*_folders_of_runs(root, domains), *_profiles(root, domains)]
    to = (*WRITE, *ERASE[:1]) if environment.erase_secret else WRITE
    moved = _moved(domains)
    owners = dict.fromkeys(
        [*(d.name for d in domains), *(t.stored_domain for t in moved)]
    )
    leases = [f"{root.prefix}{lease_file(name)}" for name in owners]
    timings = [f"{root.prefix}{timings_file(domain.name)}" for domain in domains]
    checks = [f"{root.prefix}{checks_folder(domain.name)}*" for domain in domains]
    checks += [f"{root.prefix}{checks_file(table.stored_as)}" for table in moved]
    yield objects("Runs", to, root, folders)
    yield objects("Leases", READ, root, leases)
    yield objects("Timings", NOTE, root, timings)
    yield objects("Checks", NOTE, root, checks)
    # Also what makes S3 say that an object is not there, and not that it is denied.
    found = [*folders, *leases, *timings, *checks]
    yield listing("FindRunsAndWhatIsBeside", root, found)


def _folders_of_runs(root: Root, domains: Sequence[DomainSpec]) -> List[str]:
    return [
        f"{root.prefix}{domain.name}_{kind}/*"
        for domain in domains
        for kind in DAG_KINDS
    ]


def _profiles(root: Root, domains: Sequence[DomainSpec]) -> List[str]:
    own = [f"{profiles_folder(domain.name)}*" for domain in domains]
    moved = [profile_file(each.stored_as) for each in _moved(domains)]
    return [f"{root.prefix}{path}" for path in (*own, *moved)]


def _erase(
    environment: EnvironmentSpec, domains: Sequence[DomainSpec]
) -> Iterator[Statement]:
    """Return statements of an erase beyond its tables: requests, old versions, its
    secret."""
    if environment.erase_secret is None:
        return
    runs, house = Root.of(environment.runs), Root.of(environment.warehouse)
    roots = {each.bucket: each for each in (Root.of(environment.landing), house, runs)}
    requests = [f"{runs.prefix}erase/{domain.name}/*" for domain in domains]
    tables = [f"{house.prefix}{name}/*" for name in folders_of_tables(domains)]
    of_runs = [*_folders_of_runs(runs, domains), *_profiles(runs, domains), *requests]
    yield objects("EraseRequests", (*READ, *ERASE), runs, requests)
    yield listing("FindEraseRequests", runs, requests)
    yield objects("EraseOldVersions", ERASE[:1], house, tables)
    yield old_versions("FindOldVersionsOfTables", house, tables)
    yield old_versions("FindOldVersionsOfRuns", runs, of_runs)
    yield {
        "Sid": "WhetherThereAreVersions",
        "Effect": "Allow",
        "Action": "s3:GetBucketVersioning",
        "Resource": [bucket(each) for each in roots.values()],
    }
    name = environment.erase_secret.lstrip("/")
    yield {
        "Sid": "SecretOfErasedKeys",
        "Effect": "Allow",
        "Action": "ssm:GetParameter",
        "Resource": arn("ssm", f"parameter/{name}"),
    }


def _jars(environment: EnvironmentSpec) -> Iterator[Statement]:
    """Return statements on the jars of steps."""
    if environment.jars:
        jars = [in_bucket(jar[len("s3://") :]) for jar in environment.jars]
        yield allow("Jars", READ, jars)


def _certificates(
    environment: EnvironmentSpec, domains: Sequence[DomainSpec]
) -> Iterator[Statement]:
    """Return statements on the certificates that servers of these domains are checked by."""
    used = {each.ca for each in _connections(environment, domains) if each.ca}
    if used:
        files = [in_bucket(uri[len("s3://") :]) for uri in sorted(used)]
        yield allow("Certificates", READ, files)


def _connections(
    environment: EnvironmentSpec, domains: Iterable[DomainSpec]
) -> List[Connection]:
    """Return the connections that tables of these domains pull from and may use."""
    used = {
        (pull.connection, domain.name)
        for domain in domains
        for table in domain.tables
        for _, pull in pulls_of(table)
    }
    return [
        connection
        for name, connection in environment.connections
        if any((name, each) in used for each in connection.domains)
    ]


def secret_names(
    environment: EnvironmentSpec, domains: Iterable[DomainSpec]
) -> Dict[SecretStore, Set[str]]:
    """Return the secrets that steps of these domains read, by their store."""
    found: Dict[SecretStore, Set[str]] = {store: set() for store in SecretStore}
    for connection in _connections(environment, domains):
        if connection.secret is not None:
            found[connection.secret_store].add(connection.secret)
    if environment.erase_secret is not None:
        found[SecretStore.SSM].add(environment.erase_secret)
    return found


def secret_services(
    environment: EnvironmentSpec, domains: Iterable[DomainSpec]
) -> List[str]:
    """Return the services that keep a secret of these domains' steps."""
    kept = secret_names(environment, domains)
    return sorted(SERVICES[store] for store, names in kept.items() if names)


def _secrets(
    environment: EnvironmentSpec, domains: Sequence[DomainSpec]
) -> Iterator[Statement]:
    """Return statements on the secrets of connections that these domains use, no
    others."""
    kept = secret_names(environment, domains)
    of_connections = kept[SecretStore.SSM] - {environment.erase_secret}
    # What the secrets manager adds to a name: a dash and six characters.
    managed = [f"secret:{n}-??????" for n in sorted(kept[SecretStore.SECRETS_MANAGER])]
    parameters = [f"parameter/{n.lstrip('/')}" for n in sorted(of_connections)]
    if managed:
        resources = [arn("secretsmanager", each) for each in managed]
        to = ("secretsmanager:GetSecretValue",)
        yield allow("SecretsOfConnections", to, resources)
    if parameters:
        resources = [arn("ssm", each) for each in parameters]
        yield allow("ParametersOfConnections", ("ssm:GetParameter",), resources)


def _releases(root: Root, domains: Sequence[DomainSpec]) -> Iterator[Statement]:
    names = [
        CODE,
        PACKAGES,
        MAIN,
        *(f"specs/{domain.name}.json" for domain in domains),
    ]
    files = [f"{root.prefix}releases/*/{name}" for name in names]
    yield objects("Releases", READ, root, files)


def _catalogue(domains: Sequence[DomainSpec]) -> Statement:
    """Return a statement on the databases of the domains and of the formats they name."""
    names = [n for d in domains for n in (d.name, *format_databases(d))]
    return allow("Catalogue", GLUE, _in_glue(names))


def _formats(domains: Sequence[DomainSpec]) -> Statement:
    """Return a statement on tables in any format, which maintenance removes where their
    spec names it no longer."""
    names = [kind.database_of(d.name) for d in domains for kind in ReadableAs]
    return allow("FormatsNoLongerNamed", DROPPED, _in_glue(names))


def _former_names(domains: Sequence[DomainSpec]) -> Iterator[Statement]:
    """Return statements on the entries that moved tables had in another domain."""
    moved = _moved(domains)
    if not moved:
        return
    old = [replace(t, domain=t.stored_domain, name=t.stored_name) for t in moved]
    names = [f"{each.domain}/{name}" for each in old for name in glue_names(each)]
    kinds = [(kind, each) for each in old for kind in each.storage.formats]
    formats = [
        f"{kind.database_of(each.domain)}/{name}"
        for kind, each in kinds
        for name in glue_names(each)
    ]
    yield allow("FormerNames", RETIRED, _entries_in_glue(names))
    if formats:
        yield allow("FormerNamesOfFormats", DROPPED, _entries_in_glue(formats))


def _entries_in_glue(tables: Sequence[str]) -> List[Dict[str, Any]]:
    databases = dict.fromkeys(each.partition("/")[0] for each in tables)
    things = (*(f"database/{n}" for n in databases), *(f"table/{n}" for n in tables))
    return [arn("glue", each) for each in ("catalog", *things)]


def _optimizers(domains: Sequence[DomainSpec]) -> Iterator[Statement]:
    """Return a statement on the optimizers of tables that are published as Iceberg."""
    names = [
        ReadableAs.ICEBERG.database_of(d.name)
        for d in domains
        if any(ReadableAs.ICEBERG in table.storage.formats for table in d.tables)
    ]
    if names:
        yield allow("OptimizersOff", OPTIMIZERS, _in_glue(names))


def _in_glue(databases: Sequence[str]) -> List[Dict[str, Any]]:
    things = [each for n in databases for each in (f"database/{n}", f"table/{n}/*")]
    return [arn("glue", each) for each in ("catalog", *things)]


def format_databases(domain: DomainSpec) -> List[str]:
    """Return the databases of the formats that a domain's tables name."""
    named = {each for table in domain.tables for each in table.storage.formats}
    return [kind.database_of(domain.name) for kind in ReadableAs if kind in named]


def _key(environment: EnvironmentSpec, domains: Sequence[DomainSpec]) -> Statement:
    """Return a statement on the key, by way of the services whose content is under it."""
    services = ["s3", *secret_services(environment, domains)]
    return {
        "Sid": "KeyOfTheBuckets",
        "Effect": "Allow",
        "Action": ["kms:Decrypt", "kms:GenerateDataKey"],
        "Resource": {"Fn::ImportValue": {"Fn::Sub": "lake-${Environment}-KeyArn"}},
        "Condition": {
            "StringEquals": {
                "kms:ViaService": [
                    sub(f"{service}.${{AWS::Region}}.amazonaws.com")
                    for service in services
                ]
            }
        },
    }
