"""Writes specs of a database's tables from its catalogue."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from dataclasses import replace
from typing import Any, List, Tuple

from lake_check.parsing.loader import load_domain
from lake_spec.diagnostics.errors import SpecErrors
from lake_spec.facts.connection_domains import refusal
from lake_spec.model import EnvironmentSpec, FileTable, KafkaCluster
from lake_spec.model import names
from lake_spec.model.choices import Connector, KafkaSecurity, SecretStore
from lake_spec.model.connections import Database

from lake_local.errors import BadRequest, LakeLocalError, unknown
from lake_local.onboard import account, advice, catalog_process, plan, secret, summary
from lake_local.onboard.catalog import Catalog
from lake_local.onboard.drift import compare
from lake_local.onboard.naming import lake_name
from lake_local.onboard.origin import JDBC, KAFKA, Origin
from lake_local.onboard.plan import Draft, Request
from lake_local.onboard.server import Server
from lake_local.onboard.writing import write
from lake_local.text import progress
from lake_local.workspace.project import find, require_drivers
from lake_local.workspace.specs import ENVIRONMENT


def onboard(args: Namespace) -> int:
    """Read, plan, write, print; return the exit code of `validate`."""
    started = time.monotonic()
    environment = account.environment_of(args)
    way = args.way or (KAFKA if args.kafka_connection else JDBC)
    _require_whole_request(args, way)
    name, server, to_add = _server(args, environment)
    kafka, kafka_to_add = _kafka(args, environment, way)
    catalog = _catalog(server, args.schema or "")
    origin = Origin(
        kind=way,
        connection=name,
        connector=None if way == JDBC else _connector(catalog),
        kafka_connection=kafka,
        topic_prefix=args.topic_prefix or "",
    )
    only = account.only(args)
    planned = plan.planned(catalog, Request(args.domain, origin, only, args.owner))
    if not planned:
        known = ", ".join(each.name for each in catalog.tables[:20])
        raise BadRequest(f"--only {args.only!r}: no table matches. Tables: {known}.")
    if args.check:
        return _checked(args, catalog, Request(args.domain, origin, only, args.owner))
    if way != JDBC:
        _warn(catalog, [each.table for each in planned if isinstance(each, Draft)])
    out = account.tables_folder(args)
    done = write(planned, out, args.domain, owner=args.owner, force=args.force)
    seconds = time.monotonic() - started
    first = account.first_run_of(args, environment)
    is_captured = way == KAFKA and origin.connector is Connector.POSTGRESQL
    first = replace(first, is_captured=is_captured)
    return summary.print_all(done, out, seconds, [*to_add, *kafka_to_add], first)


def _checked(args: Namespace, catalog: Catalog, request: Request) -> int:
    """Print where specs and the catalogue differ; return 1 if they do. Write nothing."""
    out = account.tables_folder(args)
    try:
        specs = load_domain(args.domain, out).tables
    except SpecErrors as error:
        raise BadRequest(f"--check: {error}") from None
    asked = [
        each
        for each in specs
        if isinstance(each, FileTable) and plan.is_asked_for(each.name, request.only)
    ]
    compared, found = compare(catalog, request, asked)
    for table, words in found:
        print(f"{table}: {words}")
    differ = len({table for table, _ in found})
    print(
        f"{compared} specs compared with the schema {catalog.schema}: {differ} differ"
    )
    return 1 if found else 0


def _require_whole_request(args: Namespace, way: str) -> None:
    if way == KAFKA and not args.kafka_connection:
        raise BadRequest(
            "--from kafka: the connection of the brokers is missing. Add --kafka-connection"
            " NAME, a connection of kind kafka of the environment."
        )
    if way != KAFKA and (args.kafka_connection or args.topic_prefix):
        raise BadRequest(
            f"--from {way}: no topics are read. Remove --kafka-connection and"
            " --topic-prefix, or write --from kafka."
        )
    if args.no_tls and not args.jdbc_secret:
        raise BadRequest(
            "--no-tls with --connection: a connection has its own setting. Set `tls: false`"
            " there, in the environment's file."
        )


def _server(
    args: Namespace, environment: EnvironmentSpec
) -> Tuple[str, Server, List[str]]:
    """Return the connection's name, its server, and lines for the environment."""
    with account.clients(args, environment) as clients:
        try:
            if args.connection:
                found = _connection(args.connection, environment, args.domain)
                return args.connection, secret.server_of(clients, found), []
            store, tls = SecretStore(args.secret_store), not args.no_tls
            server, found = secret.whole_server(
                clients, args.jdbc_secret, store, args.domain, tls=tls
            )
            name = lake_name(f"{found.database}_db")
            known = dict(environment.connections).get(name)
            if not known or replace(known, domains=found.domains, ca=None) != found:
                return name, server, [account.entry(name, found)]
            server = secret.server_of(clients, known)  # by its `ca`
        except secret.BadSecret as error:
            raise BadRequest(str(error)) from None
    if args.domain in known.domains:
        return name, server, []
    found = replace(known, domains=(*known.domains, args.domain))
    return name, server, [account.entry(name, found)]


