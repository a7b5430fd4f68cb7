"""A headless Chromium in which somebody has signed in to Airflow."""

from __future__ import annotations

import io
from contextlib import contextmanager
from typing import Iterator, Mapping

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from docs.screens import chromium
from docs.screens.lake import Airflow
from docs.screens.pages import HEIGHT, WIDTH, Way, settle

COLOURS = 128
"""Enough for pages of few colours; a picture of all takes three times the bytes."""


@contextmanager
def signed_in(airflow: Airflow) -> Iterator[Page]:
    """A page after Airflow's form of user and password."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.executable())
        try:
            page = browser.new_context(
                base_url=airflow.url,
                viewport={"width": WIDTH, "height": HEIGHT},
                color_scheme="light",
                locale="en-GB",
                timezone_id="UTC",
                reduced_motion="reduce",
            ).new_page()
            page.goto("/")
            page.get_by_label("Username").fill(airflow.user)
            page.get_by_label("Password").fill(airflow.password)
            page.get_by_role("button", name="Sign in").click()
            page.wait_for_url(f"{airflow.url}/")
            yield page
        finally:
            browser.close()


def take(page: Page, way: Way, runs: Mapping[str, str]) -> bytes:
    """A PNG of few colours of where the way leads; a bigger page is made smaller."""
    page.evaluate("localStorage.clear()")  # of how the last pages were looked at
    page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
    way(page, runs)
    settle(page)
    shot = page.screenshot(animations="disabled")
    image = Image.open(io.BytesIO(shot)).convert("RGB")
    if image.size != (WIDTH, HEIGHT):
        image = image.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS)
    content = io.BytesIO()
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(
        content, "PNG", optimize=True
    )
    return content.getvalue()
