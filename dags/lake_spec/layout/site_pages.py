"""Paths of the pages of the lake's site: what links to a page and what writes it agree here.

A path is relative to the site's root, `<runs>/site/`, and safe in a URL as it is: names of
domains, tables and DAGs are identifiers, run keys have `[A-Za-z0-9_.-]` only.
"""

from __future__ import annotations

from typing import Tuple

START, GLOSSARY, SEARCH = "index.html", "glossary.html", "search.html"
FOLDER = "site"


def site_folder(runs: str) -> str:
    """Return the address of the site below the root of the runs, without a slash."""
    return f"{runs.rstrip('/')}/{FOLDER}"


def domain_page(domain: str) -> str:
    """Return the path of a domain's page."""
    return f"domains/{domain}/{START}"


def table_page(domain: str, table: str) -> str:
    """Return the path of a table's page."""
    return f"domains/{domain}/tables/{table}.html"


def run_page(domain: str, run: str) -> str:
    """Return the path of a run's page; `run` is `<dag_id>/<run key>`."""
    return f"domains/{domain}/runs/{run}.html"


def letter_page(letter: str) -> str:
    """Return the path of a letter of the index, `a` to `z`, or `other`."""
    return f"az/{letter}.html"


def nth_page(path: str, number: int) -> str:
    """Return the path of the part of a long page, counted from 1.

    The tilde is in no name of a table or run.
    """
    return path if number == 1 else f"{path[: -len('.html')]}~{number}.html"


def catalogue_file(domain: str) -> str:
    """Return the path of what the pages over all domains need of one."""
    return f"domains/{domain}/catalogue.json"


def search_file(domain: str) -> str:
    """Return the path of a domain's part of the search index."""
    return f"domains/{domain}/search.js"


def domain_of_catalogue(path: str) -> str:
    """Return the domain of a path that `catalogue_file` gave."""
    return path.split("/")[1]


def root_of(path: str) -> str:
    """Return the relative address of the site's root, as seen from a page."""
    return "../" * path.count("/")


LETTERS: Tuple[str, ...] = (*"abcdefghijklmnopqrstuvwxyz", "other")
