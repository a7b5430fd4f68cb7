"""docs/README.md lists every page, and every link of a page leads to a page and a heading."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Iterator

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
MAP = DOCS / "README.md"
GENERATED = ("decisions", "reference", "schema")
"""Folders whose own README lists their pages, but for those of FROM_CODE."""
FROM_CODE = {"reference/messages.md"}
"""Pages of such a folder that the map lists itself."""

LINK = re.compile(r"\]\(<?([^)>\s]+)>?\)")
FENCE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"`[^`\n]*`")


def pages() -> list[Path]:
    roots = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    return [*roots, *sorted(DOCS.rglob("*.md"))]


def slug(title: str) -> str:
    return re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives to the headings of a page."""
    found: set[str] = set()
    for title in re.findall(
        r"^#+ (.+)$", FENCE.sub("", page.read_text("utf-8")), re.MULTILINE
    ):
        text = LINK.sub("]", title).replace("[", "").replace("]", "")
        number, unique = 0, slug(text)
        while unique in found:
            number += 1
            unique = f"{slug(text)}-{number}"
        found.add(unique)
    return found


def links(text: str) -> list[str]:
    return LINK.findall(CODE.sub("", FENCE.sub("", text)))


def broken(page: Path, text: str) -> Iterator[str]:
    """Each relative link of a page that leads nowhere."""
    for link in links(text):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists():
            yield f"{link}: no such file"
        elif anchor and anchor not in anchors(target):
            yield f"{link}: {target.name} has no such heading"


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_file_and_a_heading(page):
    assert list(broken(page, page.read_text("utf-8"))) == []


def listed_pages() -> list[str]:
    return [link for link in links(MAP.read_text("utf-8")) if link.endswith(".md")]


def test_the_map_lists_every_page_once():
    listed = listed_pages()
    written = {
        str(page.relative_to(DOCS))
        for page in DOCS.rglob("*.md")
        if page.relative_to(DOCS).parts[0] not in GENERATED and page != MAP
    }
    indexes = {f"{folder}/README.md" for folder in ("decisions", "reference")}
    assert sorted(listed) == sorted(written | indexes | FROM_CODE)


def test_the_site_has_the_pages_of_the_map():
    listed = listed_pages()
    nav = (ROOT / "mkdocs.yml").read_text("utf-8").split("\nnav:\n")[1]
    shown = re.findall(r"^ +- (?:.*: )?(\S+\.md)$", nav, re.MULTILINE)
    made = [path for path in shown if re.fullmatch(r"reference/[a-z-]+\.md", path)]
    assert sorted(shown) == sorted({"README.md", *listed, *made})


def test_the_list_of_decisions_has_the_title_of_each_record():
    records = sorted((DOCS / "decisions").glob("[0-9]*.md"))[1:]
    rows = []
    for path in records:
        number, title = path.read_text("utf-8").split("\n")[0][2:].split(": ", 1)
        rows.append(f"| {number} | [{title}]({path.name}) |")
    text = (DOCS / "decisions/README.md").read_text("utf-8")
    assert re.findall(r"^\| \d.*$", text, re.MULTILINE) == rows


@pytest.mark.parametrize("link", ["nowhere.md", "contract.md#2-odor", "#odor"])
def test_a_broken_link_is_found(link):
    assert len(list(broken(MAP, f"see [this]({link})"))) == 1


def test_a_right_link_is_not():
    text = "[a](contract.md#2-order), [b](#how-to), `[c](x)`, [d](https://x.org/#y)"
    assert list(broken(MAP, text)) == []
