"""Geometry of the pictures: bars by day, the timeline of a run, lineage of columns.

Numbers only; the templates make SVG of them. Every picture has a table next to it that
says the same in words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Optional

from lake_spec.lineage.columns import Edge, Field, Kind, Layer

from lake_site.facts import Run, time_of

_BAR_WIDTH, _BAR_HEIGHT = 600, 110
_ROW, _BOX, _GAP = 22, 250, 75
MOST_COLUMNS = 40
"""Columns that a lineage picture shows; the table below it has all."""
MOST_BARS = 60
"""Stages that a timeline shows."""
_FEWEST = 20  # bars that a chart has room for
_LONGEST = 31  # characters of a name in a box


@dataclass(frozen=True)
class Bar:
    """A bar, and what it says."""

    x: float
    y: float
    width: float
    height: float
    label: str
    kind: str = ""


def bars(values: Sequence[tuple[str, int]]) -> tuple[Bar, ...]:
    """Place a bar for each (label, value), the largest as high as the picture."""
    most = max((value for _, value in values), default=0) or 1
    step = _BAR_WIDTH / max(len(values), 1)
    found = []
    for i, (label, value) in enumerate(values):
        if value:
            height = max(_BAR_HEIGHT * value / most, 1.5)
            y, width = _BAR_HEIGHT - height, max(step - 2, 1)
            said = f"{label}: {value:,}"
            found.append(
                Bar(round(i * step, 1), round(y, 1), round(width, 1), height, said)
            )
    return tuple(found)


def chart(
    title: str, kind: str, values: Sequence[tuple[str, int]], *, per: str
) -> dict[str, Any]:
    """Return a chart of (label, value), with the words that it draws.

    `kind` is its colour, `per` what a bar is of: a day or a run. Few bars are at the end.
    """
    room = [("", 0)] * (_FEWEST - len(values))
    return {
        "title": title,
        "kind": kind,
        "per": per,
        "number": len(values),
        "bars": bars([*room, *values]),
        "total": sum(value for _, value in values),
        "most": max((value for _, value in values), default=0),
        "known": [(label, value) for label, value in values if value],
        "ends": ("" if room else values[0][0], values[-1][0]),
    }


_PART, _PARTS_HEIGHT = 8, 28


def histogram(counts: Sequence[int]) -> str:
    """Return a path of one bar for each count, the largest 28 high."""
    most = max(counts, default=0)
    heights = [
        round(_PARTS_HEIGHT * count / most, 1) if most else 0 for count in counts
    ]
    return "".join(
        f"M{i * _PART} {_PARTS_HEIGHT}h{_PART - 1}v-{max(height, 1)}h-{_PART - 1}z"
        for i, (height, count) in enumerate(zip(heights, counts))
        if count
    )


def timeline(run: Run) -> tuple[Bar, ...]:
    """Place a bar for each stage of a table, by its start and seconds."""
    found: list[tuple[Any, float, str, str]] = []
    for table, stages in run.tables.items():
        for stage, report in stages.items():
            began = time_of(report.get("started"))
            if began is not None:
                seconds = float(report.get("seconds") or 0)
                state = str(report.get("state"))
                found.append((began, seconds, f"{table} {stage}", state))
    found.sort()
    if not found or run.started is None:
        return ()
    whole = max(run.seconds, 0.1)
    made = []
    for i, (began, seconds, label, state) in enumerate(found[:MOST_BARS]):
        x = _BAR_WIDTH * ((began - run.started) / timedelta(seconds=whole))
        width = max(_BAR_WIDTH * seconds / whole, 2)
        said = f"{label}: {seconds:,.1f} s"
        made.append(Bar(round(x, 1), i * _ROW, round(width, 1), _ROW - 6, said, state))
    return tuple(made)


@dataclass
class Box:
    """Columns of one table in a picture: its title and their places."""

    title: str
    x: float
    y: float
    rows: list[tuple[str, float]] = field(default_factory=list)
    width: float = _BOX

    @property
    def height(self) -> float:
        """Its height with all rows."""
        return (len(self.rows) + 1) * _ROW + 6

    def row(self, name: str) -> float:
        """Return the middle of a row, which is added if it is not there."""
        for known, y in self.rows:
            if known == name:
                return y
        y = self.y + (len(self.rows) + 1) * _ROW + _ROW / 2
        self.rows.append((name, y))
        return y


@dataclass(frozen=True)
class Picture:
    """Boxes and the lines between them; `hidden` columns have no room."""

    boxes: tuple[Box, ...]
    lines: tuple[tuple[float, float, float, float], ...]
    width: float
    height: float
    hidden: int


@dataclass(frozen=True)
class ColumnLineage:
    """Where a column comes from, and the columns of other tables made of it."""

    column: str
    sources: tuple[Field, ...]
    used_by: tuple[Field, ...]
    kind: str = Kind.COPIED.value


def column_lineage(table: str, edges: Iterable[Edge]) -> tuple[ColumnLineage, ...]:
    """Return lineage of each column of a table's current and history, over its own layers.

    `edges` are those into and out of the table.
    """
    into: dict[Field, list[Edge]] = {}
    out: dict[str, dict[Field, None]] = {}
    names: dict[str, None] = {}
    for edge in edges:
        into.setdefault(edge.target, []).append(edge)
        if edge.target.table == table and edge.target.layer != Layer.LOG.value:
            names.setdefault(edge.target.column)
        if edge.source.table == table and edge.target.table != table:
            out.setdefault(edge.source.column, {})[edge.target] = None
    found = []
    for name in names:
        sources: dict[Field, None] = {}
        kinds = set()
        for layer in (Layer.CURRENT.value, Layer.HISTORY.value):
            field_ = Field(table, layer, name)
            kinds |= {edge.kind for edge in into.get(field_, ())}
            sources.update(dict.fromkeys(_outside(table, field_, into)))
        kind = Kind.COPIED if Kind.COPIED.value in kinds else Kind.DERIVED
        used = _tables_columns(out.get(name, ()))
        found.append(ColumnLineage(name, tuple(sources), used, kind.value))
    return tuple(found)


def _tables_columns(fields: Iterable[Field]) -> tuple[Field, ...]:
    """Keep one field for each column of a table, whatever its layer."""
    found: dict[tuple[str, str], Field] = {}
    for each in fields:
        found.setdefault((each.table, each.column), each)
    return tuple(found.values())


def _outside(
    table: str, at: Field, into: Mapping[Field, list[Edge]]
) -> Iterable[Field]:
    """List the nearest origins of a field that are source columns or of other tables."""
    for edge in into.get(at, ()):
        source = edge.source
        if source.table != table or source.layer == Layer.SOURCE.value:
            yield source
        else:
            yield from _outside(table, source, into)


def lineage_picture(
    table: str, source: str, lineage: Sequence[ColumnLineage]
) -> Optional[Picture]:
    """Place sources to the left, the table in the middle, its users to the right.

    None if no column has a source or a user.
    """
    shown = lineage[:MOST_COLUMNS]
    if not any(of.sources or of.used_by for of in shown):
        return None
    middle = Box(table, _BOX + _GAP, 0)
    lefts = _boxes(
        [(_owner(each, table, source), each) for of in shown for each in of.sources], 0
    )
    rights = _boxes(
        [(each.table, each) for of in shown for each in of.used_by], 2 * (_BOX + _GAP)
    )
    lines = []
    for of in shown:
        y = middle.row(of.column)
        for each in of.sources:
            box = lefts[_owner(each, table, source)]
            lines.append((box.x + _BOX, box.row(each.column), middle.x, y))
        for each in of.used_by:
            box = rights[each.table]
            lines.append((middle.x + _BOX, y, box.x, box.row(each.column)))
    boxes = (*lefts.values(), middle, *rights.values())
    width = (2 if not rights else 3) * _BOX + (1 if not rights else 2) * _GAP
    height = max(box.y + box.height for box in boxes)
    hidden = len(lineage) - len(shown)
    return Picture(boxes, tuple(dict.fromkeys(lines)), width + 2, height + 2, hidden)


def short(name: str) -> str:
    """Return a name that fits into a box."""
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


def _owner(field_: Field, table: str, source: str) -> str:
    if field_.layer == Layer.SOURCE.value and field_.table == table:
        return source
    return field_.table


def _boxes(named: Iterable[tuple[str, Field]], x: float) -> dict[str, Box]:
    """Stack a box for each owner, with a row for each of its columns."""
    columns: dict[str, dict[str, None]] = {}
    for owner, field_ in named:
        columns.setdefault(owner, {})[field_.column] = None
    found: dict[str, Box] = {}
    y = 0.0
    for owner, names in columns.items():
        box = found[owner] = Box(owner, x, y)
        for name in names:
            box.row(name)
        y += box.height + 14
    return found
