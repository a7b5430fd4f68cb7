"""The site of docs/: read and searched without the web, and a checker that finds what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from docs.site import page_markdown
from tests.site.built_pages import problems

ROOT = Path(__file__).resolve().parents[2]
# Every value is a text: tags of mkdocs and of Python are not followed.
CONFIG = yaml.load((ROOT / "mkdocs.yml").read_text("utf-8"), yaml.BaseLoader)
PAGE = page_markdown.DOCS / "sources/files.md"


def test_nothing_of_a_page_comes_from_the_web():
    assert CONFIG["theme"]["font"] == "false"
    assert {"search", "offline"} <= set(CONFIG["plugins"])
    assert [each for each in CONFIG["extra"]["polyfills"] if ":" in each] == []
    assert all(
        (ROOT / "docs" / each).is_file() for each in CONFIG["extra"]["polyfills"]
    )


def test_a_dead_link_fails_the_strict_build():
    levels = {**CONFIG["validation"]["links"], **CONFIG["validation"]["nav"]}
    assert set(levels.values()) == {"warn"}


@pytest.mark.parametrize(
    "link, led_to",
    [
        ("../../infra/templates", "/base/infra/templates"),
        ("../../README.md#test", "/base/README.md#test"),
        ("../README.md", "../README.md"),
        ("dms.md#order", "dms.md#order"),
    ],
)
def test_a_link_out_of_docs_leads_to_the_repository(link, led_to):
    text = page_markdown.with_links(f"see [it]({link})", PAGE, "/base")
    assert text == f"see [it]({led_to})"


def test_the_repository_is_this_checkout_unless_the_build_names_another():
    assert page_markdown.base("https://x.example/a/b/") == (
        "https://x.example/a/b/blob/main"
    )
    assert page_markdown.base(None) == ROOT.as_uri()


def test_the_name_of_a_block_is_its_title():
    text = page_markdown.with_titles("```csv changes/1.csv\nid\n```\n```text\n```")
    assert text == '```csv title="changes/1.csv"\nid\n```\n```text\n```'


@pytest.fixture
def site(tmp_path):
    """A site of two sound pages."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "style.css").touch()
    (tmp_path / "index.html").write_text(
        "<link rel='stylesheet' href='style.css'><h2 id='a'>A</h2>"
        "<a href='sub/'>x</a><a href='#a'>x</a><a href='https://x.example/y'>x</a>"
    )
    (tmp_path / "sub/index.html").write_text(
        "<a href='../index.html#a'>x</a><script>'```'</script><pre>``</pre>"
    )
    return tmp_path


def test_a_sound_site_has_no_problems(site):
    assert list(problems(site)) == []


@pytest.mark.parametrize(
    "html, problem",
    [
        ("<a href='nowhere.html'>x</a>", "nowhere.html leads nowhere"),
        ("<a href='/nowhere.html'>x</a>", "/nowhere.html leads nowhere"),
        ("<a href='file:///no/where.py'>x</a>", "file:///no/where.py leads nowhere"),
        ("<img src='no.svg'>", "no.svg leads nowhere"),
        ("<a href='#b'>x</a>", "#b leads to no heading"),
        ("<a href='sub/index.html#b'>x</a>", "sub/index.html#b leads to no heading"),
        ("<h2 id='a'>A</h2>", "two elements have the id a"),
        (
            "<script src='https://cdn.example/x.js'></script>",
            "https://cdn.example/x.js is loaded from the web",
        ),
        (
            "<link rel='stylesheet' href='//fonts.example/x'>",
            "//fonts.example/x is loaded from the web",
        ),
        (
            "<p>```yaml x</p>",
            "``` is shown as text: the block does not end, or its first line is wrong",
        ),
    ],
)
def test_a_problem_of_a_page_is_found(site, html, problem):
    path = site / "index.html"
    path.write_text(path.read_text() + html)
    assert list(problems(site)) == [f"index.html: {problem}"]


def test_a_page_that_no_page_links_to_is_found(site):
    (site / "sub/orphan.html").write_text("<a href='orphan.html'>itself</a>")
    assert list(problems(site)) == ["sub/orphan.html: no page links to it"]
