"""docs/speed.md has the figures of benchmarks/results/latest.json, and all of them."""

from __future__ import annotations

import json

import pytest

from benchmarks.speed import result

FIGURE = {
    "id": "3a",
    "what": "scd2 / MERGE",
    "figure": 0.974,
    "low": 0.86,
    "high": 1.378,
    "target": None,
    "holds": None,
    "scale": 0.25,
    "pairs": 3,
}
ROW = "| 3a | 0.97 | 0.86 to 1.38 | - | - | 0.25, 3 | scd2 / MERGE |\n"


def test_the_page_has_the_newest_figures():
    found = json.loads(result.LATEST.read_text())
    assert found
    written = f"{result.BEGIN}{result.table(found)}{result.END}"
    assert written in result.PAGE.read_text(), "run: ./run_tests_locally.sh bench"


@pytest.mark.parametrize(
    "target, holds, shown",
    [
        (0.35, False, "0.35 | **missed**"),
        (1.5, True, "1.5 | holds"),
        (None, None, "- | -"),
    ],
)
def test_each_figure_has_its_verdict(target, holds, shown):
    row = result.table([{**FIGURE, "target": target, "holds": holds}]).splitlines()[-1]
    assert f" | {shown} | 0.25, 3 | " in row


def test_what_stands_around_the_figures_stays(tmp_path):
    page, results = tmp_path / "page.md", tmp_path / "results.json"
    page.write_text(f"before\n{result.BEGIN}old\n{result.END}after\n")
    results.write_text(json.dumps([FIGURE]))
    result.tell(page, results)
    text = page.read_text()
    assert text.startswith("before\n") and text.endswith("after\n")
    assert ROW in text and "old" not in text
