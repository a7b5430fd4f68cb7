"""Diagrams of boxes and arrows: what flows from where to where."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Dict, Iterator, Tuple

from docs.pictures.style import FAINT, FILLS, FONT, INK, LINE, STROKES

WIDTH, HEIGHT = 152, 52
"""Of a box, in pixels."""
LINE_HEIGHT = 17
SOURCE, REJECTED, TABLE, CONTROL = range(4)
"""Kinds of boxes, each with a colour of its own."""


@dataclass(frozen=True)
class Box:
    """A box with its text, a line each, around the point (x, y)."""

    text: str
    x: int
    y: int
    kind: int

    def svg(self) -> Iterator[str]:
        left, top = self.x - WIDTH // 2, self.y - HEIGHT // 2
        yield (
            f"<rect x='{left}' y='{top}' width='{WIDTH}' height='{HEIGHT}' rx='6'"
            f" fill='{FILLS[self.kind]}' stroke='{STROKES[self.kind]}'/>"
        )
        lines = self.text.split("\n")
        first = self.y - LINE_HEIGHT * (len(lines) - 1) / 2
        for number, line in enumerate(lines):
            weight = "400" if number else "600"
            yield label(line, self.x, first + number * LINE_HEIGHT, INK, weight)


@dataclass(frozen=True)
class Arrow:
    """From one box to another, by names: down, or to the right, turning at `corner` (x).

    A text stands next to an arrow that leads down.
    """

    start: str
    end: str
    text: str = ""
    corner: int = 0
    dashed: bool = False

    def svg(self, boxes: Dict[str, Box]) -> Iterator[str]:
        start, end = boxes[self.start], boxes[self.end]
        if start.x == end.x:
            yield from self._down(start, end)
            return
        left, right = start.x + WIDTH // 2, end.x - WIDTH // 2
        corner = self.corner or (left + right) // 2
        yield self._line(f"M{left} {start.y} H{corner} V{end.y} H{right - 2}")

    def _down(self, start: Box, end: Box) -> Iterator[str]:
        top, bottom = start.y + HEIGHT // 2, end.y - HEIGHT // 2
        yield self._line(f"M{start.x} {top} V{bottom - 2}")
        if self.text:
            middle = (top + bottom) / 2
            yield label(self.text, start.x + 8, middle, FAINT, anchor="start")

    def _line(self, path: str) -> str:
        dashes = " stroke-dasharray='5 4'" if self.dashed else ""
        return (
            f"<path d='{path}' fill='none' stroke='{FAINT}' stroke-width='1.5'"
            f" marker-end='url(#tip)'{dashes}/>"
        )


@dataclass(frozen=True)
class Frame:
    """What belongs together, with a title on top."""

    title: str
    left: int
    top: int
    width: int
    height: int

    def svg(self) -> Iterator[str]:
        yield (
            f"<rect x='{self.left}' y='{self.top}' width='{self.width}'"
            f" height='{self.height}' rx='8' fill='#f9fafb' stroke='{LINE}'"
            " stroke-width='2'/>"
        )
        middle = self.left + self.width / 2
        yield label(self.title, middle, self.top + 18, FAINT, "600")


@dataclass(frozen=True)
class Diagram:
    """Frames, boxes by name, and the arrows between them."""

    title: str
    size: Tuple[int, int]
    boxes: Dict[str, Box]
    arrows: Tuple[Arrow, ...]
    frames: Tuple[Frame, ...] = ()

    def svg(self) -> str:
        width, height = self.size
        return "\n".join(
            [
                f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}'"
                f" width='{width}' height='{height}' role='img' {FONT} font-size='13'>",
                f"<title>{escape(self.title)}</title>",
                "<defs><marker id='tip' viewBox='0 0 8 8' refX='7' refY='4'"
                " markerWidth='7' markerHeight='7' orient='auto'>"
                f"<path d='M0 0 L8 4 L0 8 Z' fill='{FAINT}'/></marker></defs>",
                f"<rect width='{width}' height='{height}' rx='6' fill='#ffffff'/>",
                *(part for frame in self.frames for part in frame.svg()),
                *(part for arrow in self.arrows for part in arrow.svg(self.boxes)),
                *(part for box in self.boxes.values() for part in box.svg()),
                "</svg>\n",
            ]
        )


def label(
    text: str,
    x: float,
    y: float,
    colour: str,
    weight: str = "400",
    anchor: str = "middle",
) -> str:
    """Return a line of text whose middle is at the height `y`."""
    return (
        f"<text x='{x:g}' y='{y + 4.5:g}' fill='{colour}' font-weight='{weight}'"
        f" text-anchor='{anchor}'>{escape(text)}</text>"
    )


DIAGRAMS = {
    "pipeline.svg": Diagram(
        "A run loads landing files into change log, current and history; specs make its DAG",
        (570, 396),
        {
            "sources": Box("Sources\ndatabases, Kafka, files", 90, 92, SOURCE),
            "landing": Box("Landing files\non S3", 90, 184, SOURCE),
            "log": Box("Change log\nevery event", 290, 184, TABLE),
            "current": Box("Current\none row per key", 472, 116, TABLE),
            "history": Box("History\none row per version", 472, 252, TABLE),
            "quarantine": Box("Quarantine\nbad rows", 290, 260, REJECTED),
            "specs": Box("YAML specs\none file per table", 90, 346, CONTROL),
            "dag": Box("Airflow DAG\nstarts Spark steps", 290, 346, CONTROL),
        },
        (
            Arrow("sources", "landing"),
            Arrow("landing", "log"),
            Arrow("landing", "quarantine", corner=186),
            Arrow("log", "current", corner=381),
            Arrow("log", "history", corner=381),
            Arrow("specs", "dag", dashed=True),
        ),
        (Frame("One DAG run, one EMR cluster, Hudi tables on S3", 202, 10, 360, 376),),
    ),
    "concepts.svg": Diagram(
        "Landing files give a change log, from which current and history are computed",
        (570, 246),
        {
            "source": Box("Source", 90, 38, SOURCE),
            "landing": Box("Landing files", 90, 134, SOURCE),
            "log": Box("Change log\nevery delivery", 290, 134, TABLE),
            "current": Box("Current\nwhat is true now", 484, 90, TABLE),
            "history": Box("History\nwhat was true when", 484, 178, TABLE),
            "quarantine": Box("Quarantine\nbad rows", 290, 210, REJECTED),
        },
        (
            Arrow("source", "landing", "export, pull"),
            Arrow("landing", "log"),
            Arrow("landing", "quarantine", corner=186),
            Arrow("log", "current", corner=387),
            Arrow("log", "history", corner=387),
        ),
    ),
}
