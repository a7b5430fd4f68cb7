"""Pictures of the results: each figure next to its target, and seconds by size."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Dict, List, Tuple

import matplotlib

from benchmarks.speed.result import shown

matplotlib.use("svg")
from matplotlib import pyplot  # noqa: E402

HELD, MISSED, PLAIN = "#2a7f4f", "#b3442f", "#5b6b7b"


def draw(results: Path, folder: Path) -> List[Path]:
    """Draw figure / target of all that have one, and what grows with the table."""
    found = json.loads(results.read_text())
    folder.mkdir(parents=True, exist_ok=True)
    matplotlib.rcParams.update({"svg.hashsalt": "lake", "svg.fonttype": "none"})
    drawn = [_targets([each for each in found if each["target"]], folder)]
    grown = [each for each in found if "rows" in each["more"]]
    if grown:
        drawn.append(_growth(grown, folder))
    return drawn


def _targets(targeted: List[Dict[str, Any]], folder: Path) -> Path:
    figure, axes = pyplot.subplots(figsize=(9, 0.6 + 0.5 * len(targeted)))
    _bars(axes, list(reversed(targeted)))
    return _saved(figure, folder / "targets.svg")


def _growth(results: List[Dict[str, Any]], folder: Path) -> Path:
    """Seconds over rows: a stage of ours, and Delta's MERGE of the same changes."""
    stages = {"4": ("scd2", "2,000 keys"), "5": ("incremental", "10,000 keys")}
    figure, both = pyplot.subplots(1, 2, figsize=(9, 3.2))
    for axes, (id, (stage, keys)) in zip(both, stages.items()):
        of_it = [each for each in results if each["id"].rstrip("ab") == id]
        for name, label, colour in ((stage, "ours", HELD), ("delta", "delta", PLAIN)):
            points = _points(of_it, name)
            axes.plot(*zip(*points), marker="o", color=colour, label=label)
        axes.set(
            title=f"{stage}, {keys}",
            xlabel="million rows",
            ylabel="seconds",
            xscale="log",
        )
        sizes = [rows for rows, _ in points]
        axes.set_xticks(sizes, [f"{rows / 1e6:g}" for rows in sizes])
        axes.minorticks_off()
        axes.set_ylim(bottom=0)
        axes.legend()
    return _saved(figure, folder / "growth.svg")


def _points(results: List[Dict[str, Any]], name: str) -> List[Tuple[int, float]]:
    """(rows, seconds) of each size; a result has a smaller and a larger one."""
    found = {}
    for each in results:
        found.update(zip(each["more"]["rows"], each["more"]["seconds"][name]))
    return sorted(found.items()) or [(0, 0.0)]


def _saved(figure: Any, path: Path) -> Path:
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
    return path


def _bars(axes: Any, results: List[Dict[str, Any]]) -> None:
    for nth, each in enumerate(results):
        share = each["figure"] / each["target"]
        low, high = each["low"] / each["target"], each["high"] / each["target"]
        axes.barh(nth, share, color=HELD if each["holds"] else MISSED, height=0.55)
        axes.plot([low, high], [nth, nth], color=PLAIN, linewidth=2)
        axes.annotate(
            f"{shown(each['figure'])} of {each['target']:g}",
            (max(share, high, 0), nth),
            xytext=(6, -3),
            textcoords="offset points",
            fontsize=8,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
        )
    axes.axvline(1, color="black", linewidth=1, zorder=0.5)
    axes.set_yticks(range(len(results)), [each["id"] for each in results])
    axes.set_xlabel("figure / target: left of the line the target holds")
    axes.set_xlim(
        0, max([1.3, *(each["high"] / each["target"] for each in results)]) * 1.2
    )
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
