"""Rules on domains."""

from __future__ import annotations

from typing import Dict, Iterator, Tuple

from lake_check.rules.airflow import cron
from lake_check.rules.rule_set import RuleSet, rule
from lake_spec.diagnostics.diagnostic import Path, Problem, got
from lake_spec.facts.landing_folders import is_below
from lake_spec.model import (
    ClusterSpec,
    DomainSpec,
    HistoryRuns,
    ReadableAs,
    STAGE_HOURS,
    Term,
)
from lake_spec.model import names

DOMAIN = RuleSet()

LONGEST_DAG_TAG = 100
LONGEST_TERM = 64


@DOMAIN.rule("name")
def domain_name_is_valid(spec: DomainSpec) -> Iterator[Problem]:
    """Refuse a domain's name that is not valid in DAG ids and SQL.

    Fix: Write 1 to 63 of a-z, 0-9 and _, beginning with a letter, and name the folder
    so.
    """
    yield from names.name(("name",), spec.name)


@DOMAIN.rule("name")
def domain_is_not_named_as_a_database_of_formats(spec: DomainSpec) -> Iterator[Problem]:
    """Refuse `x_iceberg` and `x_delta`: the Glue databases of other formats of x.

    Fix: Choose a name of the domain with another end.
    """
    for kind in ReadableAs:
        if spec.name.endswith(kind.database_of("")):
            hint = (
                f"The Glue database of this name has the tables of another domain that "
                f"are read as {kind.value}: choose a name with another end."
            )
            yield got(("name",), spec.name, hint)


@DOMAIN.rule("description")
def domain_has_description(spec: DomainSpec) -> Iterator[Problem]:
    """Refuse a domain without a description that readers can use.

    Fix: Write one line of more than 15 characters that says what the domain contains.
    """
    yield from names.description(spec.description)


@DOMAIN.rule("owner")
def domain_owner_is_a_team(spec: DomainSpec) -> Iterator[Problem]:
    """Refuse a domain without an owner: nobody could be asked.

    Fix: Name the owning team in more than 5 characters.
    """
    yield from names.owner(spec.owner)


@DOMAIN.rule("contact")
def domain_contact_can_be_reached(spec: DomainSpec) -> Iterator[Problem]:
    """Refuse a contact that is neither a page nor a mail box nor a channel.

    Fix: Write `https://...`, an address of mail, or `#` and the name of a channel.
    """
    if spec.contact is not None and not names.CONTACT.fullmatch(spec.contact):
        hint = "Write https://..., an address of mail, or # and the name of a channel."
        yield got(("contact",), spec.contact, hint)


@DOMAIN.rule("clusters", "history_runs")
def cluster_of_history_has_a_dag(spec: DomainSpec) -> Iterator[Problem]:
    """Refuse a cluster for a DAG of history that the domain does not have.

    Fix: Remove `clusters.scd2`, or write `history_runs: own_dag`.
    """
    if spec.clusters.scd2 and spec.history_runs is not HistoryRuns.OWN_DAG:
        hint = "History has no DAG of its own: set history_runs: own_dag."
        yield got(("clusters", "scd2"), spec.clusters.scd2, hint)


@DOMAIN.rule("tags")
def domain_tags_are_plain(spec: DomainSpec) -> Iterator[Problem]:
    """Refuse tags of DAGs that Airflow does not accept.

    Fix: Write 1 to 100 letters, digits, spaces and _ . : / = + @ -.
    """
    for position, tag in enumerate(spec.tags):
        yield from names.label(("tags", position), tag, LONGEST_DAG_TAG)


@DOMAIN.rule("landing_grants", "name")
def granted_folders_are_own(spec: DomainSpec) -> Iterator[Problem]:
    """Refuse a grant of landing folders that belong to another domain.

    Fix: Write a folder below the domain's own name, and list under `to` the domains
    that may read it.
    """
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


@DOMAIN.rule("table_grants")
def table_grants_name_domains(spec: DomainSpec) -> Iterator[Problem]:
    """Refuse a grant of tables to nobody, or to what is no domain.

    Fix: List under `to` the domains whose products may read the tables.
    """
    for position, grant in enumerate(spec.table_grants):
        top = ("table_grants", position)
        if not grant.to:
            hint = "List the domains whose products may read the tables."
            yield got((*top, "to"), [], hint)
        for number, domain in enumerate(grant.to):
            yield from names.name((*top, "to", number), domain)
        for number, table in enumerate(grant.tables):
            yield from names.name((*top, "tables", number), table)


@DOMAIN.rule("schedules")
def schedules_are_cron(spec: DomainSpec) -> Iterator[Problem]:
    """Refuse a schedule that Airflow cannot run.

    Fix: Write five fields of cron, as in `0 3 * * *`, or a preset such as `@daily`.
    """
    for name in ("full_load", "incremental", "maintenance", "continuous"):
        yield from cron(("schedules", name), getattr(spec.schedules, name))


@rule
def cluster_outlasts_stage(
    spec: DomainSpec, cluster: ClusterSpec, path: Path = ("stage_hours",)
) -> Iterator[Problem]:
    """Refuse a cluster that ends before a stage may.

    Fix: Lower `stage_hours`, raise the cluster's `max_hours`, or choose another
    cluster.
    """
    hours, most = spec.stage_hours, cluster.max_hours
    if hours > most and hours != STAGE_HOURS:
        message = f"a stage of {spec.name} may take {hours} hours (stage_hours)"
        hint = (
            f"The cluster {cluster.name!r} is terminated after max_hours: {most}: "
            f"choose up to {most} hours, a greater max_hours, or another cluster."
        )
        yield Problem(path, hours, message, hint)


@DOMAIN.rule("glossary")
def glossary_terms_are_words(spec: DomainSpec) -> Iterator[Problem]:
    """Refuse terms, meanings and synonyms that are not one line of plain text.

    Fix: Write terms and synonyms of at most 64 letters, digits, spaces and _ . : / = +
    @ -, and meanings of at most 255 characters.
    """
    for name, term in spec.glossary:
        path: Path = ("glossary", name)
        yield from names.label(path, name, LONGEST_TERM)
        yield from names.comment((*path, "description"), term.description)
        for place, word in enumerate(term.synonyms):
            yield from names.label((*path, "synonyms", place), word, LONGEST_TERM)


@DOMAIN.rule("glossary")
def glossary_words_mean_one_term(spec: DomainSpec) -> Iterator[Problem]:
    """Refuse a word that stands for two terms of the glossary.

    Fix: Remove it from one of the two.
    """
    taken: Dict[str, str] = {}
    for name, term in spec.glossary:
        for path, word in _words(name, term):
            first = taken.setdefault(word.lower(), name)
            if first != name:
                hint = (
                    f"It stands for {first!r} already: remove it from one of the two."
                )
                yield got(path, word, hint)


def _words(name: str, term: Term) -> Iterator[Tuple[Path, str]]:
    yield ("glossary", name), name
    for place, word in enumerate(term.synonyms):
        yield ("glossary", name, "synonyms", place), word
