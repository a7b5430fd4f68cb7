"""Takes the pictures of docs/catalogue.md and checks its pages; see docs/catalogue.sh."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Dict, List, Tuple

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "pictures" / "catalogue"
DESKTOP, PHONE = (1280, 900), (390, 844)
COLOURS = 256

_RUN = "domains/shop/runs/shop_incremental/manual__2026-11-26T11-00.html"
PAGES: Dict[str, str] = {
    "start": "index.html",
    "domain": "domains/shop/index.html",
    "table": "domains/shop/tables/customer.html",
    "values": "domains/shop/tables/customer.html#values",
    "lineage": "domains/shop/tables/customer_with_address.html#lineage",
    "quality": "domains/shop/tables/customer.html#rules",
    "maintenance": "domains/shop/tables/customer.html#maintenance",
    "run": _RUN,
    "glossary": "glossary.html",
    "index": "az/c.html",
    "search": "search.html?q=customer+birthday",
}
"""Kind of page -> its address in the sample's site."""

PICTURES: Dict[str, Tuple[str, Tuple[int, int], str]] = {
    **{name: (name, DESKTOP, "light") for name in PAGES},
    "table-dark": ("table", DESKTOP, "dark"),
    "table-phone": ("table", PHONE, "light"),
    "run-phone-dark": ("run", PHONE, "dark"),
}
"""Picture -> page, size of the window, colours."""


def main(site: Path) -> int:
    """Return 0 when all is taken and no page has a finding, else 1."""
    from playwright.sync_api import sync_playwright

    from docs.screens import chromium

    FOLDER.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.executable())
        for name, (kind, size, colours) in PICTURES.items():
            page = _page(browser, site, kind, size, colours)
            (FOLDER / f"{name}.png").write_bytes(_few_colours(page.screenshot()))
        found = [
            f"{kind}, {size[0]} wide, {colours}: {finding}"
            for kind in PAGES
            for size in (DESKTOP, PHONE)
            for colours in ("light", "dark")
            for finding in _findings(_page(browser, site, kind, size, colours))
        ]
        browser.close()
    print("\n".join(found) or f"{len(PAGES)} kinds of pages, no finding")
    return 1 if found else 0


def _page(
    browser: Browser, site: Path, kind: str, size: Tuple[int, int], colours: str
) -> Page:
    window = {"width": size[0], "height": size[1]}
    page = browser.new_context(viewport=window, color_scheme=colours).new_page()
    address, slash, anchor = PAGES[kind].partition("#")
    path, question, query = address.partition("?")
    page.goto(f"{(site / path).resolve().as_uri()}{question}{query}{slash}{anchor}")
    return page


def _findings(page: Page) -> List[str]:
    """List what axe-core finds, and a page that is wider than its window."""
    from axe_playwright_python.sync_playwright import Axe

    result = Axe().run(page, options={"preload": False})
    found = [
        f"{each['id']} ({each['impact']}): {each['nodes'][0]['html'][:100]}"
        for each in result.response["violations"]
    ]
    if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
        found.append("the page is wider than the window")
    page.context.close()
    return found


def _few_colours(shot: bytes) -> bytes:
    from PIL import Image

    content = io.BytesIO()
    image = Image.open(io.BytesIO(shot)).convert("RGB")
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(
        content, "PNG", optimize=True
    )
    return content.getvalue()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
