"""One Spark session for all Spark tests, and a lake in a folder for each."""

from __future__ import annotations

import gc
import json
from collections import Counter
from pathlib import Path
from typing import Dict, List

import pytest

HERE = Path(__file__).parent
SECONDS = HERE / "seconds.json"
"""What the tests of each file took in a run of all, on two cores."""
OF_A_TEST = 4.0
"""Seconds of a test whose file is not in the table."""


@pytest.fixture(scope="session")
def spark():
    """A local session with the project's own Hudi jars."""
    from tests.spark.local_session import local_session

    session = local_session()
    gc.freeze()  # as a step does
    yield session
    session.stop()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that writes the table of seconds."""
    parser.addoption(
        "--note-seconds", action="store_true", help=f"write {SECONDS.name}"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Note seconds where they are asked for, in the process that has all reports."""
    if config.getoption("--note-seconds") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(NotedSeconds(SECONDS))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: List[pytest.Item]) -> None:
    """Bring the longest file to the front, so that two processes end together."""
    order = longest_first([_file(item.nodeid) for item in items], noted(SECONDS))
    items.sort(key=lambda item: order[_file(item.nodeid)])


def longest_first(files: List[str], seconds: Dict[str, float]) -> Dict[str, int]:
    """Return the place of each file; `files` has one once for each of its tests."""
    expected = {
        file: seconds.get(file, count * OF_A_TEST)
        for file, count in Counter(files).items()
    }
    ordered = sorted(expected, key=lambda file: -expected[file])
    return {file: place for place, file in enumerate(ordered)}


def noted(table: Path) -> Dict[str, float]:
    """Return the seconds of each file in the table."""
    return json.loads(table.read_text(encoding="utf-8"))


class NotedSeconds:
    """Adds up what the tests of each file took, and writes it into the table."""

    def __init__(self, table: Path) -> None:
        self._table = table
        self._seconds: Counter = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add one part of one test."""
        self._seconds[_file(report.nodeid)] += report.duration

    def pytest_sessionfinish(self) -> None:
        """Write the files of this run over those of earlier ones."""
        before = noted(self._table) if self._table.exists() else {}
        root = HERE.parents[1]
        found = {
            file: round(seconds)
            for file, seconds in sorted({**before, **self._seconds}.items())
            if (root / file).exists()
        }
        self._table.write_text(f"{json.dumps(found, indent=1)}\n", encoding="utf-8")


def _file(nodeid: str) -> str:
    return nodeid.split("::", 1)[0]
