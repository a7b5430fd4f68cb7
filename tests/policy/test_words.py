"""One term for one thing: words that were replaced do not come back.

Each row has the old word, as a regular expression, and what to write. Decision records
and the changelog tell of the past and keep the words of their time.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Iterator

import pytest

ROOT = Path(__file__).resolve().parents[2]

TERMS = {
    r"redo(ne|s|ing)?": "reprocess",
    r"withdr(aw|ew)\w*": "retract",
    r"sightings?": "delivery",
    r"upkeep": "maintenance",
    r"when_busy": "concurrency",
    r"absence": "missing keys, `missing_keys`",
    r"extract_(time|at)": "snapshot_time, snapshot_at",
    r"extracts?": "snapshot",
    r"reload(s|ed)?": "full refresh",
    r"stand-in": "emulator",
    r"anew": "again; rebuild, recreate",
    r"mend(s|ed|ing)?": "fix",
    r"(taken|take|takes|took|taking) in": "ingest",
    r"by hand": "manually",
    r"beside": "next to, besides",
    r"notices?": "notification",
}
"""Old word -> what to write."""

THEIRS = {
    "dags/lake_spec/diagnostics/suggestions.py": "names the new word for an old one",
    "dags/lake_spec/products/spark_functions.py": "functions have Spark's names",
    "local/COVERAGE.md": "actions of AWS have AWS's names",
}

OTHERS = re.compile(
    r"regexp_extract|extract\((epoch|\{part\}) FROM|ExtractNewRecordState"
    r"|pg_reload_conf|\*reload table\*|reload/|SELECT, RELOAD"
    r"|(taken|take|takes|took|taking) in (any|order|the order|turn|one|its|which|that)"
)
"""Names of other programs, paths of users, and other senses of the words."""


ANY = re.compile(rf"(?<![A-Za-z])({'|'.join(TERMS)})(?![A-Za-z])", re.IGNORECASE)


def old_words(text: str) -> Iterator[str]:
    """Each old word of a text, with its line and what to write."""
    for number, line in enumerate(text.splitlines(), 1):
        if not ANY.search(line):
            continue
        bare = OTHERS.sub("", line)
        for old, new in TERMS.items():
            found = re.search(rf"(?<![A-Za-z]){old}(?![A-Za-z])", bare, re.IGNORECASE)
            if found:
                yield f"{number}: {found[0]!r}: write {new}"


def shipped() -> Iterator[str]:
    """The pages and the code of the product."""
    places = ("README.md", "CONTRIBUTING.md", "docs", "dags", "spark_jobs", "local")
    listed = subprocess.run(
        ["git", "ls-files", *places, "infra", "plugins", "run_tests_locally.sh"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    for path in listed.stdout.splitlines():
        if path.endswith((".py", ".md", ".yml", ".sh", ".j2", ".json")):
            if not path.startswith("docs/decisions/") and path not in THEIRS:
                yield path


@pytest.mark.parametrize("path", shipped())
def test_a_file_has_the_terms_of_today(path):
    assert list(old_words((ROOT / path).read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("word", ["redo", "Withdrawn", "is taken in", "made anew"])
def test_an_old_word_is_found(word):
    assert list(old_words(f"a text with {word} in it"))


TELL = re.compile(r"\b(told|tells?|telling)\b", re.IGNORECASE)
"""In pages: report, say, show, name, list, log, notify."""
GENERATED = re.compile(r"<!-- floors.*?<!-- end of floors -->", re.DOTALL)
"""A table of pages that is made of docstrings."""


def pages() -> Iterator[str]:
    """The pages that are written manually, without records of the past."""
    for path in shipped():
        if path.endswith(".md") and not path.startswith("docs/reference/"):
            yield path


@pytest.mark.parametrize("path", pages())
def test_a_page_says_and_shows_and_never_tells(path):
    text = GENERATED.sub("", (ROOT / path).read_text(encoding="utf-8"))
    assert [line for line in text.splitlines() if TELL.search(line)] == []
