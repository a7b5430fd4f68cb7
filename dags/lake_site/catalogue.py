"""The catalogue of a domain: what the pages over all domains need of it, as JSON."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from lake_spec.layout.site_pages import table_page

from lake_site.columns import ColumnRow, columns_of
from lake_site.facts import DomainFacts, TableFacts
from lake_site.glossary import terms_of

_LONGEST = 200  # characters of a description in the index


def catalogue_of(facts: DomainFacts) -> dict[str, Any]:
    """Return states of the tables, the words to find them by, and the glossary."""
    names = {
        "glossary": [
            {"term": term, "description": of.description, "synonyms": list(of.synonyms)}
            for term, of in facts.spec.glossary
        ],
        "entries": [each for table in facts.tables for each in _entries(table)],
    }
    text = json.dumps(names, sort_keys=True)
    return {
        "domain": facts.spec.name,
        "description": facts.spec.description,
        "owner": facts.spec.owner,
        "at": facts.now.isoformat(),
        "tables": len(facts.tables),
        "states": _counts(facts),
        "problems": [
            {
                "table": table.spec.name,
                "kind": table.problems[0].kind,
                "words": table.problems[0].words,
                "more": len(table.problems) - 1,
            }
            for table in facts.tables
            if table.problems
        ],
        "last_run": _last_run(facts),
        "minutes": round(facts.costs["all"]["minutes"], 1),
        "names_hash": hashlib.sha256(text.encode()).hexdigest(),
        **names,
    }


def search_documents(catalogue: Mapping[str, Any]) -> list[list[str]]:
    """Return [page, name, title, description, other words] of tables, columns and terms."""
    found = [
        [each["page"], each["name"], each["title"], each["description"], each["words"]]
        for each in catalogue["entries"]
    ]
    for term in catalogue["glossary"]:
        words = " ".join(term["synonyms"])
        page = f"glossary.html#{anchor(term['term'])}"
        found.append([page, term["term"], "term", term["description"], words])
    return found


def search_script(catalogue: Mapping[str, Any]) -> str:
    """Return the documents as a script, which pages opened as files can load too."""
    documents = json.dumps(search_documents(catalogue), separators=(",", ":"))
    return f"(window.lakeIndex = window.lakeIndex || []).push(...{documents});\n"


def anchor(text: str) -> str:
    """Return an id of an element for any text."""
    return "t-" + hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12]


def _entries(table: TableFacts) -> list[dict[str, str]]:
    spec, domain = table.spec, table.domain.spec
    page = table_page(spec.domain, spec.name)
    words = [spec.owner, domain.description, *_synonyms(table, spec.name)]
    found = [
        {
            "page": page,
            "name": spec.name,
            "title": f"table {spec.full_name}",
            "description": spec.description[:_LONGEST],
            "words": " ".join(words),
        }
    ]
    # Columns that history adds are in each table: nobody looks for them by name.
    own = (column for column in columns_of(table) if not column.is_added)
    return found + [_entry(table, page, column) for column in own]


def _entry(table: TableFacts, page: str, column: ColumnRow) -> dict[str, str]:
    spec = table.spec
    synonyms = _synonyms(table, column.name, column.tags)
    # The table's own words are the column's too: "customer birthday" names both.
    of_table = [spec.name, *_synonyms(table, spec.name)]
    words = [*column.source_names, *column.tags, *synonyms, *of_table]
    return {
        "page": f"{page}#{anchor(column.name)}",
        "name": column.name,
        "title": f"column of {spec.full_name}",
        "description": (column.description or "")[:_LONGEST],
        "words": " ".join(words),
    }


def _synonyms(table: TableFacts, name: str, tags: tuple[str, ...] = ()) -> list[str]:
    found = terms_of(table.domain.spec, name, tags)
    return [word for term, of in found for word in (term, *of.synonyms)]


def _counts(facts: DomainFacts) -> dict[str, int]:
    counts: dict[str, int] = {}
    for table in facts.tables:
        counts[table.state] = counts.get(table.state, 0) + 1
    return counts


def _last_run(facts: DomainFacts) -> dict[str, Any]:
    if not facts.runs:
        return {}
    run = facts.runs[0]
    ended = run.ended.isoformat() if run.ended else ""
    return {"name": run.name, "state": run.state, "ended": ended}
