"""The names of an environment's resources: buckets, prefixes, roles and topics."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Iterable, Iterator, Optional, Sequence

from lake_check.rules.environment import environments_share_no_catalogue
from lake_spec.diagnostics.errors import LakeError
from lake_spec.model import DomainSpec, EnvironmentSpec

_NAME = re.compile(r"[a-z][a-z0-9-]{0,19}")


class NotDeployable(LakeError):
    """An environment cannot be deployed by the templates.

    It carries all reasons at once.

    Fix: Correct each of the named settings in the environment's file, then draw the
    templates again.
    """

    def __init__(self, environment: str, reasons: Sequence[str]) -> None:
        super().__init__(environment, tuple(reasons))
        self.environment = environment
        self.reasons = tuple(reasons)

    def __str__(self) -> str:
        file = f"environments/{self.environment}.yml"
        return "\n".join(f"{file}: {reason}" for reason in self.reasons)


@dataclass(frozen=True)
class Root:
    """A root of an environment: its bucket, and its prefix with a slash at its end."""

    bucket: str
    prefix: str

    @classmethod
    def of(cls, uri: str) -> Root:
        """Parse an s3:// URI."""
        bucket, _, folder = uri[len("s3://") :].partition("/")
        return cls(bucket, f"{folder}/" if folder else "")


def last_part(arn: str) -> str:
    """Return the name at the end of an ARN of a role or topic; a plain name is its
    own."""
    return re.split(r"[:/]", arn)[-1]


def runtime_roles(
    environment: EnvironmentSpec, domains: Iterable[DomainSpec]
) -> dict[str, list[DomainSpec]]:
    """Return the domains whose steps run as a role, by its ARN."""
    roles: dict[str, list[DomainSpec]] = {}
    for domain in sorted(domains, key=lambda each: each.name):
        arn = environment.runtime_role_of(domain.name)
        if arn:
            roles.setdefault(arn, []).append(domain)
    return dict(sorted(roles.items()))


def break_glass_role(environment: EnvironmentSpec, roles: Sequence[str]) -> str:
    """Return the ARN of the role for emergencies, in the account of these roles."""
    account = roles[0].split(":role", 1)[0] if roles else "arn:aws:iam::123456789012"
    default = f"{account}:role/lake-{environment.name}-break-glass"
    return environment.break_glass_role or default


def topics(
    environment: EnvironmentSpec, domains: Iterable[DomainSpec]
) -> dict[Optional[str], list[str]]:
    """Return ARNs of the topics that Airflow publishes to: `alarms`, and `domains`."""
    named = (each.notifications.topic for each in domains)
    of_domains = {topic for topic in named if topic is not None}
    alarm = environment.alarm_topic
    return {
        "alarms": [alarm] if alarm else [],
        "domains": sorted(of_domains - {alarm}),
    }


def check_deployable(
    environment: EnvironmentSpec, domains: Iterable[DomainSpec]
) -> None:
    """Raise NotDeployable, with every reason why the templates do not fit."""
    domains = list(domains)
    reasons = [*_names(environment), *_buckets(environment)]
    reasons += [*_roles(environment, domains), *_accounts(environment, domains)]
    if reasons:
        raise NotDeployable(environment.name, reasons)


def account_of(arn: str) -> str:
    """Return the number of the account that an ARN is of."""
    return arn.split(":")[4]


def check_catalogue(
    environment: EnvironmentSpec, others: Iterable[EnvironmentSpec]
) -> None:
    """Raise NotDeployable where another environment is in the same account and region.

    Databases of Glue are named like their domains, so both would have the same ones.
    """
    if found := list(environments_share_no_catalogue(environment, others)):
        reasons = [f"region: {each.message}. {each.hint}" for each in found]
        raise NotDeployable(environment.name, reasons)


def check_runtime_roles(
    environment: EnvironmentSpec, domains: Iterable[DomainSpec]
) -> None:
    """Raise NotDeployable for domains whose steps have no role."""
    if reasons := list(_roles(environment, list(domains))):
        raise NotDeployable(environment.name, reasons)


def _names(environment: EnvironmentSpec) -> Iterator[str]:
    if not _NAME.fullmatch(environment.name):
        yield (
            f"name: got {environment.name!r}. Stacks and buckets are named after it:"
            " 1 to 20 of a-z 0-9 -, a letter first."
        )
    if environment.security_configuration is None:
        yield (
            "security_configuration: missing. Name the one to create, as in lake-prod."
        )
    if environment.alarm_topic is None:
        yield (
            "alarm_topic: missing. Write the ARN that the topic will have: it "
            "receives alarms of the budget, of a scheduler that stopped and of "
            "orphaned clusters."
        )
    role, path = environment.service_role, environment.role_path
    if role.startswith("arn:") and not role.endswith(f":role{path}{last_part(role)}"):
        remedy = "write its name" if path == "/" else "write its ARN with that path"
        yield (
            f"service_role: got {role!r}. It is created with the path {path}: {remedy}."
        )
    if path != "/" and not role.startswith("arn:"):
        yield (
            f"service_role: got {role!r}, a name. With role_path EMR finds the role by "
            f"its ARN alone: write arn:aws:iam::<account>:role{path}{role}."
        )


def _buckets(environment: EnvironmentSpec) -> Iterator[str]:
    artifacts = Root.of(environment.artifacts)
    for name in ("runs", "logs"):
        if Root.of(getattr(environment, name)).bucket != artifacts.bucket:
            yield (
                f"{name}: got {getattr(environment, name)!r}. Artifacts, runs and logs"
                f" share a bucket, here {artifacts.bucket}."
            )
    if not Root.of(environment.warehouse).prefix:
        yield (
            f"warehouse: got {environment.warehouse!r}, a whole bucket. What its policy "
            f"guards is a folder: write one, as in {environment.warehouse}/tables."
        )
    seen = {artifacts.bucket: "artifacts"}
    for name in ("landing", "warehouse"):
        bucket = Root.of(getattr(environment, name)).bucket
        if bucket in seen:
            yield (
                f"{name}: got {getattr(environment, name)!r}, in the bucket of "
                f"{seen[bucket]}. It needs a bucket of its own, for its lifecycle: "
                "name another one."
            )
        seen[bucket] = name


def _roles(
    environment: EnvironmentSpec, domains: Sequence[DomainSpec]
) -> Iterator[str]:
    without = [d.name for d in domains if not environment.runtime_role_of(d.name)]
    if without:
        yield (
            "runtime_role: missing, and runtime_roles does not name "
            f"{', '.join(without)}. Steps run as the role of their domain: write the "
            "ARN that it will have."
        )
    path = environment.role_path
    astray = [a for a in runtime_roles(environment, domains) if f":role{path}" not in a]
    for arn in astray:
        yield (
            f"runtime_roles: got {arn!r}, which is not below role_path {path}. Write "
            f"{arn.split(':role', 1)[0]}:role{path}{last_part(arn)}."
        )


def _accounts(
    environment: EnvironmentSpec, domains: Sequence[DomainSpec]
) -> Iterator[str]:
    arns = [
        *runtime_roles(environment, domains),
        *([environment.break_glass_role] if environment.break_glass_role else []),
        *topics(environment, domains)["alarms"],
    ]
    accounts = sorted({account_of(arn) for arn in arns})
    if len(accounts) > 1:
        yield (
            "runtime_roles, break_glass_role, alarm_topic: got the accounts "
            f"{', '.join(accounts)}."
            " An environment is one account."
        )
