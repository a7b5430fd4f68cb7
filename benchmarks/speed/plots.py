"""Pictures of the results: each figure with its range, beside its target."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Dict, List

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot  # noqa: E402

HELD, MISSED, PLAIN = "#2a7f4f", "#b3442f", "#5b6b7b"


def draw(results: Path, folder: Path) -> Path:
    """Draw all ratios that have a target as bars of figure / target; the file's path."""
    found = json.loads(results.read_text())
    targeted = [each for each in found if each["target"]]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "targets.svg"
    matplotlib.rcParams.update({"svg.hashsalt": "lake", "svg.fonttype": "none"})
    figure, axes = pyplot.subplots(figsize=(9, 0.6 + 0.5 * len(targeted)))
    _bars(axes, list(reversed(targeted)))
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
            f"{each['figure']:.2f} of {each['target']:g}",
            (max(share, high), nth),
            xytext=(6, -3),
            textcoords="offset points",
            fontsize=8,
        )
    axes.axvline(1, color="black", linewidth=1)
    axes.set_yticks(range(len(results)), [each["id"] for each in results])
    axes.set_xlabel("figure / target: left of the line the target holds")
    axes.set_xlim(
        0, max([1.3, *(each["high"] / each["target"] for each in results)]) * 1.2
    )
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
