"""Rules on domains."""

from __future__ import annotations

import re
from typing import Iterator

from lake_spec.cron import BadCron, check_cron
from lake_spec.faults import Problem, got
from lake_spec.model import DomainSpec
from lake_spec.rules import names
from lake_spec.rules.book import RuleBook

DOMAIN = RuleBook()

LONGEST_DAG_TAG = 100
_TOPIC = re.compile(
    r"arn:aws(-[a-z]+){0,2}:sns:[a-z]{2}(-[a-z]+){1,2}-\d:\d{12}:[A-Za-z0-9_-]{1,256}",
    re.ASCII,
)


@DOMAIN.rule("name")
def domain_is_named_by_the_allow_list(spec: DomainSpec) -> Iterator[Problem]:
    yield from names.name(("name",), spec.name)


@DOMAIN.rule("description")
def domain_description_says_something(spec: DomainSpec) -> Iterator[Problem]:
    yield from names.description(spec.description)


@DOMAIN.rule("owner")
def domain_owner_is_a_team(spec: DomainSpec) -> Iterator[Problem]:
    yield from names.owner(spec.owner)


@DOMAIN.rule("cluster")
def domain_cluster_is_a_name(spec: DomainSpec) -> Iterator[Problem]:
    yield from names.name(("cluster",), spec.cluster)


@DOMAIN.rule("tags")
def domain_tags_are_plain(spec: DomainSpec) -> Iterator[Problem]:
    for position, tag in enumerate(spec.tags):
        yield from names.label(("tags", position), tag, LONGEST_DAG_TAG)


@DOMAIN.rule("schedules")
def schedules_are_cron_texts(spec: DomainSpec) -> Iterator[Problem]:
    for name in ("full_load", "incremental", "maintenance"):
        text = getattr(spec.schedules, name)
        if text is None:
            continue
        try:
            check_cron(text)
        except BadCron as error:
            yield got(("schedules", name), text, str(error))


@DOMAIN.rule("notifications")
def failure_topic_is_an_sns_topic(spec: DomainSpec) -> Iterator[Problem]:
    topic = spec.notifications.failure_topic
    if topic is not None and not _TOPIC.fullmatch(topic):
        yield got(
            ("notifications", "failure_topic"),
            topic,
            "Write the ARN of a standard SNS topic, as in"
            " arn:aws:sns:eu-central-1:123456789012:lake-failures.",
        )
