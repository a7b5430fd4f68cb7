"""Rules on domains."""

from __future__ import annotations

from typing import Iterator

from lake_spec.diagnostics.diagnostic import Path, Problem, got
from lake_spec.model import ClusterSpec, DomainSpec, HistoryRuns, STAGE_HOURS
from lake_spec.rules import names
from lake_spec.rules.airflow import cron, sns_topic
from lake_spec.rules.rule_book import RuleBook
from lake_spec.rules.landing_folders import is_below
from lake_spec.rules.table import within

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


@DOMAIN.rule("clusters", "history_runs")
def clusters_of_dags_are_names(spec: DomainSpec) -> Iterator[Problem]:
    for kind, name in vars(spec.clusters).items():
        if name is not None:
            yield from names.name(("clusters", kind), name)
    if spec.clusters.scd2 and spec.history_runs is not HistoryRuns.OWN_DAG:
        hint = "History has no DAG of its own: set history_runs: own_dag."
        yield got(("clusters", "scd2"), spec.clusters.scd2, hint)


@DOMAIN.rule("tags")
def domain_tags_are_plain(spec: DomainSpec) -> Iterator[Problem]:
    for position, tag in enumerate(spec.tags):
        yield from names.label(("tags", position), tag, LONGEST_DAG_TAG)


@DOMAIN.rule("landing_grants", "name")
def granted_folders_are_the_domain_s_own(spec: DomainSpec) -> Iterator[Problem]:
    for position, grant in enumerate(spec.landing_grants):
        top = ("landing_grants", position)
        yield from names.relative_path((*top, "folder"), grant.folder)
        if not is_below(grant.folder, spec.name):
            hint = (
                f"Write {spec.name} or a folder below it: a domain grants only its "
                "own folders."
            )
            yield got((*top, "folder"), grant.folder, hint)
        if not grant.to:
            yield got((*top, "to"), [], "List the domains whose tables may read it.")
        for number, domain in enumerate(grant.to):
            yield from names.name((*top, "to", number), domain)


@DOMAIN.rule("schedules")
def schedules_are_cron_texts(spec: DomainSpec) -> Iterator[Problem]:
    for name in ("full_load", "incremental", "maintenance", "continuous"):
        yield from cron(("schedules", name), getattr(spec.schedules, name))


@DOMAIN.rule("stage_hours")
def stages_take_hours_not_weeks(spec: DomainSpec) -> Iterator[Problem]:
    yield from within(("stage_hours",), spec.stage_hours, 1, 168)


def stage_problems(
    spec: DomainSpec, cluster: ClusterSpec, path: Path = ("stage_hours",)
) -> Iterator[Problem]:
    """List problems between a cluster of the domain's runs and a stage's hours.

    Nothing against those of a domain that says none: the cluster ends before them.
    """
    hours, most = spec.stage_hours, cluster.max_hours
    if hours > most and hours != STAGE_HOURS:
        message = f"a stage of {spec.name} may take {hours} hours (stage_hours)"
        hint = (
            f"The cluster {cluster.name!r} is terminated after max_hours: {most}: "
            f"choose up to {most} hours, a greater max_hours, or another cluster."
        )
        yield Problem(path, hours, message, hint)


@DOMAIN.rule("notifications")
def topic_is_an_sns_topic(spec: DomainSpec) -> Iterator[Problem]:
    path = ("notifications", "topic")
    yield from sns_topic(path, spec.notifications.topic)
