"""mkdocs builds the site strictly; a planted mistake fails the build or the check of its pages."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.site.built_pages import problems

ROOT = Path(__file__).resolve().parents[2]
MKDOCS = ROOT / ".venv-docs/bin/mkdocs"
SILENT = {"NO_MKDOCS_2_WARNING": "1"}


def build(root: Path, site: Path) -> subprocess.CompletedProcess[str]:
    """Build the site of a checkout, strictly."""
    return subprocess.run(
        [str(MKDOCS), "build", "--strict", "--site-dir", str(site)],
        cwd=root,
        env={**os.environ, **SILENT},
        capture_output=True,
        text=True,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    built = build(ROOT, folder)
    assert built.returncode == 0, built.stderr
    return folder


@pytest.fixture
def copy(tmp_path):
    """What the site is made of, to plant mistakes in."""
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    return tmp_path


def test_every_page_of_the_site_is_sound(site):
    assert list(problems(site)) == []


def test_the_search_has_every_page(site):
    index = (site / "search/search_index.js").read_text("utf-8")
    for page in (ROOT / "docs").rglob("*.md"):
        path = page.relative_to(ROOT / "docs").with_suffix(".html").as_posix()
        assert f'"{path.replace("README.html", "index.html")}' in index


def test_the_search_from_files_is_the_one_that_the_theme_expects(site):
    (worker,) = (site / "assets/javascripts/workers").glob("search.*.min.js")
    assert '"IFrameWorker"in parent' in worker.read_text("utf-8")
    shim = (site / "assets/iframe-worker.js").read_text("utf-8")
    assert "window.IFrameWorker =" in shim and "window.Worker =" in shim


@pytest.mark.parametrize(
    "text, message",
    [
        ("[x](nowhere.md)", "nowhere.md"),
        ("[x](concepts.md#nothing)", "#nothing"),
        ("![x](pictures/no.svg)", "pictures/no.svg"),
    ],
)
def test_a_dead_link_of_a_page_fails_the_build(copy, text, message):
    with (copy / "docs/glossary.md").open("a", encoding="utf-8") as page:
        page.write(f"\n{text}\n")
    built = build(copy, copy / "site")
    assert (built.returncode, message in built.stderr) == (1, True), built.stderr


def test_a_page_outside_of_the_navigation_fails_the_build(copy):
    (copy / "docs/orphan.md").write_text("# Orphan\n")
    built = build(copy, copy / "site")
    assert (built.returncode, "orphan.md" in built.stderr) == (1, True), built.stderr


def test_a_decision_that_is_not_listed_is_found(copy):
    (copy / "docs/decisions/999-orphan.md").write_text("# 999: Orphan\n")
    assert build(copy, copy / "site").returncode == 0
    found = [each for each in problems(copy / "site") if "no page links" in each]
    assert found == ["decisions/999-orphan.html: no page links to it"]


@pytest.mark.parametrize(
    "text",
    ["Words:\n- one\n- two", "Words:\n1. one", "Words\n| a | b |\n| --- | --- |"],
)
def test_a_list_or_table_that_is_shown_as_text_is_found(copy, text):
    with (copy / "docs/glossary.md").open("a", encoding="utf-8") as page:
        page.write(f"\n{text}\n")
    assert build(copy, copy / "site").returncode == 0
    first = text.splitlines()[1][:40]
    assert [each for each in problems(copy / "site") if first in each] == [
        f"glossary.html: `{first}` is shown as text: let an empty line come before it"
    ]
