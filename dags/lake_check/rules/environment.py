"""Rules on environments."""

from __future__ import annotations

from typing import Dict, Iterable, Iterator, Optional, Tuple

from lake_check.rules import aws
from lake_check.rules.airflow import cron
from lake_check.rules.rule_set import RuleSet, rule
from lake_check.rules.table import formats_are_unique
from lake_spec.diagnostics.diagnostic import Problem, got
from lake_spec.model import EnvironmentSpec
from lake_spec.model import names
from lake_spec.model.forms import ROLE_ARN

ENVIRONMENT = RuleSet()

ROOTS = ("landing", "warehouse", "artifacts", "runs", "logs")


@ENVIRONMENT.rule("name")
def environment_name_is_valid(spec: EnvironmentSpec) -> Iterator[Problem]:
    """Refuse an environment's name that is not valid in paths and tags.

    Fix: Write 1 to 63 of a-z, 0-9 and _, beginning with a letter, and name the file so.
    """
    yield from names.name(("name",), spec.name)


@ENVIRONMENT.rule("readable_as")
def formats_of_an_environment_are_unique(spec: EnvironmentSpec) -> Iterator[Problem]:
    """Refuse a format that `readable_as` of an environment names twice.

    Fix: Name each format once.
    """
    yield from formats_are_unique(("readable_as",), spec.readable_as)


@ENVIRONMENT.rule(*ROOTS)
def roots_do_not_overlap(spec: EnvironmentSpec) -> Iterator[Problem]:
    """Refuse folders of the environment that overlap: data would mix.

    Fix: Give landing, warehouse, artifacts, runs and logs a folder each, none within
    another.
    """
    seen: Dict[str, str] = {}
    for name in ROOTS:
        uri = getattr(spec, name).rstrip("/") + "/"
        for other, place in seen.items():
            if uri.startswith(place) or place.startswith(uri):
                hint = (
                    f"It overlaps with `{other}` ({place}): give each its own folder."
                )
                yield got((name,), getattr(spec, name), hint)
        seen[name] = uri


@ENVIRONMENT.rule("landing_roots", *ROOTS)
def landing_roots_stand_alone(spec: EnvironmentSpec) -> Iterator[Problem]:
    """Refuse a landing root that overlaps with another folder of the environment, and a
    domain or table that two of them name.

    Fix: Give each landing root a folder of its own, and name each domain and table once.
    """
    seen = {name: f"{getattr(spec, name).rstrip('/')}/" for name in ROOTS}
    users: Dict[str, str] = {}
    for name, root in spec.landing_roots:
        path = ("landing_roots", name)
        yield from names.name(path, name)
        uri = f"{root.uri.rstrip('/')}/"
        for other, place in seen.items():
            if uri.startswith(place) or place.startswith(uri):
                hint = f"It overlaps with `{other}` ({place}): name another folder."
                yield got((*path, "uri"), root.uri, hint)
        seen[f"landing_roots.{name}"] = uri
        if not root.used_by:
            hint = "Name a domain, or a table as domain.table."
            yield got((*path, "used_by"), [], hint)
        for position, user in enumerate(root.used_by):
            if user in users:
                hint = f"landing_roots.{users[user]} names it too: name it once."
                yield got((*path, "used_by", position), user, hint)
            users[user] = name
        yield from aws.kms_key((*path, "kms_key_id"), root.kms_key_id, spec.region)


@rule
def environments_share_no_catalogue(
    spec: EnvironmentSpec, others: Iterable[EnvironmentSpec]
) -> Iterator[Problem]:
    """Refuse a second environment in one account and region: databases of Glue are named
    like domains, so both would have the same ones.

    Fix: Give each environment an account or a region of its own.
    """
    place = _place(spec)
    same = sorted(
        each.name for each in others if each.name != spec.name and _place(each) == place
    )
    if same and place is not None:
        hint = (
            f"In that region of the account {place[0]} is {', '.join(same)} too, whose "
            "databases of Glue would be the same, since they are named like domains: give "
            "it another account or region."
        )
        yield got(("region",), spec.region, hint)


def _place(spec: EnvironmentSpec) -> Optional[Tuple[str, str]]:
    """Return the account, by its roles, and the region; None where none has an ARN."""
    named = (spec.runtime_role, *dict(spec.runtime_roles).values())
    arns = (arn for arn in named if arn is not None and ROLE_ARN.fits(arn))
    arn = next(arns, None)
    return (arn.split(":")[4], spec.region) if arn else None


