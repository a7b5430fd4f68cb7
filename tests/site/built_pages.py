"""What is wrong with the pages of a built site: dead links, orphans, what needs the web."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Dict, Iterator, List, Set, Tuple
from urllib.parse import unquote, urldefrag, urlsplit

START = "index.html"
NOT_LINKED = {"404.html"}
LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src"}
"""Elements that a browser loads something for, with the attribute that names it."""

CODE = ("code", "pre")
WORDS = ("p", "li")
LOST = re.compile(r"^(?:[-*] |\d+\. |#{1,6} |\|).*", re.MULTILINE)
"""A line of text that begins as an entry of a list, a heading or a row of a table does:
Markdown takes it for one only where an empty line comes before it."""


class Page(HTMLParser):
    """The links, ids and loaded files of a page, and whether it shows Markdown as text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.links: List[str] = []
        self.loaded: List[str] = []
        self.ids: Set[str] = set()
        self.doubled: Set[str] = set()
        self.has_open_fence = False
        self.lost: List[str] = []
        self._in_script = False
        self._in_code = self._in_words = 0
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: List[Tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self._in_script = tag == "script"
        self._in_code += tag in CODE
        self._in_words += tag in WORDS
        if "id" in values:
            (self.doubled if values["id"] in self.ids else self.ids).add(values["id"])
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag == "link" and values.get("rel") in ("stylesheet", "preload", "icon"):
            self.loaded.append(values["href"])
        if LOADED.get(tag) in values:
            self.loaded.append(values[LOADED[tag]])

    def handle_endtag(self, tag: str) -> None:
        self._in_code -= tag in CODE
        self._in_words -= tag in WORDS

    def handle_data(self, data: str) -> None:
        self.has_open_fence |= not self._in_script and "```" in data
        if self._in_words and not self._in_code:
            self.lost += LOST.findall(data)


def problems(site: Path) -> Iterator[str]:
    """Yield each problem of the site's pages, with the page."""
    pages = {
        path.relative_to(site).as_posix(): Page(path.read_text(encoding="utf-8"))
        for path in sorted(site.rglob("*.html"))
    }
    for name, page in pages.items():
        yield from (f"{name}: {problem}" for problem in _of_page(site, name, pages))
    for name in sorted(set(pages) - _reached(site, pages) - NOT_LINKED):
        yield f"{name}: no page links to it"


def _of_page(site: Path, name: str, pages: Dict[str, Page]) -> Iterator[str]:
    page = pages[name]
    yield from (f"two elements have the id {each}" for each in sorted(page.doubled))
    if page.has_open_fence:
        yield "``` is shown as text: the block does not end, or its first line is wrong"
    for each in page.lost:
        yield f"`{each[:40]}` is shown as text: let an empty line come before it"
    for each in page.loaded:
        if urlsplit(each).netloc:
            yield f"{each} is loaded from the web"
    for link in (*page.links, *page.loaded):
        path, anchor = _target(site, name, link)
        if path is None:
            continue
        if not path.exists():
            yield f"{link} leads nowhere"
        elif anchor and path.suffix == ".html":
            inside = path.relative_to(site).as_posix()
            if anchor not in pages[inside].ids:
                yield f"{link} leads to no heading"


def _target(site: Path, name: str, link: str) -> Tuple[Path | None, str]:
    """Return the file of a link and its anchor; no file for an address of the web."""
    parts = urlsplit(link)
    if parts.scheme not in ("", "file") or parts.netloc:
        return None, ""
    address, anchor = urldefrag(link)
    if parts.scheme == "file":
        return Path(unquote(parts.path)), ""
    folder = site if address.startswith("/") else (site / name).parent
    path = folder / unquote(address).lstrip("/") if address else site / name
    path = path.resolve()
    return (path / START if path.is_dir() else path), unquote(anchor)


def _reached(site: Path, pages: Dict[str, Page]) -> Set[str]:
    """Return the pages that a reader comes to from the first one."""
    reached: Set[str] = set()
    waiting = [START]
    while waiting:
        name = waiting.pop()
        if name in reached or name not in pages:
            continue
        reached.add(name)
        for link in pages[name].links:
            path, _ = _target(site, name, link)
            if path is not None and site.resolve() in path.parents:
                waiting.append(path.relative_to(site.resolve()).as_posix())
    return reached
