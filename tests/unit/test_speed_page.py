"""docs/speed.md has the figures of benchmarks/results/latest.json, and all of them."""

from __future__ import annotations

import json

import pytest

from benchmarks.speed import result, sources

FIGURE = {
    "id": "3a",
    "what": "scd2 / MERGE",
    "figure": 0.974,
    "low": 0.86,
    "high": 1.378,
    "target": None,
    "holds": None,
    "scale": 0.25,
    "pairs": 4,
    "more": {},
    "day": "2026-01-01",
    "sources": "0f1e2d3c4b5a",
}
ROW = (
    "| 3a | 0.97 | 0.86 to 1.38 | - | - | 0.25, 4 | 2026-01-01, 0f1e | scd2 / MERGE |\n"
)


def test_the_page_has_the_newest_figures():
    found = json.loads(result.LATEST.read_text())
    assert found
    written = f"{result.BEGIN}{result.table(found)}{result.END}"
    assert written in result.PAGE.read_text(), "run: ./run_tests_locally.sh bench"


@pytest.mark.parametrize(
    "figure, shown",
    [(10.404, "10.40"), (0.1, "0.10"), (0.0151, "0.015"), (-0.0017, "-0.002")],
)
def test_small_figures_have_three_places(figure, shown):
    assert result.shown(figure) == shown


@pytest.mark.parametrize(
    "target, shown",
    [
        (0.35, "0.35 | **missed**"),
        (0.9, "0.9 | **missed** by median"),
        (1, "1 | holds by median"),
        (1.5, "1.5 | holds"),
        (None, "- | -"),
    ],
)
def test_each_figure_has_its_verdict(target, shown):
    row = result.table([{**FIGURE, "target": target}]).splitlines()[-1]
    assert f" | {shown} | 0.25, 4 | " in row


def test_what_stands_around_the_figures_stays(tmp_path):
    page, results = tmp_path / "page.md", tmp_path / "results.json"
    page.write_text(f"before\n{result.BEGIN}old\n{result.END}after\n")
    results.write_text(json.dumps([FIGURE]))
    result.tell(page, results)
    text = page.read_text()
    assert text.startswith("before\n") and text.endswith("after\n")
    assert ROW in text and "old" not in text


ABOUT = {"sources": "0f", "scale": 0.25, "pairs": 3, "seed": 1, "day": "2026-01-01"}


@pytest.mark.parametrize("other", [{}, {"day": "2026-02-01"}])
def test_a_run_goes_on_after_the_targets_that_it_has(tmp_path, other):
    path = tmp_path / "results.json"
    assert result.measured(ABOUT, path) == set()
    for id, about in (("3a", ABOUT), ("10", ABOUT), ("4", {**ABOUT, "sources": "1f"})):
        result.write([result.over(id, "what", [2.0, 3.0], None, {})], about, path)
    assert result.measured({**ABOUT, **other}, path) == {"3", "10"}
    assert [each.id for each in result.kept(["10", "4"], path)] == ["4", "10"]


@pytest.mark.parametrize("name", ["sources", "scale", "pairs", "seed"])
def test_what_was_measured_otherwise_is_measured_again(tmp_path, name):
    path = tmp_path / "results.json"
    result.write([result.over("3", "what", [2.0], None, {})], ABOUT, path)
    assert result.measured({**ABOUT, name: 7}, path) == set()


def test_a_state_of_the_code_is_told_from_others(tmp_path):
    folder = tmp_path / "benchmarks" / "speed"
    folder.mkdir(parents=True)
    seen = []
    made = ("a.py", "1"), ("a.py", "2"), ("b.py", "2"), ("b.md", "3"), ("plots.py", "4")
    for name, text in made:
        (folder / name).write_text(text)
        seen.append(sources.digest(tmp_path, ["benchmarks"]))
    assert len(set(seen)) == 3 and seen[2] == seen[3] == seen[4]


def test_a_single_file_is_a_part_of_the_state(tmp_path):
    file = tmp_path / "tests" / "lake.py"
    file.parent.mkdir()
    seen = []
    for text in ("1", "2"):
        file.write_text(text)
        seen.append(sources.digest(tmp_path, ["tests/lake.py"]))
    assert len(set(seen)) == 2


def test_the_code_that_is_measured_is_there():
    for place in (*sources.MEASURED, *sources.TELLING):
        assert (sources.ROOT / place).exists(), place
