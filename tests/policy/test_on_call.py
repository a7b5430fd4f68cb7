"""docs/faults.md: each case stands alone, below an id of its own that a message can link to."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Iterator

import pytest

from tests.policy.test_docs_map import slug

PAGE = Path(__file__).resolve().parents[2] / "docs/faults.md"
TEXT = PAGE.read_text("utf-8")
ACTION = re.compile(r"^\*\*What you do:\*\* [A-Z].*\.$", re.MULTILINE)
LONGEST_ID = 50
RELATIVE = re.compile(r"\bthe same( as\b|\.)|\b(as )?(above|below)\b|^The same\b")
"""Words that send a reader to another case."""


def faults(text: str) -> Iterator[str]:
    """Yield what is wrong with the cases of a page."""
    ids = [slug(title) for title in re.findall(r"^#+ (.+)$", text, re.MULTILINE)]
    yield from (f"{each}: two headings" for each, n in Counter(ids).items() if n > 1)
    index = re.findall(r"\(#([\w-]+)\)", text.split("\n## ")[0])
    for case in re.split(r"^### ", text, flags=re.MULTILINE)[1:]:
        title, body = re.split(r"\n## ", case)[0].split("\n", 1)
        happens = body.split("**What you do:**")[0].strip()
        if slug(title) not in index:
            yield f"{title}: not in the table on top"
        if len(slug(title)) > LONGEST_ID:
            yield f"{title}: shorten it to {LONGEST_ID} characters"
        if not happens or len(ACTION.findall(body)) != 1:
            yield f"{title}: say what the run does, and once what the reader does"
        if RELATIVE.search(body):
            yield f"{title}: write out what another case says"


def test_each_case_stands_alone_with_an_id():
    assert list(faults(TEXT)) == []


def test_cases_are_grouped_by_what_a_reader_sees():
    groups = re.findall(r"^## (.+)$", TEXT, re.MULTILINE)
    assert {"A table failed", "Cluster", "Releases"} <= set(groups)
    assert TEXT.index("\n### ") > TEXT.index("\n## ")


CASE = "# P\n[a](#a-b)\n\n## G\n\n### A b\nIt waits.\n\n**What you do:** Nothing.\n"


@pytest.mark.parametrize(
    "text, fault",
    [
        (CASE + CASE.split("## G\n")[1], "a-b: two headings"),
        (CASE.replace("(#a-b)", ""), "A b: not in the table on top"),
        (CASE.replace("It waits.", ""), "A b: say what the run does, and once"),
        (CASE.replace("**What you do:** ", ""), "A b: say what the run does, and once"),
        (CASE.replace("It waits", "As above"), "A b: write out what another case says"),
        (CASE.replace("A b", "A " + "b" * 60), "A bbb"),
    ],
)
def test_a_fault_of_a_case_is_found(text, fault):
    assert any(each.startswith(fault) for each in faults(text))


def test_a_sound_case_has_none():
    assert list(faults(CASE)) == []
