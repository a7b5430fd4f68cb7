"""A module is named for the thing that it owns."""

from __future__ import annotations

from pathlib import Path
from typing import List

import pytest

ROOT = Path(__file__).resolve().parents[2]
CODE = (
    *("dags", "spark_jobs", "plugins", "emulator", "local", "infra", "tools"),
    *("benchmarks", "docs", "tests"),
)
NAMES_OF_NOTHING = {"utils", "util", "common", "helpers", "helper", "manager", "misc"}


def names_of_nothing(root: Path) -> List[str]:
    return [
        f"{path.relative_to(root)}: name the module for the thing that it owns"
        for folder in CODE
        for path in sorted((root / folder).glob("**/*.py"))
        if NAMES_OF_NOTHING & {path.stem, *path.relative_to(root).parts[:-1]}
    ]


def test_no_module_or_folder_is_named_for_nothing():
    assert names_of_nothing(ROOT) == []


@pytest.mark.parametrize("name", ["dags/x/utils.py", "local/common/x.py"])
def test_a_module_named_for_nothing_is_found(tmp_path, name):
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    path.write_text("")
    (found,) = names_of_nothing(tmp_path)
    assert found.startswith(name)
