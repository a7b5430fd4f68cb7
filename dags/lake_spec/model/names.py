"""Rules of names, paths and texts: allow-lists, never deny-lists."""

from __future__ import annotations

import re
from typing import Iterator

from lake_spec.diagnostics.diagnostic import Path, Problem, got
from lake_spec.model.limits import Form
from lake_spec.text.sql_text import not_a_name

LONGEST_NAME = 63

NAME = Form(
    f"[a-z][a-z0-9_]{{0,{LONGEST_NAME - 1}}}",
    f"Write 1 to {LONGEST_NAME} of a-z, 0-9 and _, beginning with a letter.",
)
"""Of tables, columns, folders, DAG ids and SQL."""

DOMAIN_OR_TABLE = Form(
    rf"{NAME.pattern}(?:\.{NAME.pattern})?",
    "Write a domain, or a table as domain.table, as in sales.orders.",
)

_SOURCE_NAME = re.compile(r"[\w$@#%][\w $@#%.:/()&+-]{0,127}")
_PART = r"[A-Za-z0-9_.=+@-]+"
_PATH = re.compile(rf"{_PART}(/{_PART})*")
_GLOB_PART = r"[A-Za-z0-9_.=+@*?-]+"
_GLOB = re.compile(rf"{_GLOB_PART}(/{_GLOB_PART})*")
_LINE = re.compile(r"[^\x00-\x1f\x7f-\x9f\u2028\u2029]*")
_TEMPLATE = re.compile(r"\{\{|\{%|\{#")
_LABEL = re.compile(r"[\w][\w .:/=+@-]*")

RESERVED_PREFIXES = ("lake_", "_hoodie_")
"""Of names of columns that the lake and Hudi give."""

LONGEST_SOURCE_NAME = 256
SHORTEST_DESCRIPTION = 16
SHORTEST_OWNER = 6
CONTACT = re.compile(
    r"https://[A-Za-z0-9.-]+(:[0-9]+)?(/[A-Za-z0-9._~/?#=&%+-]*)?"
    r"|[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+"
    r"|#[A-Za-z0-9_-]+"
)
"""A page, an address of mail, or a channel."""


def name(path: Path, value: str) -> Iterator[Problem]:
    """Require a name that is valid for tables, columns, folders, DAG ids and SQL."""
    if not NAME.fits(value):
        yield got(path, value, NAME.hint)


def is_source_name(value: str) -> bool:
    """Return whether a column of this name is taken without a declaration, or refused."""
    return bool(_SOURCE_NAME.fullmatch(value))


def source_name(path: Path, value: str) -> Iterator[Problem]:
    """Require a valid name of a source's column."""
    if not is_source_name(value):
        yield got(
            path,
            value,
            "Write 1 to 128 letters, digits, spaces and $ @ # % _ . : / ( ) & + -.",
        )


def text_of_source(path: Path, value: str, *, is_csv: bool) -> Iterator[Problem]:
    """Require a name of a source's column that can be looked for: names are data.

    Those of CSV are found by their places, all others through SQL.
    """
    if len(value) > LONGEST_SOURCE_NAME:
        yield got(path, value, f"Write at most {LONGEST_SOURCE_NAME} characters.")
    elif not is_csv and not_a_name(value):
        yield got(
            path,
            value,
            f"In other formats than CSV it cannot be read: {not_a_name(value)}. Rename"
            " the column in the source.",
        )


def relative_path(path: Path, value: str) -> Iterator[Problem]:
    """Require folders below the landing area."""
    if not _PATH.fullmatch(value) or _climbs(value):
        yield got(
            path,
            value,
            "Write folders joined by single slashes, of A-Z a-z 0-9 _ . = + @ -,"
            " as in sales/orders; no leading slash and no `..`.",
        )


def glob(path: Path, value: str) -> Iterator[Problem]:
    """Require patterns of file names below a landing folder."""
    if not _GLOB.fullmatch(value) or _climbs(value):
        yield got(
            path,
            value,
            "Write file names of A-Z a-z 0-9 _ . = + @ - with `*` (within a folder),"
            " `**` (over folders) and `?`, as in changes/*.parquet; no leading slash"
            " and no `..`.",
        )


def _climbs(value: str) -> bool:
    return any(part in (".", "..") for part in value.split("/"))


def text(path: Path, value: str) -> Iterator[Problem]:
    """Require one line of text without anything that a template would run."""
    if not _LINE.fullmatch(value) or _TEMPLATE.search(value):
        hint = "Write one line of plain text without {{, {% or control characters."
        yield got(path, value, hint)


def label(path: Path, value: str, longest: int) -> Iterator[Problem]:
    """Require valid tags of DAGs and clusters."""
    if not _LABEL.fullmatch(value) or len(value) > longest:
        hint = f"Write 1 to {longest} letters, digits, spaces and _ . : / = + @ -."
        yield got(path, value, hint)


LONGEST_COMMENT = 255
"""Characters of a column's comment in Glue."""


def comment(path: Path, value: str) -> Iterator[Problem]:
    """Require one line that Glue accepts as a comment."""
    yield from text(path, value)
    if not 0 < len(value.strip()) <= len(value) <= LONGEST_COMMENT:
        yield got(path, value, f"Write 1 to {LONGEST_COMMENT} characters.")


def description(value: str) -> Iterator[Problem]:
    """Require a meaningful sentence."""
    yield from text(("description",), value)
    if len(value.strip()) < SHORTEST_DESCRIPTION:
        hint = "Write more than 15 characters that say what it contains."
        yield got(("description",), value, hint)


def owner(value: str) -> Iterator[Problem]:
    """Require the name of a team."""
    yield from text(("owner",), value)
    if len(value.strip()) < SHORTEST_OWNER or value.strip().lower() == "airflow":
        hint = (
            "Name a team in more than 5 characters whom people can ask, "
            "as in museum-data; not airflow."
        )
        yield got(("owner",), value, hint)
