"""Collects what the pages are made of, and writes them: summaries, ledger, catalogues."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any, Optional

from lake_check.costs.ledger import OF_ANY_DOMAIN, entry_start, made_since
from lake_check.costs.prices import Prices
from lake_spec.layout import site_pages
from lake_spec.layout.dag_names import ids_of
from lake_spec.lineage.sensitivity import ColumnSensitivity
from lake_spec.model import DomainSpec, EnvironmentSpec
from lake_spec.state.state_format import UnreadableState, parse_state, state_text
from lake_spec.state.table_profile import (
    TableProfile,
    profile_file,
    profiles_folder,
    read_profile,
)

from lake_site.facts import DAYS, DomainFacts, runs_of
from lake_site.render import Files, domain_files, gone_page, overall_files
from lake_site.store import Store

RUNS = 60
"""Runs of each DAG that are read, the newest by the time in their ids."""

MOST_BYTES = 100_000_000
"""Bytes of summaries after which no older ones of a domain are read."""

AT_ONCE = 16
"""Requests at the same time, and summaries that are read before bytes are counted."""
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}T[\d.-]*")

_INDEXED = "az/indexed.json"
"""Hashes of the names that the index was written with, by domain."""

log = logging.getLogger(__name__)


def facts_of(
    domain: DomainSpec,
    environment: EnvironmentSpec,
    runs: Store,
    *,
    now: datetime,
    sensitivity: Optional[ColumnSensitivity] = None,
    prices: Optional[Prices] = None,
    ledger: Optional[list[dict[str, Any]]] = None,
    run: str = "",
) -> DomainFacts:
    """Read what the last runs of a domain left.

    Args:
        domain: its specs, as they are in the environment.
        environment: where it lives.
        runs: the root of the runs.
        now: the time that lateness and days are counted from.
        sensitivity: what knows its columns and those that its products read.
        prices: what costs are given by.
        ledger: entries of all domains, where they were read before.
        run: a run that is read however many are newer, as a backfilled one.
    """
    entries = ledger_entries(runs, now, domain.name) if ledger is None else ledger
    return DomainFacts(
        spec=domain,
        runs=runs_of(_summaries(runs, domain.name, run)),
        now=now,
        entries=[each for each in entries if each.get("domain") == domain.name],
        sensitivity=sensitivity,
        prices=prices,
        profiles=_profiles(runs, domain),
    )


def ledger_entries(
    runs: Store, now: datetime, domain: Optional[str] = None
) -> list[dict[str, Any]]:
    """Read the entries of clusters of the last days: of a domain, or of all.

    With those of the domain come all that older releases wrote: their names do not tell.
    """
    since = (now - timedelta(days=DAYS)).date()
    days = [day for day in runs.folders("costs/") if day >= since.isoformat()]
    starts = ("",) if domain is None else (entry_start(domain), OF_ANY_DOMAIN)
    prefixes = [f"costs/{day}/{start}" for day in days for start in starts]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        listed = pool.map(lambda prefix: list(runs.files(prefix)), prefixes)
        names = {name for each in listed for name in each}
    return list(_read_all(runs, made_since(names, since)))


def write_run(
    facts: DomainFacts,
    environment: EnvironmentSpec,
    site: Store,
    *,
    run: str,
    whole: bool = False,
) -> int:
    """Write the pages that a run changes; return their number.

    These are the run's, those of its tables, its domain's and the start page; the index,
    the glossary and the search page only if a name or a meaning of any domain changed since
    they were written.

    With `whole`, as after an erase, which takes keys out of reports, all pages of the
    domain are written; those that are made of nothing any more lose their content.
    """
    tables = next((set(each.tables) for each in facts.runs if each.name == run), set())
    if whole:
        files = domain_files(facts, environment)
        there = site.files(f"domains/{facts.spec.name}/")
        old = (path for path in there if path.endswith(".html") and path not in files)
        files.update({path: gone_page(path, facts.now) for path in old})
    else:
        files = domain_files(facts, environment, tables=tables, runs=(run,))
    own = json.loads(files[site_pages.catalogue_file(facts.spec.name)])
    others = (name for name in site.folders("domains/") if name != facts.spec.name)
    catalogues = _read_all(site, [site_pages.catalogue_file(name) for name in others])
    catalogues = [own, *catalogues]
    indexed = {each["domain"]: each["names_hash"] for each in catalogues}
    changed = next(iter(_read_all(site, [_INDEXED])), {}).get("domains") != indexed
    files.update(
        overall_files(
            catalogues,
            facts.now,
            environment=environment.name,
            with_index=changed,
        )
    )
    write(site, files)
    if changed:  # last: after a failed or an overlapping write the next run repeats it
        text = state_text({"domains": indexed})
        write(site, {_INDEXED: text.encode()})
    return len(files)


def whole_site(
    domains: Iterable[DomainSpec],
    environment: EnvironmentSpec,
    runs: Store,
    *,
    now: datetime,
    prices: Optional[Prices] = None,
) -> Files:
    """Return all pages of all domains."""
    files: Files = {}
    catalogues = []
    entries = ledger_entries(runs, now)
    domains = list(domains)
    sensitivity = ColumnSensitivity(t for each in domains for t in each.tables)
    for domain in domains:
        facts = facts_of(
            domain,
            environment,
            runs,
            now=now,
            sensitivity=sensitivity,
            prices=prices,
            ledger=entries,
        )
        files.update(domain_files(facts, environment))
        catalogues.append(json.loads(files[site_pages.catalogue_file(domain.name)]))
    files.update(overall_files(catalogues, now, environment=environment.name))
    return files


def write(site: Store, files: Files) -> None:
    """Write all files, several at once."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(lambda path: site.write(path, files[path]), files))