@ENVIRONMENT.rule()
def runtime_roles_are_of_domains(spec: EnvironmentSpec) -> Iterator[Problem]:
    """Refuse a runtime role for what is no name of a domain.

    Fix: Write the name of a domain and the ARN of its role.
    """
    for domain, _ in spec.runtime_roles:
        yield from names.name(("runtime_roles", domain), domain)


@ENVIRONMENT.rule("runtime_role", "runtime_roles", "security_configuration")
def runtime_roles_are_enabled_for_all(spec: EnvironmentSpec) -> Iterator[Problem]:
    """Refuse runtime roles for some domains only, which EMR refuses too.

    Fix: Set `runtime_role` for all other domains, and `security_configuration` with
    EnableApplicationScopedIAMRole.
    """
    if spec.runtime_roles and spec.runtime_role is None:
        hint = (
            "EMR refuses steps without a role on such clusters: write the role of all "
            "domains that `runtime_roles` does not name."
        )
        yield Problem(("runtime_role",), None, "missing", hint)
    if spec.runtime_role and spec.security_configuration is None:
        hint = (
            "A runtime role requires a security configuration with "
            "EnableApplicationScopedIAMRole: write its name."
        )
        yield Problem(("security_configuration",), None, "missing", hint)


@ENVIRONMENT.rule("subnets", "network")
def subnets_are_unique(spec: EnvironmentSpec) -> Iterator[Problem]:
    """Refuse a subnet that is named twice.

    Fix: Write the id of each subnet once.
    """
    for position, subnet in enumerate(spec.subnets):
        if subnet in spec.subnets[:position]:
            yield got(("subnets", position), subnet, "Name each subnet once.")
    own = spec.network
    if own is not None and own.subnet_a == own.subnet_b:
        hint = "Name a subnet in another zone than that of `subnet_a`."
        yield got(("network", "subnet_b"), own.subnet_b, hint)


@ENVIRONMENT.rule("region")
def kms_keys_are_of_the_region(spec: EnvironmentSpec) -> Iterator[Problem]:
    """Refuse KMS keys that EMR cannot use in the environment's region.

    Fix: Write the ARN of a key of that region, not an alias.
    """
    for name in ("log_encryption_kms_key_id", "s3_encryption_kms_key_id"):
        yield from aws.kms_key((name,), getattr(spec, name), spec.region)


@ENVIRONMENT.rule("tags")
def environment_tags_fit_aws(spec: EnvironmentSpec) -> Iterator[Problem]:
    """Refuse tags that AWS does not accept or that the project sets itself.

    Fix: Write short plain keys and values, at most 20; do not begin keys with `aws:` or
    `lake:`.
    """
    yield from aws.tags(spec.tags)


@ENVIRONMENT.rule("security_configuration")
def security_configuration_is_a_name(spec: EnvironmentSpec) -> Iterator[Problem]:
    """Refuse the name of a security configuration that EMR does not accept.

    Fix: Write the name of a security configuration of EMR in the same account and region.
    """
    if spec.security_configuration is not None:
        yield from names.label(
            ("security_configuration",), spec.security_configuration, 128
        )


@ENVIRONMENT.rule("reaper_schedule")
def reaper_schedule_is_cron(spec: EnvironmentSpec) -> Iterator[Problem]:
    """Refuse a schedule of the reaper that Airflow cannot run.

    Fix: Write five fields of cron, as in `*/15 * * * *`, or a preset such as `@hourly`.
    """
    yield from cron(("reaper_schedule",), spec.reaper_schedule)


@ENVIRONMENT.rule("erase_secret")
def erase_secret_is_parameter(spec: EnvironmentSpec) -> Iterator[Problem]:
    """Refuse an erase secret that is not the name of an SSM parameter.

    Fix: Write the parameter's name, as in /lake/dev/erase; never write the secret
    itself into a spec.
    """
    name = spec.erase_secret
    if name is not None and (not aws.PARAMETER.fullmatch(name) or len(name) > 1011):
        hint = (
            "Write the name of an SSM parameter, as in /lake/dev/erase, not its value."
        )
        yield got(("erase_secret",), name, hint)
