"""What a domain's tables ask to be captured: which tables, of which database, to where."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Dict, Iterable, Iterator, Set, Tuple

from lake_spec.facts.connection_domains import refusal
from lake_spec.model import KafkaCluster, TableSpec
from lake_spec.model.choices import Connector, KafkaSecurity
from lake_spec.model.connections import PostgreSql
from lake_spec.model.pulls import KafkaTopic
from lake_spec.model.sources import Feed

from lake_local.capture.ports import HOST
from lake_local.errors import BadRequest, unknown
from lake_local.workspace.specs import Specs

_LONGEST_NAME = 63
_SLOT = re.compile(rf"[a-z0-9_]{{1,{_LONGEST_NAME}}}")
_HOSTS = (HOST, "localhost")
_EXAMPLE = (
    'kind: kafka, bootstrap_servers: ["127.0.0.1:9092"], security: plaintext,'
    " domains: [{}]"
)


@dataclass(frozen=True)
class Capture:
    """A database whose changes go to topics `<prefix>.<schema>.<table>`."""

    domain: str
    connection: str
    database: PostgreSql
    broker_port: int
    prefix: str
    tables: Tuple[Tuple[str, str], ...]
    """Schema and name of each, as the database has them."""
    own_slot: str = ""
    """The name of the replication slot, if it is not that of the publication."""

    @property
    def name(self) -> str:
        """The name of the publication."""
        return default_name(self.domain)

    @property
    def slot(self) -> str:
        """The name of the replication slot."""
        return self.own_slot or self.name

    @property
    def topics(self) -> Tuple[str, ...]:
        """The topics, in the order of the tables."""
        return tuple(f"{self.prefix}.{schema}.{name}" for schema, name in self.tables)


def default_name(domain: str) -> str:
    """Return the name of a domain's publication, and of its slot if none is given."""
    return f"lake_{domain}"[:_LONGEST_NAME]


def capture_of(
    specs: Specs, domain: str, connection: str = "", slot: str = ""
) -> Capture:
    """Return what to capture for a domain. Raises BadRequest where specs lack a part.

    Args:
        connection: the database's name under `connections`; may be left out where the
            environment has one PostgreSQL.
        slot: name of the replication slot; that of the publication if left out.
    """
    if slot and not _SLOT.fullmatch(slot):
        raise BadRequest(
            f"--slot {slot}: is no name of a replication slot. PostgreSQL takes up to"
            f" {_LONGEST_NAME} of a-z, 0-9 and _."
        )
    topics = list(_topics(specs.domain(domain).tables))
    if not topics:
        raise BadRequest(
            f"connect {domain}: no table of {domain} has `changes_from` of kind kafka and"
            " `envelope: {connector: postgresql}`. Write such specs with `onboard"
            " --connection NAME --kafka-connection NAME --topic-prefix NAME`"
            " (docs/sources/postgresql.md)."
        )
    kafka = _only(domain, "connection", {each.connection for _, each in topics})
    parts = [_parts(table, each.topic) for table, each in topics]
    known: Dict[str, object] = dict(specs.environment.connections)
    name, database = _database(specs, known, connection)
    port = _port(specs, known, kafka, domain)
    for each in (name, kafka):
        words = refusal(specs.environment, each, domain)
        if words:
            raise BadRequest(words)
    return Capture(
        domain=domain,
        connection=name,
        database=database,
        broker_port=port,
        prefix=_only(domain, "topic prefix", {each[0] for each in parts}),
        tables=tuple(sorted({(schema, table) for _, schema, table in parts})),
        own_slot=slot,
    )


def _topics(tables: Iterable[TableSpec]) -> Iterator[Tuple[str, KafkaTopic]]:
    for table in tables:
        source = table.source
        if isinstance(source, Feed) and isinstance(source.changes_from, KafkaTopic):
            envelope = source.envelope
            if envelope and envelope.connector is Connector.POSTGRESQL:
                yield table.full_name, source.changes_from


def _parts(table: str, topic: str) -> Tuple[str, str, str]:
    prefix, *place = topic.rsplit(".", 2)
    if len(place) != 2:
        raise BadRequest(
            f"connect: {table}: source.changes_from.topic is {topic!r}. Debezium names"
            " topics PREFIX.SCHEMA.TABLE; correct it."
        )
    return prefix, place[0], place[1]


def _only(domain: str, what: str, found: Set[str]) -> str:
    if len(found) > 1:
        names = ", ".join(sorted(found))
        raise BadRequest(
            f"connect {domain}: its tables name more than one {what} in"
            f" `changes_from`: {names}. One connector has one; move the other tables to"
            " another domain."
        )
    return min(found)


def _port(specs: Specs, known: Dict[str, object], name: str, domain: str) -> int:
    """The broker's port, which the environment must say is one of this machine."""
    found, example = known.get(name), _EXAMPLE.format(domain)
    if found is None:
        raise BadRequest(
            f"{specs.environment_file}: has no connection {name!r}. Add it under"
            f" `connections`: {name}: {{{example}}}"
        )
    servers = getattr(found, "bootstrap_servers", ())
    hosts = [each.rpartition(":") for each in servers]
    is_ours = (
        isinstance(found, KafkaCluster)
        and found.security is KafkaSecurity.PLAINTEXT
        and len(hosts) == 1
        and hosts[0][0] in _HOSTS
    )
    if not is_ours:
        raise BadRequest(
            f"{specs.environment_file}: connections.{name} is no broker that `connect` can"
            f" start. It must be on this machine, as {{{example}}}; keep other brokers in"
            " another environment's file."
        )
    return int(hosts[0][2])


def _database(
    specs: Specs, known: Dict[str, object], name: str
) -> Tuple[str, PostgreSql]:
    databases = {
        key: each for key, each in known.items() if isinstance(each, PostgreSql)
    }
    if not name and len(databases) == 1:
        name = min(databases)
    if not name:
        has = ", ".join(sorted(databases)) or "none"
        raise BadRequest(
            f"{specs.environment_file}: connections of kind postgresql: {has}. Say which"
            " one with --connection NAME, or add it (docs/sources/postgresql.md)."
        )
    if name not in databases:
        if name in known:
            raise BadRequest(
                f"--connection {name}: is not of kind postgresql, the only one that"
                " `connect` can capture."
            )
        raise BadRequest(f"--connection: {unknown('connection', name, databases)}")
    return name, databases[name]
