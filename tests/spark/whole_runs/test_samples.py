"""Tables that others published, as `onboard` makes specs of them, through two runs.

First the file as it is. A day later some of its rows are gone, some changed, some
stand there twice, and some cannot be read. Every row is accounted for, and the
current table has the values of the file, each as its type.
"""

from __future__ import annotations

import csv
import io
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, Dict, List

import pytest

from lake_check.parsing.loader import load_domain
from lake_local.onboard.files import Request, planned
from lake_local.onboard.stores import LocalFolder
from lake_local.onboard.writing import faults_of, write
from tests.spark.lake import Lake

pytestmark = pytest.mark.nightly  # what it takes is downloaded

SAMPLES = Path(__file__).resolve().parents[3] / ".local" / "samples"
Row = Dict[str, str]

FILES = pytest.mark.parametrize(
    "file, count, measure",
    [
        ("species.csv", 12_360, "habitat_yearround_pct"),
        ("penguins-raw.csv", 344, "Culmen Length (mm)"),
    ],
)


@FILES
def test_every_row_is_accounted_for(spark, tmp_path, file, count, measure):
    text = (SAMPLES / file).read_text(encoding="utf-8")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert len(rows) == count
    lake = onboarded(spark, tmp_path, text)
    lake.land("things_2026-01-01.csv", text)
    report, _ = lake.done("full_load", "scd2")
    assert parts_of(report) == (count, count, 0, 0, 0)
    assert told(lake) == sorted(typed(lake, row) for row in rows)

    kept = [dict(row) for row in rows[count // 10 :]]
    for row in kept[:9]:
        row[measure] = "1.5"
    for row in kept[20:23]:
        row[measure] = "much"
    lake.land("things_2026-01-02.csv", text_of([*kept, *kept[50:54]]))
    report, _ = lake.done("incremental", "scd2")
    unchanged = len(kept) - 9 - 3
    assert parts_of(report) == (len(kept) + 4, 9, unchanged, 4, 3)
    assert report.derived_deletes == count - len(kept)
    kept[20:23] = rows[count // 10 :][20:23]  # as they were
    assert told(lake) == sorted(typed(lake, row) for row in kept)
    assert lake.history.count() == count + 9


def onboarded(spark, tmp_path: Path, text: str) -> Lake:
    """A lake of the table whose spec `onboard` writes for a folder with this file."""
    folder = tmp_path / "files" / "things"
    folder.mkdir(parents=True)
    (folder / "things_2026-01-01.csv").write_text(text, encoding="utf-8")
    drafts = planned(LocalFolder(folder.parent), Request("wild"))
    write(drafts, tmp_path / "tables", "wild", owner="", force=False)
    assert faults_of(tmp_path / "tables", "wild")[1] == []
    return Lake(spark, tmp_path, load_domain("wild", tmp_path / "tables").tables[0])


def parts_of(report) -> tuple:
    """Rows of the one file: landed, accepted, unchanged, duplicates, quarantined."""
    (each,) = report.files
    return (
        *(each.landed, each.accepted, each.unchanged),
        *(each.duplicates, each.quarantined),
    )


def text_of(rows: List[Row]) -> str:
    """The rows as CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def told(lake: Lake) -> List[str]:
    """The rows of the current table, each as text."""
    names = [name for name, _ in lake.spec.columns]
    return sorted(repr(list(row)) for row in lake.current.select(names).collect())


def typed(lake: Lake, row: Row) -> str:
    """A row of the file in the same form: each value as the type that the spec declares."""
    return repr([value_of(lake, row, *each) for each in lake.spec.columns])


def value_of(lake: Lake, row: Row, name: str, column) -> Any:
    """One value of a row of the file."""
    (source,) = column.source or (name,)
    # Names match without case.
    (text,) = [text for each, text in row.items() if each.lower() == source.lower()]
    if text in lake.spec.source.format.null_text:
        return None
    kind, _, scale = column.type.partition(",")
    if scale:
        return Decimal(text).quantize(Decimal(1).scaleb(-int(scale[:-1])))
    make = {"bigint": int, "double": float, "date": date.fromisoformat}
    return make.get(kind, str)(text)
