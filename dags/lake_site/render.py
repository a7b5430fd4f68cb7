"""Pages from facts: files by path, without reading or writing anything."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Optional

import jinja2

from lake_spec.layout import site_pages
from lake_spec.layout.table_folders import table_folder
from lake_spec.lineage.columns import FOLDERS, Layer, layers_of
from lake_spec.model import DimensionTable, EnvironmentSpec, FileTable, ProductTable
from lake_spec.state.state_format import state_text

from lake_site import pictures, quality
from lake_site.catalogue import anchor, catalogue_of, search_script
from lake_site.columns import columns_of
from lake_site.facts import DAYS, DomainFacts, Run, TableFacts
from lake_site.source_text import source_of
from lake_site.statements import statements_of, unreadable_by

Files = dict[str, bytes]

ROWS = 100
"""Rows of a list on one page; entries of the index have twice as many."""
COLUMNS_SHOWN = 100
COLUMNS_NAMED = 5
"""Personal columns that the head of a page names."""
VALUES_SHOWN = 5
"""Most frequent values of a column that a page shows."""

_LONGEST_VALUE = 40
RUNS_SHOWN = 15
MESSAGES_SHOWN = 50
MAINTAINED_SHOWN = 20
_LONGEST_MESSAGE = 600
_HERE = Path(__file__).parent
_WORST_FIRST = ("failed", "late", "warning", "empty", "ok")
_STATES = {
    "failed": "Failed",
    "late": "Late",
    "warning": "Warning",
    "empty": "No data yet",
    "ok": "OK",
    "succeeded": "Succeeded",
}


def domain_files(
    facts: DomainFacts,
    environment: EnvironmentSpec,
    *,
    tables: Optional[Collection[str]] = None,
    runs: Optional[Collection[str]] = None,
) -> Files:
    """Return the pages of a domain, its tables and runs, and its catalogue.

    Args:
        facts: what is known of the domain.
        environment: where the tables are.
        tables: names of the tables whose pages are made; None for all.
        runs: names of the runs whose pages are made; None for all.
    """
    files: Files = {}
    catalogue = catalogue_of(facts)
    name = facts.spec.name
    _add(files, site_pages.catalogue_file(name), state_text(catalogue))
    _add(files, site_pages.search_file(name), search_script(catalogue))
    _add_domain(files, facts)
    for table in facts.tables:
        if tables is None or table.spec.name in tables:
            _add_table(files, table, environment)
    for run in facts.runs:
        if runs is None or run.name in runs:
            _add_run(files, facts, run)
    return files


def overall_files(
    catalogues: Iterable[Mapping[str, Any]],
    now: datetime,
    *,
    environment: str,
    with_index: bool = True,
) -> Files:
    """Return the pages over all domains, from their catalogues.

    `with_index` adds those that change with names only: index, glossary, search.
    """
    found = sorted(catalogues, key=lambda each: each["domain"])
    problems = [
        {**p, "domain": each["domain"]} for each in found for p in each["problems"]
    ]
    problems.sort(key=lambda each: _WORST_FIRST.index(each["kind"]))
    files: Files = {}
    _paged(
        files,
        "start.html",
        site_pages.START,
        found,
        environment=environment,
        problems=problems[:MESSAGES_SHOWN],
        at=now,
        more=max(len(problems) - MESSAGES_SHOWN, 0),
    )
    for name in ("style.css", "search.js", "minisearch.js", "minisearch.LICENSE.txt"):
        files[f"assets/{name}"] = _asset(name)
    if with_index:
        _add_index(files, found, now)
    return files


def gone_page(path: str, now: datetime) -> bytes:
    """Return what stands in place of a page whose content was erased."""
    files: Files = {}
    _page(files, "gone.html", path, at=now)
    return files[path]


def _add_domain(files: Files, facts: DomainFacts) -> None:
    tables = sorted(facts.tables, key=lambda each: _WORST_FIRST.index(each.state))
    page = site_pages.domain_page(facts.spec.name)
    _paged(
        files,
        "domain.html",
        page,
        tables,
        facts=facts,
        money=_money(facts),
        runs=facts.runs[:RUNS_SHOWN],
        at=facts.now,
        cost=facts.costs["all"],
    )


def _add_table(files: Files, table: TableFacts, environment: EnvironmentSpec) -> None:
    spec, facts = table.spec, table.domain
    columns = columns_of(table)
    source = source_of(spec)
    last = table.last_ingest
    results = quality.rule_results(table)
    picture = pictures.lineage_picture(
        spec.full_name,
        source.name,
        [each.lineage for each in columns if not each.is_added],
    )
    _paged(
        files,
        "table.html",
        site_pages.table_page(spec.domain, spec.name),
        columns,
        size=COLUMNS_SHOWN,
        table=table,
        spec=spec,
        is_product=isinstance(spec, ProductTable),
        has_files=isinstance(spec, FileTable),
        facts=facts,
        at=facts.now,
        source=source,
        last=last,
        landed=(last[1].get("files") or ())[-MESSAGES_SHOWN:] if last else (),
        results=results,
        rule_charts=quality.rule_charts(results),
        bad_runs=quality.bad_runs(table),
        maintained=quality.maintained(table)[:MAINTAINED_SHOWN],
        last_maintained=quality.last_maintained(table),
        maintenance_schedule=facts.spec.schedules.maintenance,
        money=_money(facts),
        picture=picture,
        charts=_charts(table),
        runs=table.runs[:RUNS_SHOWN],
        statements=list(statements_of(spec, environment)),
        unreadable=unreadable_by(spec),
        personal=facts.guard.personal(spec.full_name),
        layers=[FOLDERS[each] for each in layers_of(spec)],
        storage=table_folder(environment.warehouse, spec.stored_as),
    )


def _charts(table: TableFacts) -> list[dict[str, Any]]:
    """Return the charts of the table's last days, each with the words that it draws."""
    figures = [
        ("Rows ingested", "accepted", "rows"),
        ("Bad rows, in the quarantine", "bad", "bad"),
        ("Versions opened in history", "opened", "rows"),
    ]
    if isinstance(table.spec, DimensionTable):  # it ingests nothing
        del figures[:2]
    elif isinstance(table.spec, ProductTable):
        figures = [("Rows inserted or changed", "upserted", "rows")]
    return [
        pictures.chart(
            title,
            kind,
            [(day.day.isoformat(), getattr(day, name)) for day in table.days],
            per="day",
        )
        for title, name, kind in figures
    ]


