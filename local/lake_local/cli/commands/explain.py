"""Explain a message by its id: the cause, and what to do.

ID is in the brackets at the end of a line of `validate`, or the name before the colon in a
cause or a warning of a run. It starts nothing.

Examples:
  ./run_locally.sh explain key-has-columns
  ./run_locally.sh explain TooManyBadRows
"""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from pathlib import Path

from lake_check.messages.message_ids import CATALOGUE

from lake_local.errors import BadRequest, unknown
from lake_local.workspace.project import find

_ENTRY = re.compile(r"^### `?([A-Za-z][\w-]*)`?$")


def add_arguments(parser: ArgumentParser) -> None:
    """Add the id, and the page with the messages."""
    parser.add_argument("id", metavar="ID", help="as in [key-has-columns]")
    parser.add_argument(
        "--page",
        type=Path,
        metavar="FILE",
        help=f"page with the messages (default {CATALOGUE})",
    )


def run(args: Namespace) -> int:
    """Print the section of the id. Raises BadRequest with the nearest id."""
    page = args.page or find().root / CATALOGUE
    if not page.is_file():
        raise BadRequest(f"--page {page}: no such file. Write the path of {CATALOGUE}.")
    sections = sections_of(page.read_text(encoding="utf-8"))
    asked = args.id.strip("[]`:")
    if asked not in sections:
        raise BadRequest(unknown("message", asked, sections))
    print(f"{asked}\n\n{sections[asked]}")
    return 0


def sections_of(page: str) -> dict[str, str]:
    """Return the text below each heading `### <Id>` of the catalogue, by id."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in page.splitlines():
        heading = _ENTRY.match(line)
        if heading:
            lines = found.setdefault(heading[1], [])
        elif line.startswith("#"):
            lines = []
        else:
            lines.append(line)
    return {name: "\n".join(text).strip() for name, text in found.items()}
