"""Markdown of the pages as mkdocs takes it: GitHub reads two things in another way.

A hook of mkdocs (mkdocs.yml). Links to files of the repository, which are no part of the
site, lead to `repo_url` where the build has one (`REPOSITORY_URL`), else to the file in
this checkout. The name after a block's language becomes the title of the block.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
UPWARDS = re.compile(r"\]\((\.\./[^)\s]*)\)")
NAMED_BLOCK = re.compile(r"^```(\w+) (\S+)$", re.MULTILINE)


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Any) -> str:
    """Return the Markdown of a page, as mkdocs is to read it."""
    linked = with_links(markdown, DOCS / page.file.src_uri, base(config.repo_url))
    return with_titles(linked)


def base(repo_url: str | None) -> str:
    """Return the address that paths of the repository are appended to."""
    return f"{repo_url.rstrip('/')}/blob/main" if repo_url else ROOT.as_uri()


def with_links(markdown: str, page: Path, base: str) -> str:
    """Return the text with each relative link that leaves docs/ below `base`."""

    def address(link: re.Match[str]) -> str:
        path, mark, anchor = link[1].partition("#")
        target = (page.parent / path).resolve()
        if DOCS in (target, *target.parents):
            return link[0]
        return f"]({base}/{target.relative_to(ROOT).as_posix()}{mark}{anchor})"

    return UPWARDS.sub(address, markdown)


def with_titles(markdown: str) -> str:
    """Return the text with "```csv changes/1.csv" as a block with this title."""
    return NAMED_BLOCK.sub(r'```\1 title="\2"', markdown)
