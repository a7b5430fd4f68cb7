"""Tests replace public names alone: what must be replaced is a seam, and says so.

Where a test would patch a private name, the code lacks a seam: make the function public,
or hand the thing in.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Iterator

import pytest

from tests.policy.floors import nodes_of

ROOT = Path(__file__).resolve().parents[2]
SETTERS = ("setattr", "object", "patch")
CALLS = re.compile(rf"\b(?:{'|'.join(SETTERS)})\(")


def private_patches(text: str) -> Iterator[str]:
    """The private names that a test replaces, with their lines."""
    if not CALLS.search(text):  # most files; they need no parsing
        return
    for node in nodes_of(text):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        name = called.attr if isinstance(called, ast.Attribute) else ""
        if name not in SETTERS and not (
            isinstance(called, ast.Name) and called.id in SETTERS
        ):
            continue
        for each in node.args[:2]:
            if isinstance(each, ast.Constant) and isinstance(each.value, str):
                last = each.value.rsplit(".", 1)[-1]
                if last.startswith("_") and not last.startswith("__"):
                    yield f"line {node.lineno}: {each.value}"


def test_no_test_replaces_a_private_name():
    found = [
        f"{path.relative_to(ROOT)} {each}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        for each in private_patches(path.read_text(encoding="utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize(
    "text",
    [
        'monkeypatch.setattr(module, "_read", fake)',
        'monkeypatch.setattr("package.module._read", fake)',
        'mock.patch.object(Class, "_read", fake)',
        'mock.patch("package.module._read")',
    ],
)
def test_a_planted_one_is_found(text):
    assert list(private_patches(text))


def test_public_names_and_those_of_python_are_free():
    text = 'monkeypatch.setattr(module, "read", 1)\nmock.patch.object(C, "__init__", 1)'
    assert list(private_patches(text)) == []
