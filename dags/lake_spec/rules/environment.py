"""Rules on environments."""

from __future__ import annotations

import re
from typing import Dict, Iterator

from lake_spec.faults import Problem, got
from lake_spec.model import EnvironmentSpec
from lake_spec.rules import names
from lake_spec.rules.airflow import cron, sns_topic
from lake_spec.rules.book import RuleBook

ENVIRONMENT = RuleBook()

ROOTS = ("landing", "warehouse", "artifacts", "runs", "logs")

_URI = re.compile(
    r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/(?!\.{1,2}(/|$))[A-Za-z0-9_.=+-]+)*"
)
_REGION = re.compile(r"[a-z]{2}(-[a-z]+){1,2}-\d", re.ASCII)
_ROLE = re.compile(r"[A-Za-z0-9_+=,.@-]{1,64}")
_SUBNET = re.compile(r"subnet-[0-9a-f]{8,17}")


@ENVIRONMENT.rule("name")
def environment_is_named_by_the_allow_list(spec: EnvironmentSpec) -> Iterator[Problem]:
    yield from names.name(("name",), spec.name)


@ENVIRONMENT.rule("region")
def region_is_shaped_like_awss(spec: EnvironmentSpec) -> Iterator[Problem]:
    if not _REGION.fullmatch(spec.region):
        yield got(("region",), spec.region, "Write an AWS region, as in eu-central-1.")


@ENVIRONMENT.rule()
def roots_are_s3_uris(spec: EnvironmentSpec) -> Iterator[Problem]:
    for name in ROOTS:
        uri = getattr(spec, name)
        if not _URI.fullmatch(uri):
            remedy = (
                "Write s3://bucket/folder of A-Z a-z 0-9 _ . = + -, without a slash at"
                f" its end, as in s3://lake/{name}."
            )
            yield got((name,), uri, remedy)


@ENVIRONMENT.rule(*ROOTS)
def roots_lie_apart(spec: EnvironmentSpec) -> Iterator[Problem]:
    seen: Dict[str, str] = {}
    for name in ROOTS:
        uri = getattr(spec, name).rstrip("/") + "/"
        for other, place in seen.items():
            if uri.startswith(place) or place.startswith(uri):
                remedy = (
                    f"It is, holds or lies in `{other}` ({place}): give each its own."
                )
                yield got((name,), getattr(spec, name), remedy)
        seen[name] = uri


@ENVIRONMENT.rule()
def roles_are_names(spec: EnvironmentSpec) -> Iterator[Problem]:
    for name in ("service_role", "instance_profile"):
        if not _ROLE.fullmatch(getattr(spec, name)):
            remedy = (
                "Write the name of an IAM role: 1 to 64 of A-Z a-z 0-9 _ + = , . @ -."
            )
            yield got((name,), getattr(spec, name), remedy)


@ENVIRONMENT.rule("subnet")
def subnet_is_an_id(spec: EnvironmentSpec) -> Iterator[Problem]:
    if spec.subnet is not None and not _SUBNET.fullmatch(spec.subnet):
        remedy = "Write a subnet's id, as in subnet-0123456789abcdef0."
        yield got(("subnet",), spec.subnet, remedy)


@ENVIRONMENT.rule("security_configuration")
def security_configuration_is_a_name(spec: EnvironmentSpec) -> Iterator[Problem]:
    if spec.security_configuration is not None:
        yield from names.label(
            ("security_configuration",), spec.security_configuration, 128
        )


@ENVIRONMENT.rule("reaper_schedule")
def reaper_schedule_is_a_cron_text(spec: EnvironmentSpec) -> Iterator[Problem]:
    yield from cron(("reaper_schedule",), spec.reaper_schedule)


@ENVIRONMENT.rule("alarm_topic")
def alarm_topic_is_an_sns_topic(spec: EnvironmentSpec) -> Iterator[Problem]:
    yield from sns_topic(("alarm_topic",), spec.alarm_topic)
