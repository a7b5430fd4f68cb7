"""Draws the pictures of the pages: diagrams, and those of how-history-is-kept.md from the
examples that it contains.

    python -m docs.pictures.draw        from the checkout's root; needs nothing installed

A picture of an example reads from top to bottom as its example does: the events of a landing file,
one after the other in time, then the history after it.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from html import escape
from pathlib import Path
from typing import Dict, Iterator, List, Optional

from docs.pictures import page
from docs.pictures.flow import DIAGRAMS
from docs.pictures.style import DELETED, FAINT, FILLS, FONT, INK, LINE, STROKES

FOLDER = Path(__file__).resolve().parent
FIRST, DAYS = datetime(2026, 1, 1), 11
"""The axis of every picture."""
LEFT, DAY, RIGHT, TOP = 126, 52, 22, 14
EVENTS, VERSIONS, AXIS = 34, 48, 30
"""Heights of a row of events, of one of versions, and of the axis, in pixels."""
WIDTH = LEFT + DAYS * DAY + RIGHT
NOT_VALUES = {"op", "id", "changed_at", "valid_from", "valid_to"}


def main() -> None:
    """Write every picture, and print its path."""
    for name, svg in pictures().items():
        (FOLDER / name).write_text(svg, encoding="utf-8")
        print(FOLDER / name)


def pictures() -> Dict[str, str]:
    """Return every picture as an SVG document, by the name of its file."""
    specs, examples = page.read()
    return {
        **{name: diagram.svg() for name, diagram in DIAGRAMS.items()},
        **{
            example.picture: picture(example, specs[example.spec])
            for example in examples
            if example.picture
        },
    }


def picture(example: page.Example, spec: str) -> str:
    """The example as an SVG document."""
    load_time = re.search(r'^load_effective_at: "(.+)"$', spec, re.MULTILINE)[1]
    canvas = Canvas(example, load_time)
    histories = {t.file: t for t in example.tables if t.layer == "history"}
    for file in example.files:
        canvas.events(file)
        if file in histories:
            canvas.history(histories[file])
    return canvas.svg()


class Canvas:
    """Rows that are drawn one below the other over one axis of time."""

    def __init__(self, example: page.Example, load_time: str) -> None:
        self.example = example
        self.load_time = load_time
        self.y = TOP
        self.values: List[str] = []  # in the order of their colours
        self.open: List[tuple] = []  # events that no history was drawn for yet
        self.latest = FIRST
        self.parts: List[str] = []

    def events(self, file: str) -> None:
        """A row with the events of a landing file."""
        middle = self.y + EVENTS / 2
        self.label(file, middle)
        times = []
        for event in self.example.events(file):
            loaded = file.startswith("load/")
            time = moment(self.load_time if loaded else event["changed_at"])
            times.append(time)
            self.open.append((time, middle))
            self.marker(event, time, middle, loaded)
        self.latest = max([self.latest, *times])
        self.y += EVENTS

    def marker(
        self, event: Dict[str, str], time: datetime, y: float, loaded: bool
    ) -> None:
        late = ", late" if time < self.latest else ""
        if event.get("op") == "D":
            self.parts.append(cross(across(time), y))
            self.text(across(time) + 11, y, f"delete{late}", DELETED)
            return
        fill, stroke = self.colours(event)
        style = f"fill='{fill}' stroke='{stroke}' stroke-width='2'"
        x = across(time)
        self.parts.append(
            f"<rect x='{x - 6}' y='{y - 6:g}' width='12' height='12' {style}/>"
            if loaded
            else f"<circle cx='{x}' cy='{y:g}' r='6.5' {style}/>"
        )
        self.text(x + 11, y, words(event) + late, stroke)

    def history(self, table: page.Table) -> None:
        """A row with the versions of a history table."""
        top, height = self.y + 8, VERSIONS - 20
        for time, y in self.open:
            x = across(time)
            self.parts.insert(0, line(x, y, x, top + height, FAINT, "3 3"))
        self.open = []
        self.label("history", top + height / 2, bold=True)
        for row in table.rows:
            self.version(row, top, height)
        self.y += VERSIONS

    def version(self, row: Dict[str, str], top: float, height: float) -> None:
        fill, stroke = self.colours(row)
        start = across(moment(row["valid_from"]))
        ends = None if row["valid_to"] == "null" else across(moment(row["valid_to"]))
        self.parts.append(
            bar(start, ends, top, height, f"fill='{fill}' stroke='{stroke}'")
        )
        self.text(start + 9, top + height / 2, words(row), stroke)

    def colours(self, row: Dict[str, str]) -> tuple:
        """Fill and line; the same for the same value throughout the picture."""
        value = values(row)[0][1]
        if value not in self.values:
            self.values.append(value)
        number = self.values.index(value)
        return FILLS[number], STROKES[number]

    def label(self, text: str, y: float, bold: bool = False) -> None:
        weight = "600" if bold else "400"
        self.text(LEFT - 22, y, text, INK, f"text-anchor='end' font-weight='{weight}'")

    def text(self, x: float, y: float, text: str, colour: str, more: str = "") -> None:
        self.parts.append(
            f"<text x='{x:g}' y='{y + 4.5:g}' fill='{colour}' {more}>{escape(text)}</text>"
        )

    def svg(self) -> str:
        height = self.y + AXIS
        title = escape(self.example.title)
        return "\n".join(
            [
                f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {height}'"
                f" width='{WIDTH}' height='{height}' role='img' {FONT} font-size='13'>",
                f"<title>{title}</title>",
                f"<rect width='{WIDTH}' height='{height}' rx='6' fill='#ffffff'/>",
                *axis(self.y),
                *self.parts,
                "</svg>\n",
            ]
        )


def axis(bottom: float) -> Iterator[str]:
    """A line for each day, and the date below every other."""
    for day in range(DAYS):
        time = FIRST + timedelta(days=day)
        x = across(time)
        yield line(x, TOP, x, bottom, LINE)
        if day % 2 == 0:
            yield (
                f"<text x='{x}' y='{bottom + 18}' fill='{FAINT}' font-size='12'"
                f" text-anchor='middle'>{time:%Y-%m-%d}</text>"
            )


def across(time: datetime) -> int:
    """Where a time stands on the axis, in pixels."""
    return LEFT + round((time - FIRST) / timedelta(days=1) * DAY)


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def values(row: Dict[str, str]) -> List[tuple]:
    """The columns that a picture tells, with their values."""
    return [(name, value) for name, value in row.items() if name not in NOT_VALUES]


def words(row: Dict[str, str]) -> str:
    """`Rome`, or `Rome, visits 4`."""
    (_, first), *others = values(row)
    return ", ".join([first, *(f"{name} {value}" for name, value in others)])


def line(
    x1: float, y1: float, x2: float, y2: float, colour: str, dashes: str = ""
) -> str:
    dashed = f" stroke-dasharray='{dashes}'" if dashes else ""
    return f"<line x1='{x1:g}' y1='{y1:g}' x2='{x2:g}' y2='{y2:g}' stroke='{colour}'{dashed}/>"


def cross(x: float, y: float) -> str:
    style = f"stroke='{DELETED}' stroke-width='3' stroke-linecap='round'"
    return f"<path d='M{x - 6} {y - 6:g} l12 12 m0 -12 l-12 12' {style}/>"


def bar(start: int, ends: Optional[int], top: float, height: float, style: str) -> str:
    """A version; one that has not ended points on, to the right."""
    if ends is not None:
        return (
            f"<rect x='{start}' y='{top:g}' width='{ends - start}' height='{height:g}'"
            f" {style}/>"
        )
    end, point = WIDTH - RIGHT, 10
    return (
        f"<path d='M{start} {top:g} H{end - point} l{point} {height / 2:g}"
        f" l-{point} {height / 2:g} H{start} Z' {style}/>"
    )


if __name__ == "__main__":
    main()
