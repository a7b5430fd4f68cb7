"""Rules on the servers of an environment, and on the jars that reach them."""

from __future__ import annotations

import re
from typing import Iterable, Iterator

from lake_check.rules import aws
from lake_check.rules.rule_set import RuleSet, rule
from lake_spec.diagnostics.diagnostic import Path, Problem, got
from lake_spec.diagnostics.suggestions import did_you_mean
from lake_spec.facts.pull_folders import KINDS, pulls_of
from lake_spec.model import Connection, DomainSpec, EnvironmentSpec, KafkaCluster
from lake_spec.model import names
from lake_spec.model.choices import KafkaSecurity, SecretStore
from lake_spec.model.forms import HOST, JAR, PEM

CONNECTIONS = RuleSet()

_SECRET = re.compile(r"[A-Za-z0-9/_+=.@!-]{1,512}")


@CONNECTIONS.rule()
def connections_are_valid(spec: EnvironmentSpec) -> Iterator[Problem]:
    """Refuse a connection whose name, domains, brokers or secret is not valid.

    Fix: Write the value as the message says; host and port go into settings of their
    own.
    """
    for name, connection in spec.connections:
        path: Path = ("connections", name)
        yield from names.name(path, name)
        if connection is None:
            continue  # it could not be read, which is reported
        yield from _domains(path, connection)
        yield from _secret(path, connection)
        if isinstance(connection, KafkaCluster):
            yield from _brokers(path, connection)


def _domains(path: Path, connection: Connection) -> Iterator[Problem]:
    if not connection.domains:
        yield got((*path, "domains"), [], "List the domains that may pull from it.")
    for position, domain in enumerate(connection.domains):
        place: Path = (*path, "domains", position)
        if domain in connection.domains[:position]:
            yield got(place, domain, "Name each domain once.")


def _secret(path: Path, connection: Connection) -> Iterator[Problem]:
    secret = connection.secret
    if secret is None:
        return
    pattern, hint = (
        _SECRET,
        "Write the secret's name, of A-Z a-z 0-9 / _ + = . @ ! -.",
    )
    if connection.secret_store is SecretStore.SSM:
        pattern = aws.PARAMETER
        hint = "Write the parameter's name, as in /lake/dev/shop."
    if not pattern.fullmatch(secret):
        yield got((*path, "secret"), secret, hint)


def _brokers(path: Path, cluster: KafkaCluster) -> Iterator[Problem]:
    place: Path = (*path, "bootstrap_servers")
    if not cluster.bootstrap_servers:
        yield got(place, [], "Name a broker, as in b-1.kafka.example.internal:9096.")
    for position, broker in enumerate(cluster.bootstrap_servers):
        host, _, port = broker.rpartition(":")
        is_port = port.isascii() and port.isdigit() and 1 <= int(port[:6]) <= 65535
        if not HOST.fits(host) or not is_port:
            hint = "Write host:port, as in b-1.kafka.example.internal:9096."
            yield got((*place, position), broker, hint)
    if cluster.security is KafkaSecurity.SCRAM and cluster.secret is None:
        hint = "scram requires a user and a password: give the name of their secret."
        yield Problem((*path, "secret"), None, "missing", hint)


@CONNECTIONS.rule()
def certificates_are_used(spec: EnvironmentSpec) -> Iterator[Problem]:
    """Refuse a `ca` of a connection without TLS.

    Fix: Remove it, or turn TLS on.
    """
    for name, connection in spec.connections:
        if connection is None or connection.ca is None:
            continue
        path: Path = ("connections", name, "ca")
        if PEM.fits(connection.ca) and not _is_encrypted(connection):
            hint = "No certificate is seen without TLS: remove this, or turn TLS on."
            yield got(path, connection.ca, hint)


def _is_encrypted(connection: Connection) -> bool:
    if isinstance(connection, KafkaCluster):
        return connection.security is not KafkaSecurity.PLAINTEXT
    return connection.tls


@CONNECTIONS.rule("jars")
def jars_are_unique(spec: EnvironmentSpec) -> Iterator[Problem]:
    """Refuse a jar that is named twice.

    Fix: Write the s3:// URI of each jar once.
    """
    for position, jar in enumerate(spec.jars):
        if JAR.fits(jar) and jar in spec.jars[:position]:
            yield got(("jars", position), jar, "Name each jar once.")


@rule
def connections_fit_pulls(
    environment: EnvironmentSpec, domains: Iterable[DomainSpec]
) -> Iterator[Problem]:
    """Refuse an environment that lacks a connection which a table pulls from.

    Fix: Add the connection with the kind that the message names, or correct the table's
    `connection`.
    """
    known = dict(environment.connections)
    reported = set()
    for table in (table for domain in domains for table in domain.tables):
        for setting, pull in pulls_of(table):
            name, kinds = pull.connection, KINDS[type(pull)]
            if name in reported or isinstance(known.get(name), kinds):
                continue
            reported.add(name)
            where = f"{table.full_name} (source.{setting})"
            wanted = " or ".join(each.kind for each in kinds)
            if name in known:
                kind = known[name].kind
                hint = f"{where} requires a connection of kind {wanted}."
                yield got(("connections", name, "kind"), kind, hint)
            else:
                hint = (
                    f"{did_you_mean(name, known)}{where} uses it: add a connection of "
                    f"kind {wanted}, or correct the table."
                )
                message = f"unknown connection {name!r}"
                yield Problem(("connections",), name, message, hint)


@rule
def connections_are_of_the_domains(
    environment: EnvironmentSpec, domains: Iterable[DomainSpec]
) -> Iterator[Problem]:
    """Refuse a table that pulls from a connection which its domain may not use.

    Fix: Ask those who answer for the connection to add the domain to its `domains`, or
    name a connection of the domain in the table.
    """
    known = dict(environment.connections)
    reported = set()
    for table in (table for domain in domains for table in domain.tables):
        for setting, pull in pulls_of(table):
            name, found = pull.connection, known.get(pull.connection)
            user = (name, table.domain)
            if found is None or table.domain in found.domains or user in reported:
                continue
            reported.add(user)
            hint = (
                f"{table.full_name} (source.{setting}) pulls from {name}, which is not "
                f"for {table.domain}: ask those who answer for {name} to add "
                f"{table.domain} here, or name another connection in the table."
            )
            yield got(("connections", name, "domains"), list(found.domains), hint)