def _profiles(runs: Store, domain: DomainSpec) -> dict[str, TableProfile]:
    """Read the profiles of the tables of a domain; damaged ones are logged."""
    names = {profile_file(each.stored_as): each.name for each in domain.tables}
    folders = {domain.name, *(each.stored_domain for each in domain.tables)}
    stored = [file for each in folders for file in runs.files(profiles_folder(each))]
    found = {}
    for path, body in _bodies(runs, [path for path in stored if path in names]):
        try:
            found[names[path]] = read_profile(body, path)
        except UnreadableState as error:
            log.warning("%s", error)
    return found


def _summaries(runs: Store, domain: str, run: str) -> Iterator[dict[str, Any]]:
    """Read the summaries of a run and of the newest ones of all DAGs of its domain."""
    found = {name for dag_id in ids_of(domain) for name in _newest_runs(runs, dag_id)}
    newest = sorted(found - {run}, key=_time_in, reverse=True)
    names = [run, *newest] if run else newest
    read = 0
    for first in range(0, len(names), AT_ONCE):
        paths = [f"{name}/summary.json" for name in names[first : first + AT_ONCE]]
        for path, body in _bodies(runs, paths):
            read += len(body)
            parsed = _parsed(path, body)
            if parsed is not None:
                yield parsed
        if read > MOST_BYTES:
            return


def _newest_runs(runs: Store, dag_id: str) -> list[str]:
    """List the newest runs of a DAG by the time in their keys; others count as oldest."""
    keys = sorted(runs.folders(f"{dag_id}/"), key=_time_in, reverse=True)
    return [f"{dag_id}/{key}" for key in keys[:RUNS]]


def _time_in(name: str) -> str:
    found = _TIME.search(name)
    return found[0] if found else ""


def _bodies(store: Store, paths: list[str]) -> Iterator[tuple[str, bytes]]:
    """Read files, several at once; those that do not exist are left out."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for path, body in zip(paths, pool.map(store.read, paths)):
            if body is not None:
                yield path, body


def _read_all(store: Store, paths: list[str]) -> list[dict[str, Any]]:
    """Read JSON objects; those missing or unreadable are left out."""
    found = (_parsed(path, body) for path, body in _bodies(store, paths))
    return [each for each in found if each is not None]


def _parsed(path: str, body: bytes) -> Optional[dict[str, Any]]:
    """Parse a JSON object; one that is damaged or of a newer format is logged."""
    try:
        return parse_state(body, what="a file of the site's input", where=path)
    except UnreadableState as error:
        log.warning("%s", error)
        return None
