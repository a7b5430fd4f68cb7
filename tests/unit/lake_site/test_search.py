"""The search: a column is found by its meaning, by the very script of the page."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from lake_site.catalogue import catalogue_of, search_documents, search_script
from lake_site.glossary import terms_of
from lake_site.render import overall_files
from tests.unit.lake_site.lakes import NOW, domain, facts

NODE = shutil.which("node")


def words_of(name):
    for page, found, title, description, words in search_documents(
        catalogue_of(facts())
    ):
        if found == name and title == "column of shop.customer":
            return f"{found} {title} {description} {words}".lower().split()


def test_a_column_has_the_words_of_its_terms_and_its_table():
    assert {"birthday", "born", "customer", "client", "dob"} <= set(
        words_of("date_of_birth")
    )
    assert "birthday" not in words_of("city")


@pytest.mark.parametrize(
    "name, tags, terms",
    [
        ("date_of_birth", (), ["date of birth"]),
        ("customers", (), ["customer"]),
        ("birth", (), []),
        ("dob", ("date-of-birth",), ["date of birth"]),
    ],
)
def test_a_term_names_what_has_all_of_its_words(name, tags, terms):
    assert [term for term, _ in terms_of(domain(), name, tags)] == terms


needs_node = pytest.mark.skipif(
    NODE is None, reason="needs node, to run the script of the page"
)


@needs_node
@pytest.mark.parametrize(
    "text, first",
    [
        ("customer birthday", "date_of_birth"),
        ("brithday", "date of birth"),  # mistyped
        ("street", "street"),
        ("address", "address"),  # the table, before columns that have the word
        ("zebra birthday", "date of birth"),
    ],
)
def test_the_script_of_the_page_finds_it(tmp_path, text, first):
    assert (
        told(tmp_path, f"lakeFind({json.dumps(text)}).map((x) => x.name)")[0] == first
    )


@needs_node
def test_the_script_names_the_words_that_nothing_has(tmp_path):
    assert told(tmp_path, 'lakeUnknown("zebra brithday")') == ["zebra"]


def told(tmp_path, expression):
    """What the script of the page says to an expression."""
    catalogue = catalogue_of(facts())
    files = overall_files([catalogue], NOW, environment="test")
    # As a browser loads them, one after the other; there is no page.
    parts = (
        "var window = globalThis;",
        files["assets/minisearch.js"].decode().replace("typeof module", "typeof none"),
        search_script(catalogue),
        files["assets/search.js"].decode(),
        f"console.log(JSON.stringify({expression}))",
    )
    script = tmp_path / "search.js"
    script.write_text("\n".join(parts))
    done = subprocess.run(
        [NODE, str(script)], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)
