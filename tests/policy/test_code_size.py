"""Small files, small functions, names that say what a module owns."""

from __future__ import annotations

import ast
import statistics
from pathlib import Path
from typing import Iterator, List, Tuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
CODE = (
    *("dags", "spark_jobs", "plugins", "local", "infra"),
    *("benchmarks", "docs", "tests"),
)
SHIPPED = ("dags", "spark_jobs", "plugins", "local")
FILE_LINES = 300
FUNCTION_LINES = 40
MEDIAN_LINES = 12
NAMES_OF_NOTHING = {"utils", "util", "common", "helpers", "helper", "manager", "misc"}


def python_files(root: Path, folders: Tuple[str, ...]) -> Iterator[Path]:
    for folder in folders:
        yield from sorted((root / folder).glob("**/*.py"))


def functions(path: Path) -> Iterator[Tuple[ast.FunctionDef, int]]:
    """Every function with its lines, from `def` to its end, docstring included."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node, node.end_lineno - node.lineno + 1


def long_files(root: Path) -> List[str]:
    paths = [*python_files(root, CODE), *sorted(root.glob("*.sh"))]
    lengths = [(path, len(path.read_text().splitlines())) for path in paths]
    return [
        f"{path.relative_to(root)} has {length} lines, more than {FILE_LINES}: "
        "split it by what its parts own"
        for path, length in lengths
        if length > FILE_LINES
    ]


def long_functions(root: Path) -> List[str]:
    return [
        f"{path.relative_to(root)}:{node.lineno} {node.name} has {length} lines, "
        f"more than {FUNCTION_LINES}: name its steps"
        for path in python_files(root, CODE)
        for node, length in functions(path)
        if length > FUNCTION_LINES
    ]


def names_of_nothing(root: Path) -> List[str]:
    return [
        f"{path.relative_to(root)}: name the module for the thing that it owns"
        for path in python_files(root, CODE)
        if NAMES_OF_NOTHING & {path.stem, *path.relative_to(root).parts[:-1]}
    ]


@pytest.mark.parametrize("rule", [long_files, long_functions, names_of_nothing])
def test_the_code_keeps_the_rule(rule):
    assert rule(ROOT) == []


def test_half_of_the_functions_have_at_most_12_lines():
    paths = python_files(ROOT, SHIPPED)
    lengths = [length for path in paths for _, length in functions(path)]
    assert statistics.median(lengths) <= MEDIAN_LINES


def test_a_long_file_is_found(tmp_path):
    path = tmp_path / "dags" / "long.py"
    path.parent.mkdir()
    path.write_text("x = 1\n" * 301)
    assert long_files(tmp_path) == [
        "dags/long.py has 301 lines, more than 300: split it by what its parts own"
    ]
    path.write_text("x = 1\n" * 300)
    assert long_files(tmp_path) == []


def test_a_long_method_is_found(tmp_path):
    path = tmp_path / "local" / "long.py"
    path.parent.mkdir()
    path.write_text("class A:\n    def f(self):\n" + "        x = 1\n" * 40)
    assert long_functions(tmp_path) == [
        "local/long.py:2 f has 41 lines, more than 40: name its steps"
    ]
    path.write_text("class A:\n    def f(self):\n" + "        x = 1\n" * 39)
    assert long_functions(tmp_path) == []


@pytest.mark.parametrize("name", ["dags/x/utils.py", "local/common/x.py"])
def test_a_module_named_for_nothing_is_found(tmp_path, name):
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    path.write_text("")
    (found,) = names_of_nothing(tmp_path)
    assert found.startswith(name)
