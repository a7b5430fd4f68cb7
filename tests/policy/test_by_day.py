"""A test of the night that names what shows its promise by day names a test of the day."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Dict, List

import pytest

from tests.policy.floors import tree_of

SPARK = Path(__file__).resolve().parents[1] / "spark"
REASON = re.compile(r"# by day\W(.*)")
NAMED = re.compile(r"\btest_\w+\b")


def by_day(texts: Dict[str, str]) -> Dict[str, bool]:
    """Whether tests and modules, by name, have anything that is played by day."""
    found: Dict[str, bool] = {}
    for module, text in texts.items():
        whole = "pytestmark = pytest.mark.nightly" in text
        for each in tree_of(text).body:
            if isinstance(each, ast.FunctionDef) and each.name.startswith("test_"):
                marks = [ast.unparse(mark) for mark in each.decorator_list]
                is_day = not whole and "pytest.mark.nightly" not in marks
                for name in (each.name, module):
                    found[name] = found.get(name, False) or is_day
    return found


def faults(texts: Dict[str, str]) -> List[str]:
    """Names in reasons of tests that are played by night too, with their module."""
    known = by_day(texts)
    return [
        f"{module}: {name}"
        for module, text in texts.items()
        for reason in REASON.findall(text)
        for name in NAMED.findall(reason)
        if not known.get(name, True)
    ]


def test_what_is_said_to_be_shown_by_day_is_played_by_day():
    texts = {
        file.stem: file.read_text(encoding="utf-8") for file in SPARK.rglob("test_*.py")
    }
    assert len(by_day(texts)) > 500
    assert faults(texts) == []


@pytest.mark.parametrize("named", ["test_other", "test_module.py"])
def test_a_reason_that_names_a_test_of_the_night_is_found(named):
    night = "@pytest.mark.nightly{}\ndef {}():\n    pass\n\n\n"
    text = night.format(f"  # by day: {named}", "test_one") + night.format(
        "", "test_other"
    )
    assert faults({"test_module": text}) == [f"test_module: {named.split('.')[0]}"]
    day = "def test_third():\n    pass\n"
    expected = ["test_module: test_other"] if named == "test_other" else []
    assert faults({"test_module": text + day}) == expected
