"""Servers that landing files are pulled from: named by tables, set per environment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Optional, Tuple, Union

from lake_spec.model.choices import KafkaSecurity, SecretStore
from lake_spec.model.forms import DATABASE, HOST, PEM
from lake_spec.model.limits import Limits
from lake_spec.model.names import NAME
from lake_spec.model.spec_field import setting

_DOMAINS = "Domains whose tables may pull from it; no other domain gets its secret."
_CA = "s3://lake/artifacts/certificates/global-bundle.pem"


@dataclass(frozen=True)
class Database:
    """A database that tables are read from by JDBC; each kind has its own port."""

    kind: ClassVar[str]
    host: str = setting(
        "Host name or address.", example="shop.example.internal", form=HOST
    )
    database: str = setting("Name of the database.", example="shop", form=DATABASE)
    secret: str = setting(
        "Name of the secret with user and password, as JSON: username, password.",
        example="lake/dev/shop",
    )
    domains: Tuple[str, ...] = setting(_DOMAINS, example=["shop"], form=NAME)
    port: int = setting("Its port.", limits=Limits(1, 65535))
    secret_store: SecretStore = setting(
        "Service that stores the secret.", SecretStore.SECRETS_MANAGER
    )
    tls: bool = setting("Require an encrypted connection.", True)
    ca: Optional[str] = setting(
        "s3:// URI of a PEM file with certificates that may have signed the server's; then "
        "its certificate and host name are checked. If left out, they are not.",
        None,
        example=_CA,
        form=PEM,
    )


@dataclass(frozen=True)
class PostgreSql(Database):
    """A database of PostgreSQL."""

    kind: ClassVar[str] = "postgresql"
    port: int = setting("Its port.", 5432, limits=Limits(1, 65535))


@dataclass(frozen=True)
class MariaDb(Database):
    """A database of MariaDB or MySQL."""

    kind: ClassVar[str] = "mariadb"
    port: int = setting("Its port.", 3306, limits=Limits(1, 65535))


@dataclass(frozen=True)
class KafkaCluster:
    """A cluster of Kafka brokers."""

    kind: ClassVar[str] = "kafka"
    bootstrap_servers: Tuple[str, ...] = setting(
        "Bootstrap brokers, as host:port.",
        example=["b-1.kafka.example.internal:9096"],
    )
    domains: Tuple[str, ...] = setting(_DOMAINS, example=["shop"], form=NAME)
    security: KafkaSecurity = setting(
        "Protocol and authentication of the brokers.", KafkaSecurity.SCRAM
    )
    secret: Optional[str] = setting(
        "Name of the secret with user and password (scram), as JSON: username, password.",
        None,
        example="AmazonMSK_lake_dev",
    )
    secret_store: SecretStore = setting(
        "Service that stores the secret.", SecretStore.SECRETS_MANAGER
    )
    ca: Optional[str] = setting(
        "s3:// URI of a PEM file with certificates that may have signed the brokers'; if "
        "left out, those that Java trusts. They and host names are always checked.",
        None,
        example=_CA,
        form=PEM,
    )


DATABASES = (PostgreSql, MariaDb)
"""Each kind of database."""

Connection = Union[PostgreSql, MariaDb, KafkaCluster]