def _add_run(files: Files, facts: DomainFacts, run: Run) -> None:
    rows = [
        (table, stage, report)
        for table, stages in run.tables.items()
        for stage, report in stages.items()
    ]
    entries = [each for each in facts.entries if each.get("run") == run.name]
    known = {table.name for table in facts.spec.tables}
    samples = quality.samples_of_run(facts, run)
    maintained = quality.maintained_in_run(run)
    causes = [facts.guard.cause(each, run.tables) for each in run.causes]
    warnings = [facts.guard.cause(each, run.tables) for each in run.warnings]
    _paged(
        files,
        "run.html",
        site_pages.run_page(facts.spec.name, run.name),
        rows,
        run=run,
        facts=facts,
        at=facts.now,
        known=known,
        causes=causes[:MESSAGES_SHOWN],
        more_causes=max(len(causes) - MESSAGES_SHOWN, 0),
        warnings=warnings[:MESSAGES_SHOWN],
        more_warnings=max(len(warnings) - MESSAGES_SHOWN, 0),
        bars=pictures.timeline(run),
        samples=samples[:MESSAGES_SHOWN],
        more_samples=max(len(samples) - MESSAGES_SHOWN, 0),
        maintained=maintained[:MESSAGES_SHOWN],
        more_maintained=max(len(maintained) - MESSAGES_SHOWN, 0),
        minutes=sum(each["minutes"]["total"] for each in entries) if entries else None,
    )


def _add_index(
    files: Files, catalogues: Sequence[Mapping[str, Any]], now: datetime
) -> None:
    terms = [
        {**term, "domain": each["domain"]}
        for each in catalogues
        for term in each["glossary"]
    ]
    terms.sort(key=lambda each: each["term"].lower())
    _paged(files, "glossary.html", site_pages.GLOSSARY, terms, at=now)
    letters = _by_letter(catalogues)
    for letter, entries in letters.items():
        page = site_pages.letter_page(letter)
        counts = {each: len(of) for each, of in letters.items()}
        _paged(
            files,
            "letter.html",
            page,
            sorted(entries),
            size=2 * ROWS,
            letter=letter,
            counts=counts,
            at=now,
        )
    scripts = [site_pages.search_file(each["domain"]) for each in catalogues]
    _page(files, "search.html", site_pages.SEARCH, scripts=scripts, at=now)


def _by_letter(
    catalogues: Iterable[Mapping[str, Any]],
) -> dict[str, list[tuple[str, str, str, str]]]:
    """Return (name, title, description, page) by the first letter, also of synonyms."""
    found: dict[str, list[tuple[str, str, str, str]]] = {
        letter: [] for letter in site_pages.LETTERS
    }
    for catalogue in catalogues:
        for each in catalogue["entries"]:
            row = (each["name"], each["title"], each["description"], each["page"])
            found[_letter(each["name"])].append(row)
        for term in catalogue["glossary"]:
            page = f"{site_pages.GLOSSARY}#{anchor(term['term'])}"
            for word in (term["term"], *term["synonyms"]):
                title = "term" if word == term["term"] else f"see {term['term']}"
                found[_letter(word)].append((word, title, term["description"], page))
    return found


