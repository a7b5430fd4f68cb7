"""What each picture shows, and the way to it through Airflow's pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable, Dict, Mapping

if TYPE_CHECKING:
    from playwright.sync_api import Page

Way = Callable[["Page", Mapping[str, str]], None]
"""Leads the browser to what a picture shows, given the ids of runs by what they are."""

WIDTH, HEIGHT = 1400, 900
"""Of every picture, in pixels."""
INCREMENTAL = "/dags/moma_incremental"
WRAP = "w"
"""The key that wraps long lines of a log."""


def dags(page: Page, runs: Mapping[str, str]) -> None:
    _open(page, "/dags", shows="moma_reprocess")
    _press(page, "Show table view")


def grid(page: Page, runs: Mapping[str, str]) -> None:
    _open(page, INCREMENTAL, shows="Latest Dag Version")


def documentation(page: Page, runs: Mapping[str, str]) -> None:
    _open(page, INCREMENTAL, shows="Latest Dag Version")
    _press(page, "Dag Docs")
    _wait_for(page, "moma.artists")


def form(page: Page, runs: Mapping[str, str]) -> None:
    """Longer than a screen: the picture is of a bigger one, made smaller."""
    page.set_viewport_size({"width": WIDTH * 5 // 4, "height": HEIGHT * 5 // 4})
    _open(page, INCREMENTAL, shows="Latest Dag Version")
    _press(page, "Trigger Dag")
    _wait_for(page, "Dry run")


def plan(page: Page, runs: Mapping[str, str]) -> None:
    _open(page, _task(runs["plan"], "create_cluster"), shows="Nothing was created")
    page.keyboard.press(WRAP)


def log(page: Page, runs: Mapping[str, str]) -> None:
    _open(page, _task(runs["red"], "summary"), shows="FAILED moma.artists")
    page.keyboard.press(WRAP)


def graph(page: Page, runs: Mapping[str, str]) -> None:
    _open(page, f"{INCREMENTAL}/runs/{runs['red']}", shows="SummariseRun")
    _press(page, "Show Graph")


def details(page: Page, runs: Mapping[str, str]) -> None:
    _open(page, f"{INCREMENTAL}/runs/{runs['red']}/details", shows="Triggering User")


PICTURES: Dict[str, Way] = {
    way.__name__: way
    for way in (dags, grid, documentation, form, plan, log, graph, details)
}


def settle(page: Page) -> None:
    """Until the page has asked for all that it shows, and has drawn it."""
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(1000)


def _open(page: Page, path: str, *, shows: str) -> None:
    page.goto(path)
    _wait_for(page, shows)
    settle(page)


def _wait_for(page: Page, text: str) -> None:
    page.get_by_text(text).first.wait_for()


def _press(page: Page, button: str) -> None:
    page.get_by_role("button", name=button).first.click()


def _task(run: str, task: str) -> str:
    return f"{INCREMENTAL}/runs/{run}/tasks/{task}"
