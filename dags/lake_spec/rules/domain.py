"""Rules on domains."""

from __future__ import annotations

from typing import Iterator

from lake_spec.faults import Problem
from lake_spec.model import DomainSpec
from lake_spec.rules import names
from lake_spec.rules.airflow import cron, sns_topic
from lake_spec.rules.book import RuleBook

DOMAIN = RuleBook()

LONGEST_DAG_TAG = 100


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
        yield from cron(("schedules", name), getattr(spec.schedules, name))


@DOMAIN.rule("notifications")
def failure_topic_is_an_sns_topic(spec: DomainSpec) -> Iterator[Problem]:
    path = ("notifications", "failure_topic")
    yield from sns_topic(path, spec.notifications.failure_topic)