def _letter(name: str) -> str:
    first = name[:1].lower()
    return first if first in site_pages.LETTERS else "other"


def _money(facts: DomainFacts) -> Optional[tuple[str, str]]:
    """Return currency and column of costs; None without prices."""
    return (facts.prices.currency, facts.prices.column) if facts.prices else None


def _paged(
    files: Files,
    template: str,
    path: str,
    rows: Sequence[Any],
    *,
    size: int = ROWS,
    **values: Any,
) -> None:
    """Add a page for every `size` rows, linked to each other."""
    pages = max(-(-len(rows) // size), 1)
    links = [site_pages.nth_page(path, n + 1).rpartition("/")[2] for n in range(pages)]
    for n, link in enumerate(links):
        part = rows[n * size : (n + 1) * size]
        own = {"rows": part, "page": n + 1, "links": links, "all_rows": len(rows)}
        _page(files, template, site_pages.nth_page(path, n + 1), **own, **values)


def _page(files: Files, template: str, path: str, **values: Any) -> None:
    root = site_pages.root_of(path)
    _add(files, path, _templates().get_template(template).render(root=root, **values))


def _add(files: Files, path: str, text: str) -> None:
    files[path] = text.encode("utf-8", "replace")


@lru_cache(maxsize=None)
def _asset(name: str) -> bytes:
    return (_HERE / "assets" / name).read_bytes()


@lru_cache(maxsize=None)
def _templates() -> jinja2.Environment:
    found = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    found.globals.update(
        pages=site_pages,
        DAYS=DAYS,
        VALUES=VALUES_SHOWN,
        COLUMNS_NAMED=COLUMNS_NAMED,
        STATES=_STATES,
        Layer=Layer,
        letters=site_pages.LETTERS,
    )
    found.filters.update(
        number=_number,
        figure=_figure,
        when=_when,
        duration=_duration,
        size=_size,
        anchor=anchor,
        short=pictures.short,
        share=_share,
        value=_value,
        histogram=pictures.histogram,
        message=_message,
        shown_list=_listed,
    )
    return found


def _number(value: Any) -> str:
    """Format a count or a figure; a dash for none."""
    if value is None or value == "":
        return "–"
    return f"{value:,.1f}" if isinstance(value, float) else f"{int(value):,}"


def _figure(value: float) -> str:
    """Format the number of a check, as its message does: all digits of whole numbers."""
    return f"{int(value):,}" if value == int(value) else f"{value:,.6g}"


def _when(value: Optional[datetime], *, seconds: bool = False) -> str:
    parts = "%Y-%m-%d %H:%M:%S UTC" if seconds else "%Y-%m-%d %H:%M UTC"
    return f"{value:{parts}}" if value else "–"


def _share(count: int, of: int) -> str:
    """Format a part of a whole in percent; what is neither none nor all is shown so."""
    percent = 100 * count / of if of else 0.0
    if 0 < percent < 0.1:
        return "<0.1%"
    return ">99.9%" if 99.9 < percent < 100 else f"{percent:.3g}%"


def _value(text: str) -> str:
    """Cut a value, and show one that is empty or blank as such."""
    if not text.strip():
        return f"blank ({len(text)} characters)" if text else "empty text"
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"


def _duration(seconds: Any) -> str:
    whole = float(seconds or 0)
    if whole < 90:
        return f"{whole:.1f} s"
    return f"{whole / 60:.0f} min" if whole < 5400 else f"{whole / 3600:.1f} h"


def _size(count: Any) -> str:
    """Format bytes."""
    if count is None:
        return "–"
    value, units = float(count), ("B", "KB", "MB", "GB", "TB")
    for unit in units:
        if value < 1000 or unit == units[-1]:
            break
        value /= 1000
    return f"{value:,.0f} {unit}" if unit == "B" else f"{value:,.1f} {unit}"


def _message(text: Any) -> str:
    """Cut a text that is longer than a page should show."""
    words = str(text)
    return words if len(words) <= _LONGEST_MESSAGE else f"{words[:_LONGEST_MESSAGE]}…"


def _listed(values: Iterable[Any]) -> str:
    return ", ".join(map(str, values))


def largest(files: Files) -> Iterator[tuple[str, int]]:
    """List pages and their bytes, the largest first."""
    pages = ((p, len(body)) for p, body in files.items() if p.endswith(".html"))
    yield from sorted(pages, key=lambda each: -each[1])
