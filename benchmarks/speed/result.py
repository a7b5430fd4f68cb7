"""Figures against their targets: the table that is printed, the file that is kept."""

from __future__ import annotations

import json
import statistics
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Dict, Iterable, List, Optional, Sequence, Set

LATEST = Path(__file__).resolve().parents[1] / "results" / "latest.json"
PAGE = LATEST.parents[2] / "docs" / "speed.md"
BEGIN, END = "<!-- figures: written by bench -->\n", "<!-- end of figures -->\n"


@dataclass(frozen=True)
class Result:
    """One ratio: a median over rounds with its range, and what it should be at most.

    `target` is None where a figure is told without one. `more` holds what else was
    counted, as bytes and files, by name.
    """

    id: str
    what: str
    figure: float
    low: float
    high: float
    target: Optional[float] = None
    more: Dict[str, Any] = field(default_factory=dict)

    @property
    def holds(self) -> Optional[bool]:
        """Whether the median is within the target; None without one."""
        return None if self.target is None else self.figure <= self.target

    @property
    def verdict(self) -> str:
        """In words; "by median" where some rounds tell otherwise."""
        if self.target is None:
            return "-"
        word = "holds" if self.holds else "missed"
        return f"{word} by median" if self.low <= self.target < self.high else word

    def as_data(self) -> Dict[str, Any]:
        """The result as the file of results has it."""
        return {**asdict(self), "holds": self.holds}


def over(
    id: str,
    what: str,
    values: Sequence[float],
    target: Optional[float],
    more: Dict[str, Any],
) -> Result:
    """The result of one ratio for each round."""
    middle = statistics.median(values)
    return Result(id, what, middle, min(values), max(values), target, more)


def shown(figure: float) -> str:
    """A figure with two places, or three where two would be of one digit."""
    return f"{figure:.3f}" if abs(figure) < 0.1 else f"{figure:.2f}"


def lines(results: Iterable[Result]) -> List[str]:
    """A table for the terminal."""
    head = f"{'id':<6} {'figure':>9} {'range':>19} {'target':>7}  {'verdict':<16}  what"
    return [head, *(_line(each) for each in results)]


def _line(result: Result) -> str:
    target = "-" if result.target is None else f"{result.target:g}"
    spread = f"{shown(result.low)} to {shown(result.high)}"
    return (
        f"{result.id:<6} {shown(result.figure):>9} {spread:>19} {target:>7}"
        f"  {result.verdict:<16}  {result.what}"
    )


def write(
    results: Sequence[Result], about: Dict[str, Any], path: Path = LATEST
) -> None:
    """Keep the results of a run, with what it ran on.

    A run of some targets replaces those alone, so that the file has the newest of each.
    """
    newest = {each["id"]: each for each in _entries(path)}
    newest.update({each.id: {**each.as_data(), **about} for each in results})
    path.parent.mkdir(parents=True, exist_ok=True)
    ordered = sorted(newest.values(), key=lambda each: _place(each["id"]))
    path.write_text(json.dumps(ordered, indent=1) + "\n")


def kept(targets: Sequence[str], path: Path = LATEST) -> List[Result]:
    """The results of these targets, as they were kept."""
    return [
        _result(each)
        for each in _entries(path)
        if str(_place(each["id"])[0]) in targets
    ]


def measured(about: Dict[str, Any], path: Path = LATEST) -> Set[str]:
    """Targets whose figures were kept by a run of the same code, sizes and rounds.

    The day and the machine's description do not count.
    """
    same = ("sources", "scale", "pairs", "seed")
    return {
        str(_place(each["id"])[0])
        for each in _entries(path)
        if all(each.get(name) == about[name] for name in same)
    }


def tell(page: Path = PAGE, results: Path = LATEST) -> None:
    """Write the table of figures into the page, between its marks."""
    text = page.read_text()
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    page.write_text(before + BEGIN + table(_entries(results)) + END + after)


def table(found: Sequence[Dict[str, Any]]) -> str:
    """Results as the page shows them."""
    head = (
        "| # | figure | range | target | verdict | scale, rounds | day, code | what |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- |\n"
    )
    return head + "".join(_row(each) for each in found)


def _row(entry: Dict[str, Any]) -> str:
    one = _result(entry)
    verdict = one.verdict.replace("missed", "**missed**")
    return (
        f"| {one.id} | {shown(one.figure)} | {shown(one.low)} to {shown(one.high)}"
        f" | {'-' if one.target is None else format(one.target, 'g')}"
        f" | {verdict} | {entry['scale']:g}, {entry['pairs']}"
        f" | {entry['day']}, {entry.get('sources', '-')[:4]} | {one.what} |\n"
    )


def _result(entry: Dict[str, Any]) -> Result:
    return Result(**{each.name: entry[each.name] for each in fields(Result)})


def _entries(path: Path) -> List[Dict[str, Any]]:
    """The newest result of each target as the file has it, none without the file."""
    return json.loads(path.read_text()) if path.exists() else []


def _place(id: str) -> tuple:
    """`2` before `10`, and `10` before `10a`."""
    digits = "".join(c for c in id if c.isdigit())
    return int(digits or 0), id