def _connection(name: str, environment: EnvironmentSpec, domain: str) -> Any:
    known = dict(environment.connections)
    found = known.get(name)
    if found is None:
        raise BadRequest(
            f"--connection: {unknown('connection', name, known)} Add it under"
            f" `connections` of environments/{environment.name}.yml, or use --jdbc-secret"
            " NAME, a secret with all settings of the database."
        )
    if not isinstance(found, Database):
        raise BadRequest(
            f"--connection {name}: got a connection of kind {found.kind}. Name one of kind"
            " postgresql or mariadb."
        )
    _require_own(environment, name, domain)
    return found


def _require_own(environment: EnvironmentSpec, name: str, domain: str) -> None:
    words = refusal(environment, name, domain)
    if words:
        raise BadRequest(words)


def _kafka(
    args: Namespace, environment: EnvironmentSpec, way: str
) -> Tuple[str, List[str]]:
    name = args.kafka_connection
    if way != KAFKA:
        return "", []
    for fault in names.name(("--kafka-connection",), name):
        raise BadRequest(f"--kafka-connection {name!r}: {fault.hint}")
    found = dict(environment.connections).get(name)
    if found is None:
        return name, [account.entry(name, _example(environment, args.domain))]
    if not isinstance(found, KafkaCluster):
        raise BadRequest(
            f"--kafka-connection {name}: got a connection of kind {found.kind}. Name one of"
            " kind kafka."
        )
    _require_own(environment, name, args.domain)
    return name, []


def _example(environment: EnvironmentSpec, domain: str) -> KafkaCluster:
    """Return brokers to write: on this machine those that `connect` starts."""
    if environment.name == ENVIRONMENT:
        ours = ("127.0.0.1:9092",)
        return KafkaCluster(ours, (domain,), KafkaSecurity.PLAINTEXT)
    return KafkaCluster(("HOST:9096",), (domain,), secret="NAME")


def _catalog(server: Server, schema: str) -> Catalog:
    project = find()
    require_drivers(project)
    progress(f"reading the catalogue of {server.database} at {server.host}")
    try:
        return catalog_process.catalog_of(
            project.spark_python, project.root / "local", server, schema
        )
    except catalog_process.NoAnswer as error:
        raise LakeLocalError(str(error)) from None


def _connector(catalog: Catalog) -> Connector:
    if catalog.engine == "postgresql":
        return Connector.POSTGRESQL
    version = catalog.settings.get("version", "")
    return Connector.MARIADB if "maria" in version.lower() else Connector.MYSQL


def _warn(catalog: Catalog, tables: List[Any]) -> None:
    for words in advice.warnings(catalog, tables):
        print(f"warning: {words}", file=sys.stderr)
